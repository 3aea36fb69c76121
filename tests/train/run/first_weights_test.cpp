// Which weights a run begins with (import) and which it is judged by (an average of them).
#include <gtest/gtest.h>

#include "support/errors.h"
#include "support/scratch.h"
#include "throughtime/options.h"
#include "train/checkpoint/checkpoint.h"
#include "train/run/run_variants.h"
#include "train/run/trained_model.h"

namespace throughtime {
namespace {

using testing::config_of;
using testing::ScratchDirectory;
using testing::StopAt;
using testing::Variant;

const Variant of_fptt{"add", "fptt", "adam", "constant", "reference"};
const Variant of_asgd{"add", "tbptt:paper", "asgd", "constant", "reference"};

std::vector<double> tensor(const TensorFile& file, const std::string& name) {
  const Tensor* found = file.find(name);
  EXPECT_NE(found, nullptr) << name;
  return found == nullptr ? std::vector<double>() : real_values(*found);
}

/// The trained vector of a checkpoint, in the order of the model.
std::vector<double> weights_of(const TensorFile& file, const Model& model) {
  std::vector<double> all;
  for (const ParameterBlock& block : model.parameters().blocks())
    for (const double value : tensor(file, block.name)) all.push_back(value);
  return all;
}

TEST(ImportedWeights, AreWhatTheLearnerStartsFrom) {
  const ScratchDirectory directory;
  Observer silent;
  train_run(config_of(of_fptt, directory / "source"), silent);
  const TensorFile source = load_checkpoint(directory / "source", false);
  const std::vector<double> weights = weights_of(source, open_run(directory / "source", false)->engine().model());

  start_run_with(config_of(of_fptt, directory / "new"), source, false);
  EXPECT_EQ(tensor(load_checkpoint(directory / "new", false), "throughtime.learner.average"), weights);

  RunConfig other = config_of(of_fptt, directory / "old");
  other.train.seed = 9;
  StopAt three(3);
  train_run(other, three);
  const TensorFile before = load_checkpoint(directory / "old", false);
  replace_parameters(directory / "old", source);
  const TensorFile after = load_checkpoint(directory / "old", false);
  EXPECT_EQ(tensor(after, "throughtime.learner.average"), weights);
  EXPECT_EQ(tensor(after, "throughtime.learner.multiplier"), std::vector<double>(weights.size(), 0.0));
  for (const char* kept : {"throughtime.trainer.iteration", "throughtime.learner.updates"})
    EXPECT_EQ(integer_values(*after.find(kept)), integer_values(*before.find(kept))) << kept;
  EXPECT_EQ(resume_run(directory / "old", {}, silent).iteration, 23);
}

/// A run that begins with the best weights of another one.
RunResult train_from(const RunConfig& config, const std::filesystem::path& from, Observer& observer) {
  return train_run(config, observer, false, true, nullptr, from);
}

TEST(WeightsOfAnotherRun, AreTheBestOnesAndWhatTheLearnerStartsFrom) {
  const ScratchDirectory directory;
  Observer silent;
  train_run(config_of(of_fptt, directory / "source"), silent);
  const TensorFile best = load_checkpoint(directory / "source", true);
  const std::vector<double> weights = weights_of(best, open_run(directory / "source", true)->engine().model());

  RunConfig config = config_of(of_fptt, directory / "new");
  config.optimizer.rate = 0;  // nothing moves
  config.train.seed = 9;
  train_from(config, directory / "source", silent);
  const TensorFile last = load_checkpoint(directory / "new", false);
  EXPECT_EQ(weights_of(last, open_run(directory / "new", false)->engine().model()), weights);
  EXPECT_EQ(tensor(last, "throughtime.learner.average"), weights);
  EXPECT_NE(testing::text_of(directory / "new/log.txt").find("the first weights are the best ones of"),
            std::string::npos);
}

TEST(WeightsOfAnotherRun, AreTheAverageWhereOneHasBegun) {
  const ScratchDirectory directory;
  Observer silent;
  RunConfig source = config_of(of_asgd, directory / "source");
  source.train.evaluate_every = 0;  // no best weights: the last ones are taken
  train_run(source, silent);
  RunConfig config = config_of({"add", "fptt", "adam", "constant", "reference"}, directory / "new");
  config.optimizer.rate = 0;
  train_from(config, directory / "source", silent);
  EXPECT_EQ(tensor(load_checkpoint(directory / "new", false), "throughtime.learner.average"),
            tensor(load_checkpoint(directory / "source", false), "throughtime.optimizer.moment.0"));
}

TEST(WeightsOfAnotherRun, GoOnBitForBit) {
  const ScratchDirectory directory;
  Observer silent;
  train_run(config_of(of_fptt, directory / "source"), silent);
  const RunResult whole = train_from(config_of(of_fptt, directory / "whole"), directory / "source", silent);
  StopAt seven(7);
  EXPECT_EQ(train_from(config_of(of_fptt, directory / "parts"), directory / "source", seven).end, RunEnd::interrupted);
  std::filesystem::remove_all(directory / "source");  // the run has all it needs
  EXPECT_EQ(resume_run(directory / "parts", {}, silent).test->loss, whole.test->loss);
  for (const char* name : {"last.safetensors", "best.safetensors"})
    testing::expect_equal_checkpoints(directory / "whole/checkpoints" / name, directory / "parts/checkpoints" / name);
}

TEST(WeightsOfAnotherRun, ComeWithTheVocabularyThatTheyBelongTo) {
  const ScratchDirectory directory;
  Observer silent;
  RunConfig config = config_of({"text", "bptt", "sgd", "constant", "reference"}, directory / "source");
  testing::set_words(config, directory / "words.txt", 900);
  config.model.embedding = 4;
  train_run(config, silent);
  // The same words in another order: numbered by themselves, they would be other tokens.
  std::string words = testing::text_of(directory / "words.txt");
  testing::write_text(directory / "backwards.txt", "w4 w2 w1 " + words);
  config.task.text.files = {(directory / "backwards.txt").string()};
  config.run.directory = (directory / "new").string();
  train_from(config, directory / "source", silent);
  EXPECT_EQ(testing::text_of(directory / "new/task/vocabulary.txt"),
            testing::text_of(directory / "source/task/vocabulary.txt"));
}

TEST(WeightsOfAnotherRun, AreRefusedWhereShapesDiffer) {
  const ScratchDirectory directory;
  Observer silent;
  train_run(config_of(of_fptt, directory / "source"), silent);
  RunConfig config = config_of(of_fptt, directory / "new");
  config.model.hidden = {7};
  EXPECT_REFUSED(train_from(config, directory / "source", silent), "it has rnn.weight_ih_l0 [18, 2], this model has");
  config.model.hidden = {6};
  config.model.layers = 2;
  EXPECT_REFUSED(train_from(config, directory / "source", silent), "the weights of");
  EXPECT_REFUSED(train_from(config, directory / "nothing", silent), "nothing");
  EXPECT_FALSE(std::filesystem::exists(directory / "new/config.toml")) << "nothing was begun";
}

/// 23 iterations with one window each, or a few: the average begins after update `from`.
RunConfig averaging(const std::filesystem::path& directory, std::int64_t from) {
  RunConfig config = config_of(of_asgd, directory);
  config.optimizer.rule.average_from = from;
  return config;
}

/// Trains, and expects that validation, test, the best checkpoint, evaluate, predict and export take the tensor of that
/// name for the weights.
void expect_judged_by(const std::string& name, const RunConfig& config) {
  Observer silent;
  const std::filesystem::path path = config.run.directory;
  const RunResult run = train_run(config, silent);
  const TensorFile last = load_checkpoint(path, false), best = load_checkpoint(path, true);
  const std::vector<double> average = tensor(last, name);

  TrainedModel trained(path, false);  // predict and export
  EXPECT_EQ(trained.engine().read(trained.parameters()), average);
  EXPECT_NE(weights_of(last, trained.model()), average);
  EXPECT_EQ(open_run(path, false)->evaluate(Split::test).loss, run.test->loss);  // evaluate
  EXPECT_EQ(open_run(path, true)->evaluate(Split::validation).loss, run.best_validation->loss);
  TrainedModel chosen(path, true);
  EXPECT_EQ(chosen.engine().read(chosen.parameters()), tensor(best, name));
  EXPECT_EQ(open_run(path, true)->evaluate(Split::test).loss, run.best_test->loss);
}

TEST(AveragedWeights, AreWhatARunIsJudgedByOnceTheyHaveBegun) {
  const ScratchDirectory directory;
  expect_judged_by("throughtime.optimizer.moment.0", averaging(directory / "asgd", 4));
  for (const std::string rule : {"sgd", "adam"}) {
    RunConfig config = averaging(directory / rule, 4);
    config.optimizer.rule.name = rule;
    config.optimizer.rule.average = Averaging::always;
    expect_judged_by("throughtime.average.mean", config);
  }
}

TEST(AveragedWeights, OfPlainStepsAreThoseOfAsgd) {
  const ScratchDirectory directory;
  Observer silent;
  const RunResult asgd = train_run(averaging(directory / "asgd", 3), silent);
  RunConfig config = averaging(directory / "sgd", 3);
  config.optimizer.rule.name = "sgd";
  config.optimizer.rule.average = Averaging::always;
  EXPECT_NEAR(train_run(config, silent).test->loss, asgd.test->loss, 1e-12);
}

/// Hears when the average begins.
class Hears final : public Observer {
 public:
  void on_averaging(std::int64_t iteration) override { begins = iteration; }
  std::int64_t begins = -1;
};

/// A rate so high that validation soon gets worse.
RunConfig switching(const std::filesystem::path& directory, const std::string& learner, const std::string& engine) {
  RunConfig config = config_of({"add", learner, "sgd", "constant", engine}, directory);
  config.optimizer.rate = 2;
  config.optimizer.rule.average = Averaging::non_monotone;
  config.optimizer.rule.average_patience = 2;
  config.train.evaluate_every = 2;
  config.train.evaluate_batches = 1;
  return config;
}

TEST(AveragedWeights, BeginWhenValidationStopsImproving) {
  const ScratchDirectory directory;
  Hears hears;
  const RunConfig config = switching(directory / "run", "tbptt:paper", "reference");
  const RunResult run = train_run(config, hears);
  ASSERT_GT(hears.begins, 6);
  ASSERT_LT(hears.begins, 20);
  const TensorFile last = load_checkpoint(directory / "run", false);
  TrainedModel trained(directory / "run", false);
  EXPECT_EQ(trained.engine().read(trained.parameters()), tensor(last, "throughtime.average.mean"));
  EXPECT_EQ(open_run(directory / "run", false)->evaluate(Split::test).loss, run.test->loss);
  // The steps are those of plain training: averaging changes what is judged, not what is trained.
  RunConfig plain = config;
  plain.run.directory = (directory / "plain").string();
  plain.optimizer.rule.average = Averaging::off;
  Observer silent;
  train_run(plain, silent);
  EXPECT_EQ(weights_of(last, trained.model()),
            weights_of(load_checkpoint(directory / "plain", false), trained.model()));
}

TEST(AveragedWeights, GoOnBitForBitBeforeAtAndAfterTheSwitch) {
  for (const auto& [learner, engine] : {std::pair{"tbptt:paper", "reference"}, {"fptt", "cpu"}}) {
    const ScratchDirectory directory;
    Hears hears;
    const RunResult whole = train_run(switching(directory / "whole", learner, engine), hears);
    ASSERT_GT(hears.begins, 2) << learner;
    ASSERT_LT(hears.begins, 22) << learner;
    for (const std::int64_t by : {-1, 0, 1}) {
      const std::filesystem::path parts = directory / ("parts" + std::to_string(by));
      StopAt stop(hears.begins + by);
      EXPECT_EQ(train_run(switching(parts, learner, engine), stop).end, RunEnd::interrupted);
      Hears again;
      EXPECT_EQ(resume_run(parts, {}, again).test->loss, whole.test->loss) << learner << by;
      EXPECT_EQ(again.begins, by < 0 ? hears.begins : -1) << learner << by;
      for (const char* name : {"last.safetensors", "best.safetensors"})
        testing::expect_equal_checkpoints(directory / "whole/checkpoints" / name, parts / "checkpoints" / name);
    }
  }
}

TEST(AveragedWeights, AreRefusedWhereTheyCouldNotBegin) {
  const ScratchDirectory directory;
  RunConfig config = switching(directory / "run", "tbptt:paper", "reference");
  config.train.evaluate_every = 0;
  EXPECT_REFUSED(check_run(config), "train.evaluate_every");
  config.optimizer.rule.average = Averaging::always;
  EXPECT_NO_THROW(check_run(config));
  config.optimizer.rule.name = "asgd";
  EXPECT_REFUSED(check_run(config), "average of its own");
  config.optimizer.rule = {.average_patience = 0};
  EXPECT_REFUSED(check_run(config), "average_patience");
}

TEST(AveragedWeights, AreNotUsedBeforeTheyBegin) {
  const ScratchDirectory directory;
  Observer silent;
  const RunResult plain = train_run(averaging(directory / "plain", 1'000'000), silent);
  RunConfig config = averaging(directory / "sgd", 1);
  config.optimizer.rule.name = "sgd";
  EXPECT_EQ(plain.test->loss, train_run(config, silent).test->loss);
  EXPECT_NE(plain.test->loss, train_run(averaging(directory / "run", 1), silent).test->loss);
  // At its first update the average is the weights, bit for bit or to a rounding; at `average_from` it is off.
  const OptimizerConfig rule{.name = "asgd", .average_from = 3};
  EXPECT_EQ(evaluated_moment(rule, 3), -1);
  EXPECT_EQ(evaluated_moment(rule, 4), 0);
  EXPECT_EQ(evaluated_moment({.name = "adam"}, 100), -1);
}

}  // namespace
}  // namespace throughtime

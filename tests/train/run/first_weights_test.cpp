// Which weights a run begins with (import) and which it is judged by (the average of asgd).
#include <gtest/gtest.h>

#include "support/scratch.h"
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

/// 23 iterations with one window each, or a few: the average begins after update `from`.
RunConfig averaging(const std::filesystem::path& directory, std::int64_t from) {
  RunConfig config = config_of(of_asgd, directory);
  config.optimizer.rule.average_from = from;
  return config;
}

TEST(AveragedWeights, AreWhatARunIsJudgedByOnceTheyHaveBegun) {
  const ScratchDirectory directory;
  Observer silent;
  const RunResult run = train_run(averaging(directory / "run", 4), silent);
  const TensorFile last = load_checkpoint(directory / "run", false), best = load_checkpoint(directory / "run", true);
  const std::vector<double> average = tensor(last, "throughtime.optimizer.moment.0");

  TrainedModel trained(directory / "run", false);  // predict and export
  EXPECT_EQ(trained.engine().read(trained.parameters()), average);
  EXPECT_NE(weights_of(last, trained.model()), average);
  EXPECT_EQ(open_run(directory / "run", false)->evaluate(Split::test).loss, run.test->loss);  // evaluate
  EXPECT_EQ(open_run(directory / "run", true)->evaluate(Split::validation).loss, run.best_validation->loss);
  TrainedModel chosen(directory / "run", true);
  EXPECT_EQ(chosen.engine().read(chosen.parameters()), tensor(best, "throughtime.optimizer.moment.0"));
  EXPECT_EQ(open_run(directory / "run", true)->evaluate(Split::test).loss, run.best_test->loss);
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

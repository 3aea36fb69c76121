#include "train/diagnose/diagnosis.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "support/errors.h"
#include "support/numeric.h"
#include "support/scratch.h"
#include "train/options/options.h"

namespace throughtime {
namespace {

using testing::ScratchDirectory;
using testing::write_text;

RunConfig config_of(const std::string& task) {
  RunConfig config;
  config.task.name = task;
  set_option(config, "task." + task + ".length=40", "test");
  config.model.cell = {"lstm"};
  config.model.hidden = {6};
  config.model.dropout.output = 0.2;
  config.learner.name = "tbptt";
  config.learner.tbptt = {.preset = TbpttPreset::paper, .truncation = 4};
  config.learner.tbptt.estimate = {.longest = 20, .lags = 12, .burn_in = 5};
  config.learner.adaptive_tbptt.truncation = 4;
  config.learner.adaptive_tbptt.estimate = config.learner.tbptt.estimate;
  config.train.iterations = 9;
  config.train.iterations_per_epoch = 3;
  config.train.batch = 5;
  config.train.report_every = 1;
  config.run.threads = 1;
  return config;
}

std::vector<double> trained(const RunConfig& config, std::vector<double>* losses = nullptr) {
  struct Losses : Observer {
    std::vector<double> values;
    void on_progress(const Progress& progress) override { values.push_back(progress.train_loss); }
  } observer;
  Trainer trainer(config);
  trainer.run(observer, false);
  if (losses != nullptr) *losses = observer.values;
  return trainer.engine().read(trainer.parameters());
}

/// The phi pass is pure: a run that logs estimates ends with the bits of one that does not.
TEST(Estimates, LeaveEveryBitOfTrainingAsItIs) {
  for (const char* task : {"add", "recall", "stochastic_world"})
    for (const PhiNorm norm : {PhiNorm::euclidean, PhiNorm::per_layer, PhiNorm::weighted}) {
      RunConfig plain = config_of(task), logging = plain;
      logging.learner.tbptt.estimate.logged = 3;
      logging.learner.tbptt.estimate.norm = norm;
      std::vector<double> plain_losses, logging_losses;
      EXPECT_EQ(trained(plain, &plain_losses), trained(logging, &logging_losses)) << task << " " << name_of(norm);
      EXPECT_EQ(plain_losses, logging_losses);
    }
}

TEST(Estimates, LoggingDoesNotChangeTheChoices) {
  RunConfig plain = config_of("recall");
  plain.learner.name = "adaptive_tbptt";
  plain.learner.adaptive_tbptt.estimate.every = 2;
  plain.optimizer.rate = 0.05;
  RunConfig logging = plain;
  logging.learner.adaptive_tbptt.estimate.logged = 4;
  EXPECT_EQ(trained(plain), trained(logging));
  plain.train.seed = 2;
  EXPECT_NE(trained(plain), trained(logging));
}

TEST(Estimates, AreTheSameForEveryNumberOfThreads) {
  RunConfig one = config_of("recall");
  one.learner.name = "adaptive_tbptt";
  one.train.batch = 70;
  RunConfig three = one;
  three.run.threads = 3;
  EXPECT_EQ(trained(one), trained(three));
}

TEST(Estimates, RefuseBadInputBeforeTraining) {
  RunConfig config = config_of("add");
  config.learner.name = "adaptive_tbptt";
  const auto refusal = [&](auto change) {
    RunConfig changed = config;
    change(changed.learner.adaptive_tbptt.estimate);
    return testing::refusal_of([&] { Trainer trainer(changed); });
  };
  EXPECT_EQ(refusal([](EstimateConfig&) {}), "");
  EXPECT_NE(refusal([](EstimateConfig& e) { e.lags = 100; }).find("longer than a row of the training data (40 steps)"),
            std::string::npos);
  EXPECT_NE(refusal([](EstimateConfig& e) { e.delta = 1.2; }).find("delta"), std::string::npos);
  EXPECT_NE(refusal([](EstimateConfig& e) { e.shortest = 30; }).find("K_min"), std::string::npos);
}

TEST(Diagnose, MeasuresWhatItEstimates) {
  for (const char* task : {"add", "recall"}) {
    Trainer trainer(config_of(task));
    const std::vector<double> before = trainer.engine().read(trainer.parameters());
    const Diagnosis diagnosis = diagnose(trainer, {});
    EXPECT_EQ(before, trainer.engine().read(trainer.parameters()));
    ASSERT_EQ(diagnosis.lengths.size(), 13u);
    EXPECT_EQ(diagnosis.positions, 5);
    EXPECT_EQ(diagnosis.draws.size(), 5u * 13u);
    EXPECT_EQ(diagnosis.measured, "");
    EXPECT_TRUE(diagnosis.decays);
    for (const TruncationFacts& facts : diagnosis.lengths) {
      ASSERT_TRUE(facts.measured_bias.has_value());
      if (facts.truncation <= 2) continue;
      EXPECT_LT(*facts.measured_bias, facts.relative_bias);
    }
    EXPECT_EQ(diagnosis.choices.size(), 3u);
    EXPECT_LE(diagnosis.choices[0].truncation, diagnosis.choices[2].truncation);
    const auto json = nlohmann::json::parse(diagnosis_json(diagnosis, "x"));
    EXPECT_EQ(json["lengths"].size(), 13u);
    EXPECT_EQ(json["choices"][1]["bound_factor"], 2);
    EXPECT_EQ(json["own_truncation"], 4);
    EXPECT_EQ(json["advice"].size(), 3u);
  }
}

/// Without burn-in a place has R cells. Lag R - 1 reaches the first of them, so that neither it nor R cuts anything
/// off.
TEST(Diagnose, MeasuresNoBiasWhereNothingIsCutOff) {
  for (const int lags : {2, 12, 40}) {
    RunConfig config = config_of("recall");
    config.learner.tbptt.estimate.lags = lags;
    config.learner.tbptt.estimate.burn_in = 0;
    Trainer trainer(config);
    const Diagnosis diagnosis = diagnose(trainer, {});
    ASSERT_EQ(diagnosis.lengths.size(), static_cast<std::size_t>(lags) + 1);
    for (const TruncationFacts& facts : diagnosis.lengths) {
      ASSERT_TRUE(facts.measured_bias.has_value()) << facts.truncation;
      EXPECT_EQ(*facts.measured_bias == 0, facts.truncation >= lags - 1) << facts.truncation;
    }
    const auto json = nlohmann::json::parse(diagnosis_json(diagnosis, "x"));
    EXPECT_EQ(json["lengths"].back()["measured_bias"], 0.0);
  }
  RunConfig config = config_of("recall");  // with one step of burn-in lag R reaches it, and R - 1 does not
  config.learner.tbptt.estimate.burn_in = 1;
  Trainer trainer(config);
  const Diagnosis diagnosis = diagnose(trainer, {});
  EXPECT_GT(*diagnosis.lengths[11].measured_bias, 0);
  EXPECT_EQ(*diagnosis.lengths[12].measured_bias, 0);
}

TEST(Diagnose, TakesTheLagsThatARowHasWhereNoneAreGiven) {
  RunConfig config = config_of("add");  // sequences of 40 steps
  config.learner.tbptt.estimate.lags = config.learner.adaptive_tbptt.estimate.lags = 0;
  Trainer trainer(config);
  const Diagnosis diagnosis = diagnose(trainer, {});
  EXPECT_EQ(diagnosis.lags, 35);  // after 5 steps of burn-in
  EXPECT_EQ(diagnosis.tail, 31);
  EXPECT_EQ(diagnosis.longest, 35);
  EXPECT_EQ(diagnose(trainer, {.lags = 9}).lags, 9);
  config.learner.name = "adaptive_tbptt";
  EXPECT_EQ(trained(config).size(), trainer.parameters().size);
}

TEST(Diagnose, TakesOptionsOfTheEstimateOverThoseOfTheRun) {
  Trainer trainer(config_of("recall"));
  EXPECT_TRUE(is_estimate_option("learner.tbptt.norm=weighted"));
  EXPECT_FALSE(is_estimate_option("learner.name=bptt"));
  EXPECT_FALSE(is_estimate_option("model.hidden=3"));
  const Diagnosis diagnosis = diagnose(trainer, {.options = {"learner.tbptt.lags=15", "learner.tbptt.norm=per_layer"}});
  EXPECT_EQ(diagnosis.lags, 15);
  EXPECT_REFUSED(diagnose(trainer, {.options = {"learner.adaptive_tbptt.lags=15"}}), "learner.tbptt.*");
}

Diagnosis invented(double beta, double bias) {
  Diagnosis diagnosis{
      .positions = 4, .lags = 2, .tail = 1, .longest = 50, .batch = 8, .beta = beta, .decays = beta < 1};
  for (int k = 0; k <= 2; ++k)
    diagnosis.lengths.push_back({.truncation = k, .phi = 1, .relative_bias = bias, .measured_bias = bias / 2});
  for (const double delta : {0.9, 0.5, 0.1}) diagnosis.choices.push_back({delta, 7, bias < delta});
  return diagnosis;
}

std::string words_of(const Diagnosis& diagnosis) { return fmt::format("{}", fmt::join(advice_of(diagnosis), " ")); }

TEST(Diagnose, SaysWhatToDo) {
  EXPECT_NE(words_of(invented(0.5, 0.01)).find("below 10 %, set learner.name = \"tbptt\""), std::string::npos);
  EXPECT_NE(words_of(invented(0.5, 0.01)).find("learner.tbptt.truncation = 7"), std::string::npos);
  EXPECT_NE(words_of(invented(0.5, 0.3)).find("below 50 %"), std::string::npos);
  EXPECT_NE(words_of(invented(0.99, 2)).find("No K up to 50 keeps the bias below 90 %"), std::string::npos);
  EXPECT_NE(words_of(invented(1.01, 2)).find("Geometric decay: not met"), std::string::npos);
  EXPECT_NE(words_of(invented(0, 0.01)).find("zero to the last digit"), std::string::npos);
  Diagnosis own = invented(0.5, 0.3);
  own.truncation = 2;
  EXPECT_NE(words_of(own).find("own K = 2 has an estimated bias of 30 %, a measured one of 15 %"), std::string::npos);
}

TEST(Diagnose, SaysTheMemoryOfATape) {
  Trainer trainer(config_of("recall"));
  const Diagnosis diagnosis = diagnose(trainer, {.measure = false});
  EXPECT_EQ(diagnosis.measured, "not asked for");
  for (const int k : {1, 4, 9}) {
    const std::unique_ptr<Tape> tape =
        trainer.engine().make_tape({.steps = 2 * k + 1, .batch = 5, .keep = Keep::gradient, .losses = k});
    EXPECT_EQ(diagnosis.lengths[static_cast<std::size_t>(k)].activation_bytes, tape->activation_bytes()) << k;
  }
}

TEST(Diagnose, RefusesAModelWhoseStateIsNeverRead) {
  Trainer trainer(config_of("recall"));
  trainer.engine().fill(trainer.parameters(), 0);
  EXPECT_REFUSED(diagnose(trainer, {}), "no recurrence that matters");
}

TEST(PublishedPerplexity, DropsTheLossOfTheLastPartOfAHundred) {
  const ScratchDirectory directory;
  std::string text;
  for (int i = 0; i < 700; ++i) text += i % 3 == 0 ? "a " : "b ";
  write_text(directory / "text.txt", text);
  RunConfig config = config_of("text");
  config.task.text.corpus = TextCorpus::files;
  config.task.text.files = {(directory / "text.txt").string(), (directory / "text.txt").string(),
                            (directory / "text.txt").string()};
  config.task.text.length = 64;
  config.task.text.evaluation_columns = 2;
  config.task.text.published_metric = true;
  Trainer trainer(config);
  const Evaluation evaluation = trainer.evaluate(Split::test);
  ASSERT_EQ(evaluation.scores.size(), 3u);
  EXPECT_EQ(evaluation.scores[2].name, "published_perplexity");
  const double steps = evaluation.weight / 2, exact = evaluation.loss;
  EXPECT_GT(steps, 300);
  EXPECT_LT(steps, 400);
  EXPECT_NEAR(std::log(evaluation.scores[2].value), exact * 300 / steps, 0.03 * exact);
  EXPECT_LT(evaluation.scores[2].value, evaluation.scores[0].value);
}

}  // namespace
}  // namespace throughtime

#include "train/run/trainer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "support/errors.h"
#include "support/scratch.h"
#include "train/run/run_variants.h"

namespace throughtime {
namespace {

using testing::ScratchDirectory;

RunConfig tiny() {
  RunConfig config;
  config.task.add.length = 4;
  config.model.hidden = {8};
  config.optimizer.rate = 0.02;
  config.train.iterations = 150;
  config.train.batch = 16;
  config.train.evaluate_every = 50;
  config.train.evaluate_batches = 4;
  config.run.engine = "reference";
  config.run.threads = 1;
  config.run.name = "tiny";
  return config;
}

/// Keeps all it hears.
struct Record : Observer {
  void on_start(const RunPlan& plan, std::int64_t) override {
    ++starts;
    bytes_at_start = plan.activation_bytes;
  }
  void on_progress(const Progress& progress) override { reports.push_back(progress); }
  void on_validation(const Evaluation& evaluation) override { validations.push_back(evaluation); }
  void on_end(const RunResult&) override { ++ends; }

  int starts = 0, ends = 0;
  std::size_t bytes_at_start = 0;
  std::vector<Progress> reports;
  std::vector<Evaluation> validations;
};

TEST(Trainer, LearnsAShortSum) {
  Trainer trainer(tiny());
  Record record;
  const double before = trainer.evaluate(Split::test, 0).loss;
  const RunResult result = trainer.run(record);
  EXPECT_LT(result.test->loss, 0.5 * before);
  EXPECT_LT(result.test->metric, 0.5 * result.plan.baseline);
  EXPECT_LT(record.reports.back().train_loss, record.reports.front().train_loss);
}

TEST(Trainer, KnowsTheLossOfAUniformGuess) {
  RunConfig config = tiny();
  EXPECT_TRUE(std::isnan(Trainer(config).plan().uniform_loss)) << "a sum has no classes";
  config.task.name = "copy";
  EXPECT_DOUBLE_EQ(Trainer(config).plan().uniform_loss, std::log(10.0)) << "eight symbols, a blank, a delimiter";
}

TEST(Trainer, TellsWhatItDoes) {
  Trainer trainer(tiny());
  Record record;
  const RunResult result = trainer.run(record);
  EXPECT_EQ(record.starts, 1);
  EXPECT_EQ(record.ends, 1);
  EXPECT_GT(record.bytes_at_start, 0u);
  ASSERT_EQ(record.reports.size(), 15u);
  EXPECT_EQ(record.reports.front().iteration, 10);
  ASSERT_EQ(record.validations.size(), 3u);
  EXPECT_EQ(record.validations.back().iteration, 150);
  EXPECT_EQ(result.plan.task, "add");
  EXPECT_EQ(result.plan.learner, "bptt");
  EXPECT_EQ(result.plan.cell, "lstm");
  EXPECT_EQ(result.plan.parameters, 4u * 8 * (2 + 8 + 2) + 9);
  EXPECT_EQ(result.updates, 150);
  EXPECT_EQ(result.train_loss, record.reports.back().train_loss);
  ASSERT_TRUE(result.best_validation);
  for (const Evaluation& validation : record.validations) EXPECT_LE(result.best_validation->loss, validation.loss);
}

TEST(Trainer, TellsTheOnlineLossAndAccuracyOfEveryStreamLearner) {
  for (const std::string learner : {"tbptt", "fptt", "fpp", "sliding_tbptt"}) {
    RunConfig config = tiny();
    config.task.name = "cycle_world";
    config.task.cycle_world.length = 20;
    config.learner = {.name = learner,
                      .tbptt = {.steps = 5, .losses = 5, .stride = 5},
                      .fptt = {.window_length = 5},
                      .fpp = {.steps = 3},
                      .sliding_tbptt = {.steps = 3}};
    config.train.iterations = 30;
    config.train.batch = 2;
    config.train.evaluate_every = 0;
    config.train.report_every = 3;
    Trainer trainer(config);
    Record record;
    const RunResult result = trainer.run(record);
    double loss = 0, accuracy = 0;
    for (const Progress& report : record.reports) {
      ASSERT_TRUE(report.train_accuracy) << learner;
      loss += report.train_loss / 10;
      accuracy += *report.train_accuracy / 10;
    }
    EXPECT_NEAR(record.reports.back().cumulative_loss, loss, 1e-9) << learner;
    EXPECT_NEAR(*record.reports.back().cumulative_accuracy, accuracy, 1e-9);
    EXPECT_NEAR(result.cumulative.accuracy, accuracy, 1e-9);
    EXPECT_GT(accuracy, 0.6) << learner;  // a 1 comes once in six steps
  }
}

RunConfig small_text(const ScratchDirectory& directory, const LearnerConfig& learner) {
  RunConfig config = tiny();
  config.task.name = "text";
  testing::set_words(config, directory / "words.txt", 900);
  config.task.text.length = 8;
  config.model.hidden = {6};
  config.model.embedding = 6;
  config.learner = learner;
  config.optimizer.rule.name = "sgd";
  config.optimizer.rate = 0.2;
  config.train.batch = 3;
  config.train.iterations = 12;
  config.train.report_every = 1;
  config.train.evaluate_every = 0;
  return config;
}

TEST(Trainer, EpochsOfRandomLengthsCountTheirOwnBatches) {
  const ScratchDirectory directory;
  RunConfig config = small_text(directory, {.name = "fptt", .fptt = {.windows = 2, .alpha = 0.25, .alpha_growth = 2}});
  config.task.text.length_varies = true;
  config.train.epochs = 2.5;
  config.optimizer.schedule = {.rule = ScheduleRule::factor_at, .factor = 0.5, .epochs = {1, 2}};
  Trainer trainer(config);
  const auto batches = [&](std::int64_t epochs) { return trainer.task().train_batches(epochs, 3); };
  EXPECT_EQ(trainer.plan().iterations, batches(2) + std::llround(0.5 * static_cast<double>(batches(3) - batches(2))));
  EXPECT_EQ(extent_of(config).iterations, trainer.plan().iterations);
  Record record;
  const RunResult result = trainer.run(record);
  ASSERT_EQ(static_cast<std::int64_t>(record.reports.size()), result.iteration);
  std::int64_t done = 0;
  for (const Progress& report : record.reports) {
    // The rate of a batch is that of the epoch which it lies in.
    const double wanted = done < batches(1) ? 0.2 : done < batches(2) ? 0.1 : 0.05;
    EXPECT_DOUBLE_EQ(report.rate, wanted) << done;
    ++done;
    const double begun = done >= batches(2) ? 2 : done >= batches(1) ? 1 : 0;
    EXPECT_GE(report.epoch, begun);
    EXPECT_LT(report.epoch, begun + 1);
  }
  // The learner has heard of the ends of two epochs.
  TensorFile file;
  SavingArchive archive(file);
  trainer.archive(archive);
  EXPECT_EQ(real_values(*file.find("throughtime.learner.alpha")), std::vector<double>{1.0});
}

TEST(Trainer, ValidatesAtTheEndsOfEpochsThatDifferInLength) {
  const ScratchDirectory directory;
  RunConfig config = small_text(directory, {.name = "fptt", .fptt = {.windows = 2, .take_average = true}});
  config.task.text.length_varies = true;
  config.train.epochs = 4.5;
  for (const std::int64_t between : {1, 2}) {
    config.train.evaluate_epochs = between;
    Trainer trainer(config);
    std::vector<std::int64_t> wanted, seen;
    for (std::int64_t epochs = between; epochs <= 4; epochs += between)
      wanted.push_back(trainer.task().train_batches(epochs, 3));
    Record record;
    const RunResult result = trainer.run(record);
    for (const Evaluation& validation : record.validations) seen.push_back(validation.iteration);
    EXPECT_EQ(seen, wanted);
    EXPECT_TRUE(result.best_test);
  }
}

/// What is validated is what the next epoch begins with, W-bar here, and a whole number of epochs ends with it.
TEST(Trainer, ValidatesAfterTheLearnerHasEndedTheEpoch) {
  RunConfig config = tiny();
  config.learner = {.name = "fptt", .fptt = {.windows = 2, .take_average = true}};
  config.train.epochs = 3;
  config.train.iterations_per_epoch = 5;
  config.train.evaluate_every = 0;
  config.train.evaluate_epochs = 3;
  Trainer trainer(config);
  Record record;
  trainer.run(record);
  ASSERT_EQ(record.validations.size(), 1u);
  TensorFile file;
  SavingArchive archive(file);
  trainer.archive(archive);
  EXPECT_EQ(trainer.engine().Engine::read(trainer.best_parameters()),
            real_values(*file.find("throughtime.learner.average")));
}

TEST(Trainer, RefusesRandomLengthsOfTooShortATextInOneLine) {
  const ScratchDirectory directory;
  RunConfig config = small_text(directory, {.name = "bptt"});
  testing::set_words(config, directory / "words.txt", 100);
  config.task.text.length_varies = true;
  config.train.batch = 64;
  Observer silent;
  EXPECT_REFUSED(Trainer(config).run(silent), "too few to read 64 rows side by side");
}

TEST(Trainer, ScalesTheRateByLengthForEveryMethod) {
  const ScratchDirectory directory;
  Observer silent;
  const auto loss = [&](const LearnerConfig& learner, bool varies, bool by_length) {
    RunConfig config = small_text(directory, learner);
    config.task.text.length_varies = varies;
    config.optimizer.rate_by_length = by_length;
    return Trainer(config).run(silent).test->loss;
  };
  const LearnerConfig bptt{.name = "bptt"};
  LearnerConfig one_window{.name = "fptt", .fptt = {.windows = 1, .form = FpttForm::ogd, .alpha = 0}};
  const double scaled = loss(bptt, true, true);
  EXPECT_NE(scaled, loss(bptt, true, false));
  EXPECT_NEAR(loss(one_window, true, true), scaled, 1e-12);
  one_window.fptt.rate_by_length = true;  // its own option, around the same usual length
  EXPECT_NEAR(loss(one_window, true, false), scaled, 1e-12);
  EXPECT_REFUSED(loss(one_window, true, true), "set one of them");
}

TEST(Trainer, ReportsPenaltiesApartFromTheLoss) {
  const ScratchDirectory directory;
  const std::vector<LearnerConfig> learners = {
      {.name = "bptt"},
      {.name = "tbptt", .tbptt = {.steps = 5, .losses = 3, .stride = 3}},
      {.name = "adaptive_tbptt",
       .adaptive_tbptt = {.estimate = {.shortest = 1, .longest = 4, .lags = 5, .burn_in = 2, .every = 2, .logged = 3}}},
      {.name = "fptt", .fptt = {.windows = 2}},
      {.name = "fpp", .fpp = {.steps = 3}},
      {.name = "sliding_tbptt", .sliding_tbptt = {.steps = 3}},
      {.name = "target_propagation", .target_propagation = {.block = 4}}};
  for (const LearnerConfig& learner : learners) {
    RunConfig config = small_text(directory, learner);
    config.train.iterations = 2;
    const auto weights = [&] {
      Observer silent;
      Trainer trainer(config);
      trainer.run(silent);
      return trainer.engine().Engine::read(trainer.parameters());
    };
    const auto first_report = [&] {
      RunConfig still = config;
      still.optimizer.rate = 0;  // the weights stay what they are
      Record record;
      Trainer(still).run(record);
      return record.reports.front();
    };
    const Progress plain = first_report();
    const std::vector<double> plain_weights = weights();
    config.model.penalties = {.activation = 2, .slowness = 3};
    const Progress report = first_report();
    EXPECT_NEAR(report.train_loss, plain.train_loss, 1e-12) << learner.name;
    EXPECT_NE(weights(), plain_weights) << learner.name;
    std::vector<std::string> names;
    for (const Diagnostic& diagnostic : report.diagnostics)
      if (diagnostic.name.ends_with("_penalty")) {
        names.push_back(diagnostic.name);
        EXPECT_GT(diagnostic.value, 0) << learner.name << diagnostic.name;
      }
    EXPECT_EQ(names, (std::vector<std::string>{"activation_penalty", "slowness_penalty"})) << learner.name;
    // An evaluation of the same weights never contains them.
    Trainer with(config);
    config.model.penalties = {};
    Trainer without(config);
    EXPECT_EQ(with.evaluate(Split::test).loss, without.evaluate(Split::test).loss);
  }
}

TEST(Trainer, RefusesASlownessPenaltyThatRecomputingWouldCut) {
  const ScratchDirectory directory;
  RunConfig config = small_text(directory, {.name = "bptt", .bptt = {.memory = BpttMemory::recompute}});
  config.model.penalties.activation = 1;
  EXPECT_NO_THROW(check_run(config));
  config.model.penalties.slowness = 1;
  EXPECT_REFUSED(check_run(config), "model.slowness_penalty compares neighbouring steps");
}

TEST(Trainer, TheExtentOfARunIsKnownWithoutMakingIt) {
  RunConfig config = tiny();
  const RunPlan plan = Trainer(config).plan();
  const RunExtent extent = extent_of(config);
  EXPECT_EQ(extent.parameters, plan.parameters);
  EXPECT_EQ(extent.steps, plan.steps);
  EXPECT_EQ(extent.iterations, plan.iterations);
  // A tape of this would take thousands of gigabytes.
  config.train.batch = 100'000'000;
  config.task.add.length = 1'000'000;
  EXPECT_EQ(extent_of(config).batch, 100'000'000);
}

TEST(Trainer, SameSeedSameResult) {
  Observer silent;
  const RunResult first = Trainer(tiny()).run(silent);
  const RunResult second = Trainer(tiny()).run(silent);
  EXPECT_EQ(first.test->loss, second.test->loss);
  EXPECT_EQ(first.train_loss, second.train_loss);
  RunConfig other = tiny();
  other.train.seed = 2;
  EXPECT_NE(Trainer(other).run(silent).test->loss, first.test->loss);
}

TEST(Trainer, LookingMoreOftenChangesNothing) {
  Observer silent;
  RunConfig often = tiny();
  often.train.report_every = 1;
  often.train.evaluate_every = 7;
  EXPECT_EQ(Trainer(often).run(silent).test->loss, Trainer(tiny()).run(silent).test->loss);
}

TEST(Trainer, ReportsTheLastIterationsEvenWhereTheyDoNotDivide) {
  RunConfig config = tiny();
  config.train.iterations = 13;
  Record record;
  Trainer(config).run(record);
  ASSERT_EQ(record.reports.size(), 2u);
  EXPECT_EQ(record.reports.back().iteration, 13);
}

TEST(Trainer, StopsWithAdviceWhenTheLossIsNoNumber) {
  RunConfig config = tiny();
  config.optimizer.rule.name = "sgd";
  config.optimizer.rate = 1e200;
  Trainer trainer(config);
  Observer silent;
  try {
    trainer.run(silent);
    FAIL() << "ran to the end";
  } catch (const RunFailure& failure) {
    EXPECT_NE(std::string(failure.what()).find("lower optimizer.rate (now 1e+200)"), std::string::npos)
        << failure.what();
  }
}

TEST(Trainer, FollowsTheSchedule) {
  RunConfig frozen = tiny();
  frozen.train.evaluate_every = 0;
  frozen.optimizer.schedule.rule = ScheduleRule::factor_at;
  frozen.optimizer.schedule.epochs = {0.1};
  frozen.optimizer.schedule.factor = 1e-300;
  frozen.train.iterations_per_epoch = 100;
  RunConfig shorter = tiny();
  shorter.train.evaluate_every = 0;
  shorter.train.iterations = 10;
  Observer silent;
  // From iteration 10 on nothing moves.
  EXPECT_DOUBLE_EQ(Trainer(frozen).run(silent).test->loss, Trainer(shorter).run(silent).test->loss);
}

TEST(Trainer, StopsWhenValidationNoLongerImproves) {
  RunConfig config = tiny();
  config.optimizer.rate = 0;  // nothing ever improves on the first validation
  config.train.evaluate_every = 10;
  config.train.patience = 3;
  Record record;
  const RunResult result = Trainer(config).run(record);
  EXPECT_EQ(result.end, RunEnd::stopped_early);
  EXPECT_EQ(result.iteration, 40);
  EXPECT_EQ(result.best_validation->iteration, 10);
  EXPECT_TRUE(result.test);
  EXPECT_EQ(record.ends, 1);
}

TEST(Trainer, CountsEpochs) {
  RunConfig config = tiny();
  config.train.epochs = 2.5;
  config.train.iterations_per_epoch = 8;
  Record record;
  const RunResult result = Trainer(config).run(record);
  EXPECT_EQ(result.plan.iterations, 20);
  EXPECT_EQ(result.iteration, 20);
  EXPECT_EQ(record.reports.back().epoch, 2.5);
}

TEST(Trainer, TestsTheBestParametersToo) {
  RunConfig config = tiny();
  config.train.evaluate_every = 1;
  Observer silent;
  Trainer trainer(config);
  const RunResult result = trainer.run(silent);
  RunConfig shorter = config;
  ASSERT_LT(result.best_validation->iteration, config.train.iterations);
  shorter.train.iterations = result.best_validation->iteration;
  EXPECT_EQ(result.best_test->loss, Trainer(shorter).run(silent).test->loss);
  EXPECT_NE(result.best_test->loss, result.test->loss);
}

TEST(Trainer, CanLeaveTheTestAlone) {
  Observer silent;
  const RunResult result = Trainer(tiny()).run(silent, false);
  EXPECT_FALSE(result.test);
  EXPECT_FALSE(result.best_test);
  EXPECT_TRUE(result.best_validation);
}

TEST(Trainer, NamesTheCellsOfAMixedStack) {
  RunConfig config = tiny();
  config.model.layers = 2;
  config.model.cell = {"lstm", "gru"};
  EXPECT_EQ(Trainer(config).plan().cell, "lstm + gru");
  config.model.cell = {"gru"};
  EXPECT_EQ(Trainer(config).plan().cell, "gru");
}

TEST(Trainer, RefusesWhatTheLearnerRefuses) {
  RunConfig config = tiny();
  config.learner.name = "tbptt";
  EXPECT_THROW(Trainer{config}, InvalidInput);
}

TEST(Trainer, RefusesWhatALearnerCannotDoOnTheTaskBeforeTraining) {
  RunConfig config = tiny();
  config.learner.name = "fptt";
  config.learner.fptt.windows = 5;
  EXPECT_REFUSED(Trainer{config}, "[fptt] windows must be between 1 and the sequence length (4), got 5");
  config.learner.fptt.windows = 2;
  config.learner.fptt.terminal.q = PriorKind::examples;
  EXPECT_REFUSED(Trainer{config}, "the head predicts numbers");
  config.learner.fptt.terminal.q = PriorKind::automatic;
  config.learner.fptt.alpha = 0;
  EXPECT_REFUSED(Trainer{config}, "alpha must be positive");
  config.learner.fptt.alpha = 0.1;
  config.task.name = "copy";
  config.learner.fptt.terminal.intermediate = IntermediateLoss::window_end;
  EXPECT_REFUSED(Trainer{config}, "one target at the end of each sequence");
}

TEST(Trainer, ReportsHowFpttGoes) {
  for (const FpttForm form : {FpttForm::lambda, FpttForm::gradient, FpttForm::ogd}) {
    RunConfig config = tiny();
    config.learner.name = "fptt";
    config.learner.fptt.windows = 2;
    config.learner.fptt.form = form;
    config.train.iterations = 20;
    Trainer trainer(config);
    Record record;
    trainer.run(record);
    ASSERT_EQ(record.reports.size(), 2u);
    for (const Progress& report : record.reports) {
      ASSERT_EQ(report.diagnostics.size(), form == FpttForm::ogd ? 1u : 4u);
      for (const Diagnostic& diagnostic : report.diagnostics) EXPECT_GT(diagnostic.value, 0) << diagnostic.name;
    }
  }
}

TEST(Trainer, ValidationChoosesByTheMetricThatWasAskedFor) {
  RunConfig config = tiny();
  config.task.name = "copy";
  config.task.copy.length = 2;
  config.train.iterations = 60;
  config.train.evaluate_every = 3;
  config.optimizer.rate = 0.1;  // so high that the two do not agree
  for (const char* name : {"loss", "cross_entropy"}) {
    config.train.best_by = name;
    Trainer trainer(config);
    Record record;
    const RunResult result = trainer.run(record);
    for (const Evaluation& validation : record.validations) EXPECT_LE(result.best_validation->loss, validation.loss);
    EXPECT_EQ(result.plan.best_by, name);
  }
  config.train.best_by = "mse";
  EXPECT_REFUSED(Trainer(config), "[train] train.best_by = \"mse\" is not measured here; what is: loss, cross_entropy");
  EXPECT_REFUSED(check_run(config), "train.best_by = \"mse\"");
}

}  // namespace
}  // namespace throughtime

// Training on sequences of several lengths: batches against the same rows one by one.
#include <gtest/gtest.h>

#include <cmath>

#include "support/errors.h"
#include "support/scratch.h"
#include "throughtime/learner.h"
#include "train/run/trainer.h"

namespace throughtime::testing {
namespace {

/// Drawings of 1 to `longest` steps of two columns, each with a class and a number.
std::string drawings(int sequences, int longest) {
  std::string text = "id,label,size,x,y\n";
  for (int i = 0; i < sequences; ++i)
    for (int step = 0; step <= i * 7 % longest; ++step) {
      const double angle = i % 3 * 0.5 + 0.3 * step;
      text += fmt::format("{},{},{},{},{}\n", i,
                          i % 3 == 0   ? "slow"
                          : i % 3 == 1 ? "fast"
                                       : "none",
                          i % 5 + 0.5, std::sin(angle), std::cos(angle * (i % 3)));
    }
  return text;
}

SequencesConfig config_of(const std::string& file, bool classes) {
  SequencesConfig config;
  config.files = {file};
  config.inputs = {"x", "y"};
  config.targets = {classes ? "label" : "size"};
  config.splits = {1, 0, 0};
  return config;
}

struct RowLesson {
  RowLesson(Task& task, const std::string& engine_name, const LearnerConfig& config, int batch)
      : model({.input = task.input(),
               .layers = {{.cell = "lstm", .hidden = 4}, {.cell = "gru", .hidden = 3}},
               .head = task.head()}),
        engine(make_engine(model, {.name = engine_name, .threads = 1})),
        first(initialise(model, {.rule = InitialiseRule::uniform, .range = 0.7}, 3)),
        trainee(make_trainee(*engine, first, {.name = "sgd"}, {})),
        learner(make_learner(config, trainee,
                             {.steps = task.steps(),
                              .batch = batch,
                              .losses = task.loss_steps(),
                              .lengths_vary = true,
                              .terminal = task.terminal(),
                              .examples = task.examples()})) {}

  /// What one batch changes at a rate of 1.
  std::vector<double> change(const Window& window) {
    engine->write(trainee.parameters, first);
    learner->learn(window, [](std::int64_t) { return 1.0; });
    std::vector<double> after = engine->read(trainee.parameters);
    for (std::size_t i = 0; i < after.size(); ++i) after[i] -= first[i];
    return after;
  }

  Model model;
  std::unique_ptr<Engine> engine;
  std::vector<double> first;
  Trainee trainee;
  std::unique_ptr<Learner> learner;
};

/// The change of a batch of all sequences must be the mean of the changes of its rows alone.
void expect_mean_of_rows(const std::string& engine, const LearnerConfig& learner, const SequencesConfig& config) {
  constexpr int rows = 9;
  const auto task = make_task(config, 1);
  ASSERT_EQ(task->examples(), rows);
  ASSERT_TRUE(task->lengths_vary());
  const double tolerance = engine == "reference" ? 1e-12 : 2e-6;
  RowLesson together(*task, engine, learner, rows), alone(*task, engine, learner, 1);
  const std::vector<double> batch = together.change(task->make_batch(Split::train, 0, rows));
  std::vector<double> sum(batch.size(), 0.0);
  for (std::uint64_t i = 0; i < rows; ++i) {
    const std::vector<double> one = alone.change(task->make_batch(Split::train, i, 1));
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += one[k] / rows;
  }
  double largest = 0;
  for (std::size_t k = 0; k < sum.size(); ++k) {
    EXPECT_NEAR(batch[k], sum[k], tolerance) << k;
    largest = std::max(largest, std::abs(sum[k]));
  }
  EXPECT_GT(largest, 0.01) << "nothing was learned";
}

class Ragged : public ::testing::TestWithParam<std::tuple<std::string, bool>> {};

TEST_P(Ragged, BatchesLearnWhatTheirRowsDoOneByOne) {
  const auto& [engine, classes] = GetParam();
  const ScratchDirectory scratch;
  const SequencesConfig config = config_of(scratch.write("a.csv", drawings(9, 11)), classes);
  LearnerConfig learner;
  learner.name = "bptt";
  expect_mean_of_rows(engine, learner, config);
  learner.bptt.memory = BpttMemory::recompute;
  expect_mean_of_rows(engine, learner, config);
  learner.name = "fptt";
  learner.fptt.windows = 1;
  learner.fptt.form = FpttForm::ogd;
  expect_mean_of_rows(engine, learner, config);
  learner.name = "tbptt";
  learner.tbptt.preset = TbpttPreset::plain;
  learner.tbptt.truncation = 11;
  expect_mean_of_rows(engine, learner, config);
}

INSTANTIATE_TEST_SUITE_P(Engines, Ragged, ::testing::Combine(::testing::Values("reference", "cpu"), ::testing::Bool()));

RunConfig run_config(const SequencesConfig& sequences, const std::string& learner, int batch) {
  RunConfig config;
  config.task.name = "sequences";
  config.task.sequences = sequences;
  config.model.cell = {"gru"};
  config.model.hidden = {8};
  config.learner.name = learner;
  config.learner.fptt.windows = 3;
  config.learner.tbptt.preset = TbpttPreset::plain;
  config.learner.tbptt.truncation = 4;
  config.learner.fpp.steps = 3;
  config.learner.sliding_tbptt.steps = 3;
  config.learner.target_propagation.block = 4;
  config.learner.adaptive_tbptt.estimate.burn_in = 2;
  config.learner.adaptive_tbptt.estimate.longest = 6;
  config.train.batch = batch;
  config.train.iterations = 30;
  config.train.evaluate_every = 10;
  config.run.threads = 1;
  return config;
}

TEST(RaggedRuns, EveryMethodLearnsFromThem) {
  const ScratchDirectory scratch;
  for (const bool classes : {true, false}) {
    SequencesConfig sequences = config_of(scratch.write("a.csv", drawings(40, 12)), classes);
    sequences.splits = {0.5, 0.25, 0.25};
    for (const LossSteps loss : {LossSteps::last, LossSteps::every}) {
      sequences.loss = loss;
      for (const LearnerType* type : all_learners()) {
        SCOPED_TRACE(fmt::format("{} {} {}", type->name, classes ? "classes" : "numbers", name_of(loss)));
        for (const int batch : {1, 7}) {
          Observer nobody;
          Trainer trainer(run_config(sequences, type->name, batch));
          const RunResult result = trainer.run(nobody);
          ASSERT_TRUE(result.test && result.best_test);
          EXPECT_TRUE(std::isfinite(result.test->loss));
          EXPECT_GT(result.updates, 0);
        }
      }
    }
  }
}

TEST(RaggedRuns, EvaluationsDoNotDependOnTheBatch) {
  const ScratchDirectory scratch;
  SequencesConfig sequences = config_of(scratch.write("a.csv", drawings(40, 12)), true);
  sequences.splits = {0.5, 0.25, 0.25};
  std::optional<Evaluation> before;
  for (const int batch : {1, 4, 50}) {
    Trainer trainer(run_config(sequences, "bptt", batch));
    const Evaluation now = trainer.evaluate(Split::test);
    EXPECT_EQ(now.weight, 10);
    EXPECT_EQ(now.confusion.classes, (std::vector<std::string>{"fast", "none", "slow"}));
    if (before) {
      EXPECT_NEAR(now.loss, before->loss, 1e-6);
      EXPECT_EQ(now.confusion.counts, before->confusion.counts);
    }
    before = now;
  }
  double right = 0, all = 0;
  for (std::size_t i = 0; i < 9; ++i) {
    all += before->confusion.counts[i];
    right += i % 4 == 0 ? before->confusion.counts[i] : 0;
  }
  EXPECT_EQ(all, 10);
  EXPECT_DOUBLE_EQ(before->scores[0].value, right / all);
  EXPECT_DOUBLE_EQ(before->scores[1].value, balanced_accuracy(before->confusion.counts));
}

TEST(BalancedAccuracy, IsTheMeanOverTheClassesThatAreThere) {
  EXPECT_DOUBLE_EQ(balanced_accuracy({9, 1, 5, 5}), (0.9 + 0.5) / 2);
  EXPECT_DOUBLE_EQ(balanced_accuracy({3, 1, 0, 0, 0, 0, 0, 0, 2}), (0.75 + 1) / 2);
  EXPECT_DOUBLE_EQ(balanced_accuracy({1}), 1);
  EXPECT_DOUBLE_EQ(balanced_accuracy({0, 0, 0, 0}), 0);
}

}  // namespace
}  // namespace throughtime::testing

// Training on sequences of several lengths: batches against the same rows one by one.
#include <gtest/gtest.h>

#include <algorithm>
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

  /// What one batch changes.
  std::vector<double> change(
      const Window& window, const RateFunction& rate = [](std::int64_t) { return 1.0; }) {
    engine->write(trainee.parameters, first);
    learner->learn(window, rate);
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

/// The gradient of each window at the first weights, as what its update changes at a rate of 1 where the rate of all
/// others is 0. A new learner each time: FPTT remembers.
std::vector<std::vector<double>> change_of_each_update(Task& task, const std::string& engine,
                                                       const LearnerConfig& learner, const Window& window) {
  std::vector<std::vector<double>> changes;
  while (true) {
    std::size_t calls = 0;
    RowLesson lesson(task, engine, learner, window.batch);
    std::vector<double> change =
        lesson.change(window, [&](std::int64_t) { return calls++ == changes.size() ? 1.0 : 0.0; });
    if (calls == changes.size()) return changes;
    changes.push_back(std::move(change));
  }
}

/// A row of a batch as a batch of its own, with the padding that it has there: windows cut both at the same steps.
Window row_alone(const Window& all, int row) {
  const auto size = static_cast<std::size_t>(all.batch), b = static_cast<std::size_t>(row);
  Window one = all;
  one.batch = 1;
  one.start = {all.start[b]};
  if (!all.source.empty()) one.source = {all.source[b]};
  if (!all.example.empty()) one.example = {all.example[b]};
  one.weight.clear();
  one.flags.clear();
  for (std::size_t step = 0; step < elements(all.steps); ++step) {
    one.weight.push_back(all.weight[step * size + b]);
    if (!all.flags.empty()) one.flags.push_back(all.flags[step * size + b]);
  }
  EXPECT_EQ(all.targets.layout, TargetLayout::per_row);
  if (!all.targets.labels.empty()) one.targets.labels = all.targets.labels.subspan(b, 1);
  if (!all.targets.values.empty())
    one.targets.values = all.targets.values.subspan(b * elements(all.targets.width), elements(all.targets.width));
  return one;
}

/// What each part of `length` steps is divided by: its losses; or the rows, where there is a loss at the end alone and
/// FPTT adds some before it.
std::vector<double> divisors(const Window& window, int length, bool adds_losses) {
  const auto end = window.weight.end() - window.batch;
  const bool rows = adds_losses && std::all_of(window.weight.begin(), end, [](float weight) { return weight == 0; });
  std::vector<double> result;
  for (int begin = 0; begin < window.steps; begin += length) {
    result.push_back(rows ? window.batch : 0);
    for (int step = begin; !rows && step < std::min(begin + length, window.steps); ++step)
      for (int row = 0; row < window.batch; ++row) result.back() += window.weight[elements(step * window.batch + row)];
  }
  return result;
}

/// The gradient of each window of a batch must be the sum of those of its rows, and nothing from where a row has not
/// begun. Losses are means over a window, so each is multiplied by its divisor.
void expect_sum_of_rows_in_each_window(const std::string& engine, const LearnerConfig& learner,
                                       const SequencesConfig& config, int length) {
  constexpr int rows = 9;
  const auto task = make_task(config, 1);
  const bool adds_losses = learner.name == "fptt";
  const Window all = task->make_batch(Split::train, 0, rows);
  const std::vector<double> losses = divisors(all, length, adds_losses);
  ASSERT_EQ(losses.size(), elements((all.steps + length - 1) / length));
  std::vector<std::vector<double>> sums(losses.size());
  for (int row = 0; row < rows; ++row) {
    const Window one = row_alone(all, row);
    const std::vector<double> own = divisors(one, length, adds_losses);
    const std::vector<std::vector<double>> changes = change_of_each_update(*task, engine, learner, one);
    std::size_t update = 0;
    for (std::size_t w = 0; w < own.size(); ++w) {
      if (own[w] == 0) continue;  // no loss, no update
      ASSERT_LT(update, changes.size());
      sums[w].resize(changes[update].size(), 0.0);
      for (std::size_t k = 0; k < sums[w].size(); ++k) sums[w][k] += own[w] * changes[update][k];
      ++update;
    }
    EXPECT_EQ(update, changes.size());
  }
  const std::vector<std::vector<double>> changes = change_of_each_update(*task, engine, learner, all);
  const double tolerance = engine == "reference" ? 1e-12 : 2e-6;
  std::size_t update = 0;
  for (std::size_t w = 0; w < losses.size(); ++w) {
    if (losses[w] == 0) continue;
    ASSERT_LT(update, changes.size());
    double largest = 0;
    for (std::size_t k = 0; k < sums[w].size(); ++k) {
      EXPECT_NEAR(changes[update][k], sums[w][k] / losses[w], tolerance) << "window " << w << ", parameter " << k;
      largest = std::max(largest, std::abs(changes[update][k]));
    }
    EXPECT_GT(largest, 1e-3) << "window " << w;
    ++update;
  }
  EXPECT_EQ(update, changes.size());
}

TEST_P(Ragged, EachOfSeveralWindowsLearnsWhatItsRowsDoOneByOne) {
  const auto& [engine, classes] = GetParam();
  const ScratchDirectory scratch;
  SequencesConfig config = config_of(scratch.write("a.csv", drawings(9, 11)), classes);
  for (const LossSteps loss : {LossSteps::every, LossSteps::last})
    for (const int length : {4, 1}) {  // 4: three windows, the last one shorter
      config.loss = loss;
      LearnerConfig learner;
      learner.name = "fptt";
      learner.fptt.window_length = length;
      for (const FpttForm form : {FpttForm::ogd, FpttForm::lambda}) {
        SCOPED_TRACE(fmt::format("fptt {} {} {}", name_of(form), name_of(loss), length));
        learner.fptt.form = form;
        expect_sum_of_rows_in_each_window(engine, learner, config, length);
      }
      learner.name = "tbptt";
      learner.tbptt.truncation = length;
      for (const TbpttPreset preset : {TbpttPreset::plain, TbpttPreset::paper}) {
        SCOPED_TRACE(fmt::format("tbptt {} {} {}", name_of(preset), name_of(loss), length));
        learner.tbptt.preset = preset;
        expect_sum_of_rows_in_each_window(engine, learner, config, length);
      }
    }
}

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

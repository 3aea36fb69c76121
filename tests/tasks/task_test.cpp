#include "throughtime/task.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "support/errors.h"
#include "tasks/batches.h"
#include "tasks/task_support.h"

namespace throughtime::testing {
namespace {

TEST(Metric, FollowsFromTheMeanLossExceptAccuracy) {
  EXPECT_DOUBLE_EQ(metric_of_loss(Metric::mse, 0.25), 0.25);
  EXPECT_DOUBLE_EQ(metric_of_loss(Metric::cross_entropy, 0.25), 0.25);
  EXPECT_DOUBLE_EQ(metric_of_loss(Metric::perplexity, std::log(7.0)), 7.0);
  EXPECT_DOUBLE_EQ(metric_of_loss(Metric::bits_per_character, 3 * std::log(2.0)), 3.0);
  EXPECT_DOUBLE_EQ(metric_of_loss(Metric::nll, -5.1), -5.1);
  for (const Metric metric : {Metric::accuracy, Metric::time_rmse, Metric::mark_error, Metric::published_nll})
    EXPECT_REFUSED(metric_of_loss(metric, 0.1), "needs predictions");
  EXPECT_TRUE(higher_is_better(Metric::accuracy));
  EXPECT_FALSE(higher_is_better(Metric::perplexity));
  EXPECT_EQ(metric_name(Metric::bits_per_character), "bpc");
}

TEST(MaskKey, IsAnotherOneForEverySeedSplitAndBatch) {
  std::set<std::uint64_t> keys;
  for (const std::uint64_t seed : {1u, 2u})
    for (const Split split : {Split::train, Split::validation, Split::test})
      for (std::uint64_t batch = 0; batch < 50; ++batch) keys.insert(batch_mask_key(seed, split, batch));
  EXPECT_EQ(keys.size(), 300u);
  EXPECT_EQ(batch_mask_key(1, Split::train, 3), batch_mask_key(1, Split::train, 3));
}

/// The tasks that need no files, with batches, windows and streams.
std::vector<TaskConfig> generated_tasks() {
  return {
      {.name = "add", .add = {.length = 9}},
      {.name = "add", .add = {.length = 9, .layout = {.stream = true, .window = 4, .history = 5}}},
      {.name = "copy", .copy = {.length = 5}},
      {.name = "copy", .copy = {.length = 5, .symbols = 7, .layout = {.stream = true, .window = 7, .history = 3}}},
      {.name = "recall", .recall = {.length = 13, .history = 10}},
      {.name = "recall",
       .recall = {.length = 13, .generator = RecallGenerator::reference, .variable = true, .history = 40}},
      {.name = "recall", .recall = {.length = 13, .steps = 30}},
      {.name = "cycle_world", .cycle_world = {.length = 7}},
      {.name = "stochastic_world", .stochastic_world = {.length = 100, .history = 20}},
      {.name = "stochastic_world", .stochastic_world = {.length = 100, .lags = {15, 30}, .steps = 250}},
  };
}

class GeneratedTask : public ::testing::TestWithParam<TaskConfig> {};

TEST_P(GeneratedTask, IsAPureFunctionOfItsArguments) {
  const std::unique_ptr<Task> task = make_task(GetParam(), 1);
  std::vector<std::vector<double>> in_order;
  for (std::uint64_t batch = 0; batch < 8; ++batch) in_order.push_back(contents(*task, Split::train, batch, 3));
  for (const std::uint64_t batch : {5u, 2u, 2u, 7u, 0u, 3u}) {
    EXPECT_EQ(contents(*task, Split::train, batch, 3), in_order[batch]) << "batch " << batch;
    contents(*task, Split::test, batch, 5);
    EXPECT_EQ(contents(*task, Split::train, batch, 3), in_order[batch]) << "batch " << batch;
    EXPECT_EQ(contents(*make_task(GetParam(), 1), Split::train, batch, 3), in_order[batch]) << "batch " << batch;
  }
}

TEST_P(GeneratedTask, SeedsAndSplitsDiffer) {
  if (GetParam().name == "cycle_world") return;  // nothing in it is random
  const std::unique_ptr<Task> task = make_task(GetParam(), 1);
  const std::vector<double> first = contents(*task, Split::train, 1, 3);
  EXPECT_NE(first, contents(*task, Split::validation, 1, 3));
  EXPECT_NE(first, contents(*task, Split::test, 1, 3));
  EXPECT_NE(contents(*task, Split::validation, 1, 3), contents(*task, Split::test, 1, 3));
  EXPECT_NE(first, contents(*make_task(GetParam(), 2), Split::train, 1, 3));
}

TEST_P(GeneratedTask, FitsItsOwnShapes) {
  const std::unique_ptr<Task> task = make_task(GetParam(), 1);
  const Window& window = task->make_batch(Split::train, 0, 4);
  validate(window);
  EXPECT_LE(window.steps, task->steps());
  EXPECT_EQ(window.batch, 4);
  EXPECT_FALSE(window.continues);
  EXPECT_EQ(window.sources[0].reals, task->input().reals);
  EXPECT_EQ(metric_name(task->metrics().front()), find_task(GetParam().name).metric);
  EXPECT_FALSE(task->baseline_text().empty());
  EXPECT_REFUSED(task->make_batch(Split::train, 0, 0), "at least 1 row");
  EXPECT_REFUSED(task->make_batch(Split::train, std::uint64_t{1} << 46, 1), "does not exist");
  for (int step = 0; step < window.steps; ++step)
    for (int row = 0; row < window.batch; ++row) {
      if (task->input().vocabulary > 0) {
        EXPECT_GE(token_at(window, step, row), 0);
        EXPECT_LT(token_at(window, step, row), task->input().vocabulary);
      }
      if (task->head().name == "softmax") {
        EXPECT_GE(label_at(window, step, row), 0);
        EXPECT_LT(label_at(window, step, row), task->head().outputs);
      }
    }
}

INSTANTIATE_TEST_SUITE_P(All, GeneratedTask, ::testing::ValuesIn(generated_tasks()),
                         [](const auto& arm) { return arm.param.name + "_" + std::to_string(arm.index); });

TEST(Registry, EveryTaskSaysWhatItIs) {
  const std::vector<const TaskType*> tasks = all_tasks();
  EXPECT_EQ(tasks.size(), 12u);
  for (const TaskType* task : tasks) {
    EXPECT_FALSE(task->description.empty());
    EXPECT_NE(task->make, nullptr);
  }
  EXPECT_REFUSED(make_task(TaskConfig{.name = "cycle_word"}, 1),
                 "[task] unknown task 'cycle_word'; did you mean 'cycle_world'");
}

TEST(Validation, IsGivenBackWhereItWasHeldOut) {
  TaskConfig images{.name = "mnist"};
  EXPECT_EQ(give_back_validation(images), HeldOut::given_back);
  EXPECT_EQ(images.mnist.validation, 0);
  TaskConfig series{.name = "series"};
  EXPECT_EQ(give_back_validation(series), HeldOut::given_back);
  EXPECT_EQ(series.series.splits[1], 0);
  EXPECT_DOUBLE_EQ(series.series.splits[0] + series.series.splits[2], 1);
  TaskConfig text{.name = "text", .text = {.corpus = TextCorpus::files, .files = {"one"}, .splits = {0.5, 0.25, 0.25}}};
  EXPECT_EQ(give_back_validation(text), HeldOut::given_back);
  EXPECT_EQ(text.text.splits, (std::vector<double>{0.75, 0, 0.25}));
}

TEST(Validation, OfItsOwnFileIsKeptAndGeneratedIsNothing) {
  TaskConfig ptb{.name = "text", .text = {.corpus = TextCorpus::ptb}};
  EXPECT_EQ(give_back_validation(ptb), HeldOut::kept);
  TaskConfig files{.name = "recall", .recall = {.generator = RecallGenerator::files}};
  EXPECT_EQ(give_back_validation(files), HeldOut::kept);
  for (const char* name : {"add", "copy", "recall", "cycle_world", "stochastic_world"}) {
    TaskConfig config{.name = name};
    EXPECT_EQ(give_back_validation(config), HeldOut::nothing) << name;
  }
}

}  // namespace
}  // namespace throughtime::testing

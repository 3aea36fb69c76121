#include "tasks/sequences/sequence_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "support/errors.h"
#include "tasks/task_support.h"

namespace throughtime::testing {
namespace {

/// Sequences of three steps that show their own number; 10 to train on, 4 to test, none to validate.
class CountedSet final : public SequenceSet {
 public:
  const SequenceShape& shape() const override { return shape_; }
  std::vector<Metric> metrics() const override { return {Metric::accuracy}; }
  double baseline() const override { return 0.1; }
  std::string baseline_text() const override { return "a guess"; }
  bool endless() const override { return false; }
  std::int64_t size(Split split) const override { return split == Split::train ? 10 : split == Split::test ? 4 : 0; }
  void write(Split split, std::uint64_t number, int, const SequenceSpan& out) const override {
    const int id = static_cast<int>(number) + (split == Split::test ? 10 : 0);
    for (std::size_t step = 0; step < 3; ++step) out.tokens[step] = id;
    out.labels[0] = id;
  }

 private:
  SequenceShape shape_ = {.length = 3,
                          .input = {.vocabulary = 14},
                          .head = {.name = "softmax", .outputs = 14},
                          .labels = true,
                          .one_target = true,
                          .first_loss = 2};
};

std::unique_ptr<Task> counted(std::uint64_t seed, const SequenceLayout& layout = {}) {
  return make_sequence_task("counted", layout, seed, std::make_unique<CountedSet>());
}

/// The examples with a loss in one pass of batches, in order.
std::vector<int> examples(Task& task, Split split, std::int64_t pass, int batch) {
  std::vector<int> seen;
  const std::int64_t batches = task.batches(split, batch);
  for (std::int64_t i = pass * batches; i < (pass + 1) * batches; ++i) {
    const Window& window = task.make_batch(split, static_cast<std::uint64_t>(i), batch);
    validate(window);
    for (int step = 0; step < window.steps; ++step)
      for (int row = 0; row < batch; ++row)
        if (window.weight_at(step, row) != 0) {
          EXPECT_EQ(label_at(window, step, row), token_at(window, step, row));
          seen.push_back(label_at(window, step, row));
        }
  }
  return seen;
}

std::vector<int> sorted(std::vector<int> values) {
  std::ranges::sort(values);
  return values;
}

const std::vector<int> all_training = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};

TEST(SequenceTask, APassShowsEveryExampleOnceWhateverTheBatch) {
  for (const int batch : {1, 3, 4, 5, 10, 12}) {
    const auto task = counted(1);
    EXPECT_EQ(task->batches(Split::train, batch), (10 + batch - 1) / batch);
    for (std::int64_t pass = 0; pass < 3; ++pass)
      EXPECT_EQ(sorted(examples(*task, Split::train, pass, batch)), all_training) << batch;
    EXPECT_EQ(examples(*task, Split::test, 0, batch), (std::vector<int>{10, 11, 12, 13}));
    EXPECT_EQ(examples(*task, Split::test, 1, batch), (std::vector<int>{10, 11, 12, 13}));
  }
}

TEST(SequenceTask, PassesAndSeedsHaveTheirOwnOrder) {
  const auto task = counted(1);
  const std::vector<int> first = examples(*task, Split::train, 0, 4);
  const std::vector<int> second = examples(*task, Split::train, 1, 4);
  EXPECT_NE(first, second);
  EXPECT_NE(first, all_training);
  EXPECT_EQ(first, examples(*task, Split::train, 0, 4));
  EXPECT_EQ(first, examples(*counted(1), Split::train, 0, 10));  // the order does not depend on the batch
  EXPECT_NE(first, examples(*counted(2), Split::train, 0, 4));
}

TEST(SequenceTask, LeavesOverRowsOfTheLastBatch) {
  const auto task = counted(1);
  const Window& last = task->make_batch(Split::train, 2, 4);
  EXPECT_EQ(last.batch, 4);
  EXPECT_EQ(last.weight, (std::vector<float>{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0}));
  EXPECT_EQ(task->make_batch(Split::train, 3, 4).weight, (std::vector<float>{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1}));
}

TEST(SequenceTask, NumbersItsExamples) {
  const auto task = counted(1);
  EXPECT_EQ(task->examples(), 10);
  EXPECT_TRUE(task->terminal());
  for (std::uint64_t i = 0; i < 6; ++i) {
    const Window& window = task->make_batch(Split::train, i, 4);
    for (int row = 0; row < 4; ++row) {
      const bool shown = window.weight_at(2, row) != 0;
      EXPECT_EQ(window.example[static_cast<std::size_t>(row)], shown ? token_at(window, 0, row) : -1);
    }
  }
  const auto generated = make_task(AddConfig{.length = 5}, 1);
  EXPECT_EQ(generated->examples(), 0);
  EXPECT_TRUE(generated->terminal());
  EXPECT_TRUE(generated->make_batch(Split::train, 0, 2).example.empty());
  EXPECT_FALSE(make_task(CopyConfig{.length = 5}, 1)->terminal());
}

TEST(SequenceTask, SaysThatASplitIsEmpty) {
  const auto task = counted(1);
  EXPECT_FALSE(task->has(Split::validation));
  EXPECT_TRUE(task->has(Split::test));
  EXPECT_REFUSED(task->make_batch(Split::validation, 0, 2), "no examples in the validation split");
  EXPECT_REFUSED(counted(1, {.stream = true})->make_batch(Split::validation, 0, 2), "no examples");
}

TEST(SequenceTask, CountsTheStepsWithALoss) {
  EXPECT_EQ(counted(1)->loss_steps(), 1);
  EXPECT_EQ(make_task(CopyConfig{.length = 5}, 1)->loss_steps(), 25);
}

TEST(SequenceStream, ShowsThePassesOfTheBatchesEndToEnd) {
  for (const int window : {1, 2, 3, 7}) {
    const auto batches = counted(1);
    const auto stream = counted(1, {.stream = true, .window = window, .history = 4});
    EXPECT_EQ(stream->steps(), window);
    EXPECT_EQ(stream->batches(Split::train, 4), (9 + window - 1) / window);
    for (std::int64_t pass = 0; pass < 3; ++pass) {
      EXPECT_EQ(sorted(examples(*stream, Split::train, pass, 4)), all_training);
      EXPECT_EQ(sorted(examples(*stream, Split::train, pass, 4)), sorted(examples(*batches, Split::train, pass, 4)));
    }
  }
}

/// Steps of row `row` of a stream as (token, weight, reset), through the first `count` windows.
std::vector<std::array<double, 3>> steps_of(Task& task, int row, int rows, int count) {
  std::vector<std::array<double, 3>> steps;
  for (int i = 0; i < count; ++i) {
    const Window& window = task.make_batch(Split::train, static_cast<std::uint64_t>(i), rows);
    EXPECT_EQ(window.continues, i > 0);
    EXPECT_EQ(window.start[static_cast<std::size_t>(row)], static_cast<std::int64_t>(steps.size()));
    for (int step = 0; step < window.steps; ++step)
      steps.push_back({static_cast<double>(token_at(window, step, row)), window.weight_at(step, row),
                       static_cast<double>(window.resets_at(step, row))});
  }
  return steps;
}

TEST(SequenceStream, RowsReadEveryBthSequenceAndResetAtItsStart) {
  const auto batches = counted(1);
  const auto stream = counted(1, {.stream = true, .window = 2, .history = 1});
  for (const int row : {0, 1}) {
    const auto steps = steps_of(*stream, row, 2, 16);  // two passes of five sequences
    ASSERT_EQ(steps.size(), 30u);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const Window& window = batches->make_batch(Split::train, i / 3, 2);
      EXPECT_EQ(steps[i][0], token_at(window, 0, row)) << i;
      EXPECT_EQ(steps[i][1], i % 3 == 2) << i;
      EXPECT_EQ(steps[i][2], i % 3 == 0) << i;
    }
  }
}

TEST(SequenceStream, CanKeepItsStateBetweenSequences) {
  const auto stream = counted(1, {.stream = true, .window = 4, .reset = false});
  for (const auto& step : steps_of(*stream, 0, 2, 8)) EXPECT_EQ(step[2], 0);
}

TEST(SequenceStream, AnEndlessSetGoesOnForever) {
  const auto stream = make_task(CopyConfig{.length = 4, .layout = {.stream = true, .window = 10}}, 1);
  const auto batches = make_task(CopyConfig{.length = 4}, 1);
  EXPECT_EQ(stream->batches(Split::train, 2), 0);
  const std::uint64_t far = 12'000'000;  // windows of 10: sequence 5,000,000 begins here
  const Window& window = stream->make_batch(Split::train, far, 2);
  const Window& whole = batches->make_batch(Split::train, 5'000'000, 2);
  for (int step = 0; step < 10; ++step) {
    EXPECT_EQ(token_at(window, step, 1), token_at(whole, step, 1));
    EXPECT_EQ(label_at(window, step, 1), label_at(whole, step, 1));
  }
}

}  // namespace
}  // namespace throughtime::testing

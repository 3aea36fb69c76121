#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "support/errors.h"
#include "throughtime/task.h"

namespace throughtime {
namespace {

std::unique_ptr<Task> make_add(int length, std::uint64_t seed = 1, AddMarkers markers = AddMarkers::halves) {
  return make_task(AddConfig{.length = length, .markers = markers}, seed);
}

/// Positions of the markers of a row.
std::vector<int> markers_of(const Window& window, int row) {
  std::vector<int> positions;
  const Source& source = window.sources[0];
  for (int step = 0; step < window.steps; ++step) {
    const float marker = source.values[2 * static_cast<std::size_t>(window.start[row] + step) + 1];
    EXPECT_TRUE(marker == 0.0f || marker == 1.0f);
    if (marker == 1.0f) positions.push_back(step);
  }
  return positions;
}

std::vector<float> copy_of(const Window& window) {
  return {window.sources[0].values.begin(), window.sources[0].values.end()};
}

TEST(AddTask, AsksForARegressionOfOneNumberFromTwo) {
  const std::unique_ptr<Task> task = make_add(20);
  EXPECT_EQ(task->input().reals, 2);
  EXPECT_EQ(task->head().name, "regression");
  EXPECT_EQ(task->head().outputs, 1);
  EXPECT_EQ(task->steps(), 20);
  EXPECT_EQ(find_task("add").metric, "mse");
}

TEST(AddTask, MakesAWindowWithOneLossAtTheEndOfEachRow) {
  const std::unique_ptr<Task> task = make_add(7);
  const Window& window = task->make_batch(Split::train, 0, 5);
  validate(window);
  EXPECT_EQ(window.sources[0].steps, 35u);
  for (int row = 0; row < 5; ++row) {
    EXPECT_EQ(window.start[row], 7 * row);
    for (int step = 0; step < 7; ++step) {
      EXPECT_EQ(window.weight_at(step, row), step == 6 ? 1.0f : 0.0f);
      EXPECT_EQ(window.resets_at(step, row), step == 0);
    }
  }
}

TEST(AddTask, MarksOneNumberInEachHalfAndAsksForTheirSum) {
  for (const int length : {2, 3, 10, 11, 64}) {
    const std::unique_ptr<Task> task = make_add(length);
    std::vector<int> seen(static_cast<std::size_t>(length));
    for (std::uint64_t iteration = 0; iteration < 20; ++iteration) {
      const Window& window = task->make_batch(Split::train, iteration, 50);
      for (int row = 0; row < window.batch; ++row) {
        const std::vector<int> markers = markers_of(window, row);
        ASSERT_EQ(markers.size(), 2u);
        EXPECT_LT(markers[0], length / 2);
        EXPECT_GE(markers[1], (length + 1) / 2);
        float sum = 0;
        for (const int step : markers) {
          const float value = window.sources[0].values[2 * static_cast<std::size_t>(window.start[row] + step)];
          EXPECT_GE(value, 0.0f);
          EXPECT_LT(value, 1.0f);
          sum += value;
          ++seen[static_cast<std::size_t>(step)];
        }
        EXPECT_EQ(window.targets.values[row], sum);
      }
    }
    // Every position is used, except the middle of an odd length.
    for (int step = 0; step < length; ++step)
      EXPECT_EQ(seen[static_cast<std::size_t>(step)] > 0, length % 2 == 0 || step != length / 2)
          << length << " " << step;
  }
}

TEST(AddTask, MarksAnyTwoNumbersWhenAsked) {
  const std::unique_ptr<Task> task = make_add(4, 1, AddMarkers::anywhere);
  std::vector<int> pairs(16);
  for (std::uint64_t iteration = 0; iteration < 20; ++iteration) {
    const Window& window = task->make_batch(Split::train, iteration, 60);
    for (int row = 0; row < window.batch; ++row) {
      const std::vector<int> markers = markers_of(window, row);
      ASSERT_EQ(markers.size(), 2u);
      ++pairs[static_cast<std::size_t>(4 * markers[0] + markers[1])];
    }
  }
  // Six pairs share 1200 rows: 200 each, with a deviation of 13.
  for (int first = 0; first < 4; ++first)
    for (int second = first + 1; second < 4; ++second) EXPECT_NEAR(pairs[4 * first + second], 200, 60);
}

TEST(AddTask, ConstantOneHasTheBaselineError) {
  const std::unique_ptr<Task> task = make_add(2);
  double sum = 0;
  for (std::uint64_t iteration = 0; iteration < 1000; ++iteration)
    for (const float target : task->make_batch(Split::test, iteration, 1000).targets.values)
      sum += (target - 1.0) * (target - 1.0);
  EXPECT_NEAR(sum / 1e6, 1.0 / 6, 0.0006);  // three deviations: the variance of the squared error is 7/180
  EXPECT_DOUBLE_EQ(task->baseline(), 1.0 / 6);
  EXPECT_DOUBLE_EQ(task->metric(0.25), 0.25);
}

TEST(AddTask, IsAPureFunctionOfSeedSplitAndIteration) {
  const std::unique_ptr<Task> task = make_add(9);
  const std::vector<float> first = copy_of(task->make_batch(Split::train, 3, 4));
  EXPECT_NE(first, copy_of(task->make_batch(Split::train, 4, 4)));
  EXPECT_NE(first, copy_of(task->make_batch(Split::validation, 3, 4)));
  EXPECT_NE(first, copy_of(task->make_batch(Split::test, 3, 4)));
  EXPECT_NE(copy_of(task->make_batch(Split::validation, 3, 4)), copy_of(task->make_batch(Split::test, 3, 4)));
  EXPECT_EQ(first, copy_of(task->make_batch(Split::train, 3, 4)));
  EXPECT_EQ(first, copy_of(make_add(9)->make_batch(Split::train, 3, 4)));
  EXPECT_NE(first, copy_of(make_add(9, 2)->make_batch(Split::train, 3, 4)));
}

TEST(AddTask, RowsDoNotDependOnTheSizeOfTheBatch) {
  const std::unique_ptr<Task> task = make_add(9);
  const std::vector<float> small = copy_of(task->make_batch(Split::train, 3, 2));
  const std::vector<float> large = copy_of(task->make_batch(Split::train, 3, 6));
  EXPECT_TRUE(std::equal(small.begin(), small.end(), large.begin()));
}

TEST(AddTask, ReusesItsStorage) {
  const std::unique_ptr<Task> task = make_add(30);
  const Window& window = task->make_batch(Split::train, 0, 8);
  const float* values = window.sources[0].values.data();
  const float* targets = window.targets.values.data();
  const float* weight = window.weight.data();
  const StepFlag* flags = window.flags.data();
  const std::int64_t* start = window.start.data();
  for (const int batch : {8, 3, 8}) {
    EXPECT_EQ(&task->make_batch(Split::validation, 1, batch), &window);
    EXPECT_EQ(window.batch, batch);
    EXPECT_EQ(window.sources[0].values.data(), values);
    EXPECT_EQ(window.targets.values.data(), targets);
    EXPECT_EQ(window.weight.data(), weight);
    EXPECT_EQ(window.flags.data(), flags);
    EXPECT_EQ(window.start.data(), start);
    validate(window);
  }
}

TEST(AddTask, RefusesWhatItCannotMake) {
  EXPECT_REFUSED(make_add(1), "task.add.length must be at least 2");
  EXPECT_REFUSED(choice_of<AddMarkers>("halfs", "add", "markers"), "did you mean 'halves'");
  EXPECT_REFUSED(make_add(8)->make_batch(Split::train, 0, 0), "at least 1 row");
  EXPECT_REFUSED(make_add(8)->make_batch(Split::train, std::uint64_t{1} << 46, 1), "does not exist");
  EXPECT_REFUSED(make_task({.name = "ad"}, 1), "did you mean 'add'");
}

}  // namespace
}  // namespace throughtime

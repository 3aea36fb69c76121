#include <gtest/gtest.h>

#include <set>

#include "support/errors.h"
#include "tasks/task_support.h"

namespace throughtime {
namespace {

using testing::contents;

TaskConfig config_of(const std::string& name) {
  return {.name = name,
          .add = {.length = 40},
          .copy = {.length = 40},
          .recall = {.length = 40},
          .cycle_world = {.length = 40, .period = 5},
          .stochastic_world = {.length = 40}};
}

std::vector<TaskConfig> configs() {
  std::vector<TaskConfig> list;
  for (const char* name : {"add", "copy", "recall", "cycle_world", "stochastic_world"}) list.push_back(config_of(name));
  TaskConfig variable = config_of("recall");
  variable.recall.variable = true;
  variable.recall.steps = 400;
  list.push_back(variable);
  TaskConfig stream = config_of("add");
  stream.add.layout = {.stream = true, .window = 7};
  list.push_back(stream);
  return list;
}

TEST(Positions, AreAPureFunctionThatLeavesBatchesAlone) {
  for (const TaskConfig& config : configs()) {
    SCOPED_TRACE(config.name);
    const std::unique_ptr<Task> task = make_task(config, 5), untouched = make_task(config, 5);
    const std::vector<double> first = contents(task->make_positions(0, 4, 6, 30));
    for (std::uint64_t i = 0; i < 5; ++i) {
      const Window& batch = task->make_batch(Split::train, i, 4);
      task->make_positions(i, 4, 3, 20);  // the batch must stay readable
      validate(batch);
      EXPECT_EQ(contents(batch), contents(untouched->make_batch(Split::train, i, 4)));
      EXPECT_EQ(batch.mask_key, untouched->make_batch(Split::train, i, 4).mask_key);
    }
    EXPECT_EQ(contents(task->make_positions(0, 4, 6, 30)), first);
    EXPECT_NE(contents(task->make_positions(1, 4, 6, 30)), first);
  }
}

TEST(Positions, HaveOneLossEachAtTheLastStep) {
  for (const TaskConfig& config : configs()) {
    SCOPED_TRACE(config.name);
    const std::unique_ptr<Task> task = make_task(config, 5);
    for (std::uint64_t draw = 0; draw < 20; ++draw) {
      const Window& window = task->make_positions(draw, 4, 6, 30);
      validate(window);
      ASSERT_EQ(window.steps, 30);
      ASSERT_EQ(window.batch, 6);
      for (int step = 0; step < 30; ++step)
        for (int row = 0; row < 6; ++row) EXPECT_EQ(window.weight_at(step, row), step == 29 ? 1.0f : 0.0f);
    }
  }
}

TEST(Positions, AreDataOfTheColumns) {
  // A recall stream of one block length: what is asked for at a place is what the stream asks for there.
  const std::unique_ptr<Task> task = make_task(RecallConfig{.length = 200, .steps = 200}, 5);
  std::set<std::vector<std::int32_t>> columns;
  const Window& batch = task->make_batch(Split::train, 0, 4);
  for (int row = 0; row < 4; ++row)
    for (int start = 0; start + 30 <= 200; ++start) {
      std::vector<std::int32_t> part;
      for (int step = 0; step < 30; ++step) part.push_back(testing::token_at(batch, start + step, row));
      part.push_back(testing::label_at(batch, start + 29, row));
      columns.insert(part);
    }
  for (std::uint64_t draw = 0; draw < 5; ++draw) {
    const Window& window = task->make_positions(draw, 4, 6, 30);
    for (int row = 0; row < 6; ++row) {
      std::vector<std::int32_t> part;
      for (int step = 0; step < 30; ++step) part.push_back(testing::token_at(window, step, row));
      part.push_back(testing::label_at(window, 29, row));
      EXPECT_EQ(columns.count(part), 1u);
    }
  }
}

TEST(Positions, OfASequenceMayBeginBeforeIt) {
  // copy of length 40: losses at every step, so places early in a sequence begin with padding and a reset.
  const std::unique_ptr<Task> task = make_task(config_of("copy"), 5);
  int padded = 0;
  for (std::uint64_t draw = 0; draw < 10; ++draw) {
    const Window& window = task->make_positions(draw, 4, 6, 30);
    for (int row = 0; row < 6; ++row)
      if (window.start[row] < 0) {
        ++padded;
        EXPECT_TRUE(window.resets_at(static_cast<int>(-window.start[row]), row));
      }
  }
  EXPECT_GT(padded, 0);
}

TEST(Positions, RefuseDataThatIsTooShort) {
  EXPECT_REFUSED(make_task(config_of("add"), 5)->make_positions(0, 4, 6, 41),
                 "[add] lags and burn-in together (41 steps) are longer than a row of the training data (40 steps)");
  EXPECT_REFUSED(make_task(RecallConfig{.length = 40, .steps = 25}, 5)->make_positions(0, 4, 6, 30),
                 "lower lags or burn_in of the learner");
}

}  // namespace
}  // namespace throughtime

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "allocations/counted_new.h"
#include "tasks/task_support.h"

namespace throughtime::testing {
namespace {

void expect_steady(const TaskConfig& config) {
  const auto task = make_task(config, 1);
  for (const Split split : {Split::train, Split::validation}) task->make_batch(split, 0, 6);
  const std::int64_t before = allocations();
  for (std::uint64_t batch = 0; batch < 40; ++batch) {
    task->make_batch(Split::train, batch, 6);
    if (batch % 10 == 0) task->make_batch(Split::validation, batch, 6);
  }
  EXPECT_EQ(allocations() - before, 0) << config.name;
}

TEST(MakingBatches, AllocatesNothingOnceItHasBegun) {
  expect_steady({.name = "add", .add = {.length = 20}});
  expect_steady({.name = "add", .add = {.length = 20, .layout = {.stream = true, .window = 7, .history = 9}}});
  expect_steady({.name = "copy", .copy = {.length = 20}});
  expect_steady({.name = "recall", .recall = {.length = 9, .variable = true, .history = 30}});
  expect_steady({.name = "recall", .recall = {.length = 9, .steps = 40}});
  expect_steady({.name = "cycle_world", .cycle_world = {.length = 9, .history = 3}});
  expect_steady({.name = "stochastic_world", .stochastic_world = {.length = 300}});
  ScratchDirectory directory;
  std::string text, numbers;
  for (int i = 0; i < 500; ++i) {
    text += fmt::format("w{} ", i % 7);
    numbers += std::to_string(i % 5) + "," + std::to_string(i) + "\n";
  }
  expect_steady({.name = "text",
                 .text = {.length = 8,
                          .corpus = TextCorpus::files,
                          .files = {directory.write("text.txt", text)},
                          .splits = {0.6, 0.2, 0.2}}});
  expect_steady({.name = "series", .series = {.length = 8, .path = directory.write("numbers.csv", numbers)}});
}

}  // namespace
}  // namespace throughtime::testing

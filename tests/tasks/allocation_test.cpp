// Counts what making a batch allocates. This program replaces the global operator new for that.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "tasks/task_support.h"

namespace {
std::atomic<std::int64_t> allocations{0};

void* counted(std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* block = std::malloc(size > 0 ? size : 1)) return block;
  throw std::bad_alloc();
}
}  // namespace

void* operator new(std::size_t size) { return counted(size); }
void* operator new[](std::size_t size) { return counted(size); }
void operator delete(void* block) noexcept { std::free(block); }
void operator delete[](void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }
void operator delete[](void* block, std::size_t) noexcept { std::free(block); }

namespace throughtime::testing {
namespace {

void expect_steady(const TaskConfig& config) {
  const auto task = make_task(config, 1);
  for (const Split split : {Split::train, Split::validation}) task->make_batch(split, 0, 6);
  const std::int64_t before = allocations.load();
  for (std::uint64_t batch = 0; batch < 40; ++batch) {
    task->make_batch(Split::train, batch, 6);
    if (batch % 10 == 0) task->make_batch(Split::validation, batch, 6);
  }
  EXPECT_EQ(allocations.load() - before, 0) << config.name;
}

TEST(MakingBatches, AllocatesNothingOnceItHasBegun) {
  expect_steady({.name = "add", .length = 20});
  expect_steady({.name = "add", .length = 20, .stream = true, .window = 7, .history = 9});
  expect_steady({.name = "copy", .length = 20});
  expect_steady({.name = "recall", .length = 9, .variable = true, .history = 30});
  expect_steady({.name = "recall", .length = 9, .steps = 40});
  expect_steady({.name = "cycle_world", .length = 9, .history = 3});
  expect_steady({.name = "stochastic_world", .length = 300});
  ScratchDirectory directory;
  std::string text, numbers;
  for (int i = 0; i < 500; ++i) {
    text += "w" + std::to_string(i % 7) + " ";
    numbers += std::to_string(i % 5) + "," + std::to_string(i) + "\n";
  }
  expect_steady({.name = "text",
                 .length = 8,
                 .corpus = "files",
                 .files = {directory.write("text.txt", text)},
                 .splits = {0.6, 0.2, 0.2}});
  expect_steady({.name = "series", .length = 8, .path = directory.write("numbers.csv", numbers)});
}

}  // namespace
}  // namespace throughtime::testing

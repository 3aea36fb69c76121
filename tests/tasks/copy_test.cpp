#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "support/errors.h"
#include "tasks/task_support.h"

namespace throughtime::testing {
namespace {

TEST(CopyTask, WaitsThenAsksForTheTenSymbols) {
  for (const int symbols : {8, 7}) {
    for (const int wait : {1, 30}) {
      const auto task = make_task(CopyConfig{.length = wait, .symbols = symbols}, 1);
      const std::int32_t blank = symbols, delimiter = symbols + 1;
      EXPECT_EQ(task->steps(), wait + 20);
      EXPECT_EQ(task->input().vocabulary, symbols + 2);
      EXPECT_EQ(task->head().outputs, symbols + 2);
      const Window& window = task->make_batch(Split::train, 4, 6);
      for (int row = 0; row < 6; ++row) {
        for (int step = 0; step < window.steps; ++step) {
          const std::int32_t token = token_at(window, step, row), label = label_at(window, step, row);
          EXPECT_EQ(window.weight_at(step, row), 1.0f);
          EXPECT_EQ(window.resets_at(step, row), step == 0);
          if (step < 10) {
            EXPECT_LT(token, symbols);
          } else {
            EXPECT_EQ(token, step == 10 + wait - 1 ? delimiter : blank) << step;
          }
          EXPECT_EQ(label, step < wait + 10 ? blank : token_at(window, step - wait - 10, row)) << step;
        }
      }
    }
  }
}

TEST(CopyTask, HasTheMemorylessLevelsOfTheAppendix) {
  const auto baseline = [](int wait, int symbols) {
    return make_task(CopyConfig{.length = wait, .symbols = symbols}, 1)->baseline();
  };
  EXPECT_NEAR(baseline(30, 8), 0.415888, 5e-7);
  EXPECT_NEAR(baseline(200, 8), 0.0945201, 5e-8);
  EXPECT_NEAR(baseline(30, 7), 0.389, 5e-4);
  EXPECT_NEAR(baseline(200, 7), 0.0885, 5e-5);
}

TEST(CopyTask, DrawsEverySymbolEquallyOften) {
  const auto task = make_task(CopyConfig{.length = 1}, 1);
  std::array<int, 8> counts = {};
  const Window& window = task->make_batch(Split::train, 0, 4000);
  for (int row = 0; row < 4000; ++row)
    for (int step = 0; step < 10; ++step) ++counts[static_cast<std::size_t>(token_at(window, step, row))];
  for (const int count : counts) EXPECT_NEAR(count, 5000, 4 * std::sqrt(40000 * 7.0 / 64));
}

TEST(CopyTask, RefusesWhatItCannotMake) {
  EXPECT_REFUSED(make_task(CopyConfig{.length = 0}, 1), "task.copy.length");
  EXPECT_REFUSED(make_task(CopyConfig{.symbols = 1}, 1), "task.copy.symbols");
}

}  // namespace
}  // namespace throughtime::testing

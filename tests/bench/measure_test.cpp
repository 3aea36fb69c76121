#include "bench/measure.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "throughtime/error.h"

namespace throughtime::bench {
namespace {

TEST(Median, IsTheMiddleValueWhateverTheOrder) {
  EXPECT_EQ(median({5, 1, 3}), 3);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median({7}), 7);
}

TEST(Median, OfNothingIsRefused) {
  EXPECT_THROW(median({}), InvalidInput);
  EXPECT_THROW(minimum({}), InvalidInput);
}

TEST(MedianOfRatios, ComparesPairsNotMedians) {
  // The machine was slow in the last two rounds: each pair says 2.
  EXPECT_EQ(median_of_ratios({2, 20, 40}, {1, 10, 20}), 2);
  EXPECT_EQ(median_of_ratios({1, 9, 9}, {1, 3, 9}), 1);
  EXPECT_THROW(median_of_ratios({1, 2}, {1}), InvalidInput);
}

TEST(MeasureInTurn, AlternatesBetweenSubjects) {
  std::string order;
  const auto slow = [&order](char name) {
    return [&order, name] {
      order += name;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    };
  };
  const auto times = measure_in_turn({slow('a'), slow('b')}, {.repeats = 3, .least = 1, .sample_seconds = 0.001});
  ASSERT_EQ(times.size(), 2u);
  EXPECT_EQ(times[0].size(), 3u);
  EXPECT_EQ(order.substr(order.size() - 6), "ababab");
  for (double milliseconds : times[0]) EXPECT_GE(milliseconds, 2);
}

TEST(MeasureInTurn, WaitsBeforeEveryLookAtTheClock) {
  std::string order;
  measure_in_turn({[&] { order += 'a'; }, [&] { order += 'b'; }}, {.repeats = 2, .least = 2, .sample_seconds = 0},
                  [&] { order += '|'; });
  EXPECT_EQ(order, "|a||a||b||b||a||b||a||b|");
}

TEST(MeasureInTurn, ShortRunsShareASample) {
  int runs = 0;
  const auto times = measure_in_turn({[&runs] { ++runs; }}, {.repeats = 2, .least = 2, .sample_seconds = 0.01});
  EXPECT_EQ(times[0].size(), 2u);
  EXPECT_GT(runs, 1000);
  EXPECT_LT(times[0][0], 1);  // milliseconds per run; a sample takes ten
}

TEST(MeasureInTurn, ProcessorTimeStandsStillWhileNothingRuns) {
  const auto sleep = [] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
  const Effort effort = {.repeats = 2, .least = 2, .sample_seconds = 0, .time = TimeOf::cpu};
  const auto times = measure_in_turn({sleep}, effort);
  for (const double milliseconds : times[0]) EXPECT_LT(milliseconds, 10);
}

TEST(MeasureInTurn, StopsAtItsTimeButNotBeforeTheLeast) {
  const auto run = [] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); };
  EXPECT_EQ(measure_in_turn({run}, {.repeats = 50, .least = 4, .seconds = 0, .sample_seconds = 0})[0].size(), 4u);
}

TEST(MeasureInTurn, ProcessorTimeLeavesOutWaits) {
  const auto sleep = [] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
  Effort effort{.repeats = 2, .least = 2, .seconds = 1, .sample_seconds = 1e-9};
  const double wall = minimum(measure_in_turn({sleep}, effort)[0]);
  effort.time = TimeOf::cpu;
  EXPECT_LT(minimum(measure_in_turn({sleep}, effort)[0]), wall);
}

}  // namespace
}  // namespace throughtime::bench

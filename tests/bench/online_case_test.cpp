#include "bench/online_case.h"

#include <gtest/gtest.h>

#include "throughtime/error.h"

namespace throughtime::bench {
namespace {

TEST(OnlineCase, NameSpellsOutTheSizes) {
  const OnlineCase parsed = parse_online_case("online-tbptt-rnn-b2-h32-k10");
  EXPECT_EQ(parsed.learner, "tbptt");
  EXPECT_EQ(parsed.cell, "rnn_tanh");
  EXPECT_EQ(parsed.slots, 2);
  EXPECT_EQ(parsed.hidden, 32);
  EXPECT_EQ(parsed.window, 10);
}

TEST(OnlineCase, RefusesOtherNames) {
  for (const char* name : {"online-tbptt-lstm-b1-h32", "online-tbptt-lstm-b1-h32-k0", "online--lstm-b1-h32-k10",
                           "online-tbptt-lstm-b1-h99999999999-k10"})
    EXPECT_THROW(parse_online_case(name), InvalidInput) << name;
}

TEST(OnlineCase, PercentilesAreValuesOfTheList) {
  std::vector<double> sorted;
  for (int i = 1; i <= 1000; ++i) sorted.push_back(i);
  EXPECT_EQ(percentile(sorted, 0.5), 500);
  EXPECT_EQ(percentile(sorted, 0.99), 990);
  EXPECT_EQ(percentile(sorted, 0.999), 999);
  EXPECT_EQ(percentile({4.0}, 0.999), 4);
  EXPECT_THROW(percentile({}, 0.5), InvalidInput);
}

TEST(OnlineCase, MeasuresAnUpdateForEveryObservation) {
  const OnlineResult result = run_online_case("online-tbptt-rnn-b1-h4-k2", EngineConfig().name, 0);
  EXPECT_GT(result.observations_per_second, 0);
  EXPECT_GT(result.updates_per_second, 0);
  EXPECT_LE(result.latency.p50, result.latency.p99);
  EXPECT_LE(result.cpu_latency.p999, result.cpu_latency.longest);
  EXPECT_GT(result.general_per_cpu_second, 0);
  EXPECT_GT(result.general_ratio, 0);
  EXPECT_GT(run_online_case("online-tbptt-rnn-b2-h4-k2", EngineConfig().name, 0).general_ratio, 0);
  EXPECT_EQ(run_online_case("online-tbptt-rnn-b33-h17-k2", EngineConfig().name, 0).general_ratio, 0)
      << "many slots have one way";
}

}  // namespace
}  // namespace throughtime::bench

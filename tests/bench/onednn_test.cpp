#include "bench/onednn.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "bench/run_case.h"
#include "bench/workload.h"
#include "support/errors.h"

namespace throughtime::bench {
namespace {

constexpr const char* none = "this build has no oneDNN";

/// The largest distance between two lists, as a share of the largest number.
double distance_of(const std::vector<double>& ours, const std::vector<double>& its) {
  double distance = 0, largest = 1e-30;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    distance = std::max(distance, std::abs(ours[i] - its[i]));
    largest = std::max(largest, std::abs(ours[i]));
  }
  return distance / largest;
}

TEST(Onednn, HasTheLossAndTheGradientOfOurs) {
  if (!onednn_version()) GTEST_SKIP() << none;
  for (const char* cell : {"lstm", "gru", "rnn", "rnn_relu", "rnn_logistic"})
    for (const char* sizes : {"b1-h1-t1", "b1-h1-t2", "b3-h5-t7", "b2-h16-t3", "b33-h40-t12", "b16-h64-t50"}) {
      const Case chosen = parse_case(std::string("bptt-") + cell + "-" + sizes);
      Workload ours(chosen, {});
      const std::unique_ptr<Onednn> its = make_onednn(chosen, ours.numbers(), 1);
      for (int run = 1; run <= 2; ++run) {  // a gradient is that of one run, not a sum over runs
        ours.run();
        its->run();
        EXPECT_NEAR(its->loss_sum() / ours.loss_sum(), 1, 1e-4) << chosen.name;
        ASSERT_EQ(its->gradient().size(), ours.gradient().size());
        EXPECT_LT(distance_of(ours.gradient(), its->gradient()), 1e-4) << chosen.name << " run " << run;
      }
    }
}

TEST(Onednn, LearnsInWindowsAsOursDoes) {
  if (!onednn_version()) GTEST_SKIP() << none;
  for (const char* cell : {"lstm", "gru", "rnn"})
    for (const char* sizes : {"b1-h1-t2-k2", "b4-h8-t10-k3", "b4-h8-t10-k1", "b3-h17-t12-k12"}) {
      const Case chosen = parse_case(std::string("windows-") + cell + "-" + sizes);
      Workload ours(chosen, {});
      const std::unique_ptr<Onednn> its = make_onednn(chosen, ours.numbers(), 1);
      for (int run = 1; run <= 30; ++run) {
        const double before = ours.loss_sum(), its_before = its->loss_sum();
        ours.run();
        its->run();
        const double loss = ours.loss_sum() - before, its_loss = its->loss_sum() - its_before;
        EXPECT_NEAR(its_loss, loss, 1e-4 * std::max(1.0, loss)) << chosen.name << " run " << run;
      }
      EXPECT_LT(distance_of(ours.gradient(), its->gradient()), 1e-2) << chosen.name;  // thirty runs of roundings later
    }
}

TEST(Onednn, GivesTheSameWithTwoThreads) {
  if (!onednn_version()) GTEST_SKIP() << none;
  const Case chosen = parse_case("bptt-lstm-b40-h32-t9");
  Workload ours(chosen, {});
  const std::unique_ptr<Onednn> its = make_onednn(chosen, ours.numbers(), 2);
  ours.run();
  its->run();
  EXPECT_LT(distance_of(ours.gradient(), its->gradient()), 1e-4);
}

TEST(Onednn, SaysWhichCasesItHas) {
  for (const char* name : {"bptt-antisymmetric-b1-h2-t3", "bptt-lstm-b1-h2-t3-l2", "fptt-lstm-b1-h2-t4-k2",
                           "lm-lstm-b1-h2-t3-v5", "bptt-gru_reset_before-b1-h2-t3"}) {
    const Case chosen = parse_case(name);
    EXPECT_FALSE(onednn_has(chosen)) << name;
    Workload ours(parse_case("bptt-lstm-b1-h2-t3"), {});
    EXPECT_REFUSED(make_onednn(chosen, ours.numbers(), 1), "oneDNN");
  }
  EXPECT_EQ(onednn_has(parse_case("bptt-gru-b1-h2-t3")), onednn_version().has_value());
}

TEST(Onednn, StandsInTheReportWhereItWasAskedFor) {
  const Effort shortest = {.repeats = 2, .least = 2, .sample_seconds = 1e-4, .time = TimeOf::cpu};
  const CaseResult result =
      run_case("bptt-lstm-b3-h5-t4", {.threads = 2}, {.effort = shortest, .floor = false, .onednn = true});
  EXPECT_FALSE(result.floor_ms);
  EXPECT_EQ(result.onednn_ms.has_value(), onednn_version().has_value());
  EXPECT_EQ(result.onednn_ratio.has_value(), onednn_version().has_value());
  EXPECT_EQ(result.onednn_1_thread_ms.has_value(), onednn_version().has_value());
  EXPECT_FALSE(result.scaling) << "processor time says nothing of what several threads gain";
  const CaseResult other = run_case("fptt-lstm-b2-h4-t6-k2", {}, {.effort = shortest, .onednn = true});
  EXPECT_FALSE(other.onednn_ms) << "it has no such case";
}

}  // namespace
}  // namespace throughtime::bench

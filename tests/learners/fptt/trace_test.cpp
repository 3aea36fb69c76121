// Oracles O5-O8 of the FPTT specification: traces, exact minima, rates and cycles.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "learners/fptt/support.h"

namespace throughtime::testing {
namespace {

class FpttTrace : public FpttOnEngine {};
INSTANTIATE_TEST_SUITE_P(Engines, FpttTrace, ::testing::Values("reference", "cpu"),
                         [](const auto& info) { return info.param; });

TEST_P(FpttTrace, FollowsTheGoldenTraceOfEachForm) {
  struct Trace {
    FpttForm form;
    double kappa;
    std::vector<double> w;
  };
  for (const Trace& trace : {Trace{FpttForm::lambda, 1, {4.7, 4.445, 4.22075, 4.0162625}},
                             Trace{FpttForm::gradient, 1, {4.7, 4.5725, 4.3833125, 4.1742828125}},
                             Trace{FpttForm::gradient, 0.5, {4.7, 4.4375, 4.1365625, 3.8408984375}}}) {
    FpttConfig config = fptt(1, trace.form);
    config.kappa = trace.kappa;
    Parabolas run(GetParam(), {2.0f}, config);
    for (const double wanted : trace.w) {
      run.learn(0.1);
      EXPECT_NEAR(run.w(), wanted, tolerance() * 5) << name_of(trace.form) << " " << trace.kappa;
    }
  }
}

TEST_P(FpttTrace, WeightsMultiplierAndAverageFollowTheGoldenRows) {
  // l = (w - 2)^2 / 2 from 5: one gradient step at alpha = 1/2, and the exact argmin at alpha = 1, where lambda is the
  // gradient at the new W.
  struct Row {
    double w, lambda, average;
  };
  const auto expect_rows = [&](double alpha, double rate, const std::vector<Row>& rows) {
    BareUpdate run(GetParam(), "sgd", {5.0});
    for (const Row& row : rows) {
      run.step({run.read(run.weights)[0] - 2}, rate, alpha);
      EXPECT_NEAR(run.read(run.weights)[0], row.w, tolerance() * 5);
      EXPECT_NEAR(run.read(run.multiplier)[0], row.lambda, tolerance() * 5);
      EXPECT_NEAR(run.read(run.average)[0], row.average, tolerance() * 5);
      if (alpha == 1.0) {
        EXPECT_NEAR(run.read(run.multiplier)[0], run.read(run.weights)[0] - 2, tolerance() * 5);
      }
    }
  };
  expect_rows(
      0.5, 0.1,
      {{4.7, 0.15, 4.7}, {4.445, 0.2775, 4.295}, {4.22075, 0.314625, 3.94325}, {4.0162625, 0.27811875, 3.7016375}});
  expect_rows(1.0, 0.5,
              {{7.0 / 2, 3.0 / 2, 7.0 / 2},
               {7.0 / 2, 3.0 / 2, 11.0 / 4},
               {25.0 / 8, 9.0 / 8, 19.0 / 8},
               {11.0 / 4, 3.0 / 4, 35.0 / 16},
               {79.0 / 32, 15.0 / 32, 67.0 / 32}});
}

TEST_P(FpttTrace, TheAverageOfTheGradientFormFollowsItsGoldenTrace) {
  // |W - W-bar| of both outputs, from W and W-bar of each row.
  for (const auto& [kappa, distances] : {std::pair{1.0, std::vector{2.55, 3.78375, 4.18059375, 4.16006484375}},
                                         std::pair{0.5, std::vector{2.55, 3.58125, 3.77671875, 3.58142578125}}}) {
    FpttConfig config = fptt(1, FpttForm::gradient);
    config.kappa = kappa;
    Parabolas run(GetParam(), {2.0f}, config);
    for (const double distance : distances) {
      run.learn(0.1);
      EXPECT_NEAR(run.learner().diagnostics()[3].value, std::sqrt(2) * distance, tolerance() * 10) << kappa;
    }
  }
}

TEST_P(FpttTrace, WindowsOfOneSequenceAreTheSameTrace) {
  Parabolas run(GetParam(), {2.0f, 2.0f, 2.0f, 2.0f}, fptt(4));
  run.learn(0.1);
  EXPECT_NEAR(run.w(), 4.0162625, tolerance() * 5);
}

TEST_P(FpttTrace, AnExactArgminKeepsLambdaTheGradient) {
  // With the rate 1 / (a + alpha) one gradient step is the argmin, for a = 1.
  Parabolas run(GetParam(), {2.0f}, fptt(1, FpttForm::lambda, 1.0));
  for (const double wanted : {7.0 / 2, 7.0 / 2, 25.0 / 8, 11.0 / 4, 79.0 / 32}) {
    run.learn(0.5);
    EXPECT_NEAR(run.w(), wanted, tolerance() * 5);
  }
}

TEST_P(FpttTrace, TheErrorOfAnExactArgminObeysItsRecursion) {
  // e'' = e' - r / (2 (1 + r)) e with r = a / alpha: real roots up to r = 1, a damped turn beyond.
  for (const double r : {0.1, 0.5, 1.0, 3.0, 10.0}) {
    const double alpha = 1 / r, product = r / (2 * (1 + r));
    Parabolas run(GetParam(), {2.0f}, fptt(1, FpttForm::lambda, alpha));
    std::vector<double> errors;
    for (int i = 0; i < 40; ++i) {
      run.learn(1 / (1 + alpha));
      errors.push_back(run.w() - 2);
    }
    for (std::size_t i = 2; i < errors.size(); ++i)
      EXPECT_NEAR(errors[i], errors[i - 1] - product * errors[i - 2], tolerance() * 5) << r;
  }
}

TEST(FpttTrace, AnExactArgminConvergesAtThePredictedRate) {
  // (1 + sqrt((1 - r) / (1 + r))) / 2 for r <= 1, sqrt(r / (2 (1 + r))) beyond.
  const auto error_after = [](double r, int steps) {
    Parabolas run("reference", {2.0f}, fptt(1, FpttForm::lambda, 1 / r));
    double largest = 0;  // of the last ten, since a damped turn passes through zero
    for (int i = 0; i < steps; ++i) {
      run.learn(1 / (1 + 1 / r));
      if (i >= steps - 10) largest = std::max(largest, std::abs(run.w() - 2));
    }
    return largest;
  };
  for (const auto& [r, rate] : {std::pair{0.1, 0.952267}, {0.5, 0.788675}})
    EXPECT_NEAR(error_after(r, 61) / error_after(r, 60), rate, 1e-6) << r;
  for (const auto& [r, rate] : {std::pair{3.0, 0.612372}, {10.0, 0.674200}})
    EXPECT_NEAR(std::pow(error_after(r, 60) / error_after(r, 20), 1 / 40.0), rate, 0.02) << r;
}

/// Mean and spread of W over the last cycle of l_t = a_t (w - c_t)^2 / 2 with exact minima, and the mean gradient.
struct Cycle {
  double mean = 0, spread = 0, gradient = 0;
};

Cycle settled_cycle(const std::string& engine, const std::vector<double>& a, const std::vector<double>& c, double alpha,
                    int rounds) {
  BareUpdate run(engine, "sgd", {0.0});
  std::vector<double> w;
  Cycle cycle;
  for (int round = 0; round < rounds; ++round) {
    w.clear();
    cycle.gradient = 0;
    for (std::size_t t = 0; t < a.size(); ++t) {
      // With the rate 1 / (a + alpha) one gradient step is the argmin.
      run.step({a[t] * (run.read(run.weights)[0] - c[t])}, 1 / (a[t] + alpha), alpha);
      w.push_back(run.read(run.weights)[0]);
      cycle.gradient += a[t] * (w.back() - c[t]) / static_cast<double>(a.size());
    }
  }
  for (const double value : w) cycle.mean += value / static_cast<double>(w.size());
  const auto [low, high] = std::minmax_element(w.begin(), w.end());
  cycle.spread = *high - *low;
  return cycle;
}

TEST_P(FpttTrace, OverACycleOfEqualCurvaturesTheMeanOfWIsTheMeanOfTheMinima) {
  for (const double alpha : {0.5, 3.0, 10.0}) {
    const Cycle cycle = settled_cycle(GetParam(), {1, 1, 1, 1}, {1, -2, 4, 0.5}, alpha, 1000);
    EXPECT_NEAR(cycle.mean, 0.875, GetParam() == "reference" ? 1e-9 : 1e-4) << alpha;
    EXPECT_NEAR(cycle.gradient, 0, GetParam() == "reference" ? 1e-9 : 1e-4) << alpha;
  }
}

TEST_P(FpttTrace, OverACycleOfUnequalCurvaturesOnlyALargeAlphaFindsTheMinimum) {
  struct Row {
    double alpha, mean, spread;
    int rounds;
  };
  for (const Row& row : {Row{1, 0.4594595, 2.981, 500}, Row{10, 0.1462336, 0.583, 500},
                         Row{100, 0.0844513, 0.0649, 3000}, Row{1000, 0.0776823, 0.00657, 20000}}) {
    if (GetParam() == "cpu" && row.alpha > 10) continue;  // steps below what a float of that size can hold
    const Cycle cycle = settled_cycle(GetParam(), {1, 2, 0.5, 3}, {1, -2, 4, 0.5}, row.alpha, row.rounds);
    EXPECT_NEAR(cycle.mean, row.mean, GetParam() == "reference" ? 1e-6 : 1e-4) << row.alpha;
    EXPECT_NEAR(cycle.spread / row.spread, 1, 1e-3) << row.alpha;
    EXPECT_NEAR(cycle.gradient, 0, GetParam() == "reference" ? 1e-8 : 1e-4) << row.alpha;
  }
}

}  // namespace
}  // namespace throughtime::testing

#include "learners/adaptive_tbptt/convergence.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "support/errors.h"

namespace throughtime::testing {
namespace {

/// min_n |g(W_n)|^2 of descent on L = W^2 / 2 with the biased gradient (1 - delta) W.
double smallest_gradient(double first, double delta, const std::vector<double>& rates) {
  double weight = first, smallest = first * first;
  for (const double rate : rates) {
    smallest = std::min(smallest, weight * weight);
    weight -= rate * (1 - delta) * weight;
  }
  return smallest;
}

TEST(Convergence, TheBoundHoldsForABiasedGradientOfAParabola) {
  for (const double delta : {0.0, 0.1, 0.5, 0.9})
    for (const double first : {0.3, 2.0}) {
      const ConvergenceConstants constants{
          .decrease = first * first / 2, .smoothness = 1, .variance = 0, .bias = delta};
      std::vector<double> rates;
      for (int n = 1; n <= 400; ++n) {
        rates.push_back(largest_rate(constants) / (n % 3 == 0 ? std::sqrt(n) : 1));
        const double reached = smallest_gradient(first, delta, rates), bound = gradient_bound(constants, rates);
        ASSERT_LE(reached, bound) << delta << " after " << n;
        if (n > 1) continue;
        EXPECT_LT(bound, reached * 10 / std::pow(1 - delta, 2)) << "far from what is reached";
      }
    }
}

TEST(Convergence, TheBoundHoldsInTheMeanForANoisyGradient) {
  const double delta = 0.5, first = 1, deviation = 0.2;
  const ConvergenceConstants constants{first * first / 2, 1, deviation * deviation, delta};
  std::mt19937 generator(3);
  std::normal_distribution<double> noise(0, deviation);
  const int steps = 60, runs = 400;
  const std::vector<double> rates(steps, std::min(largest_rate(constants), best_constant_rate(constants, steps)));
  std::vector<double> squares(steps, 0.0);  // mean over runs of |g(W_n)|^2
  for (int run = 0; run < runs; ++run) {
    double weight = first;
    for (int n = 0; n < steps; ++n) {
      squares[n] += weight * weight / runs;
      weight -= rates[n] * ((1 - delta) * weight + noise(generator));
    }
  }
  EXPECT_LE(*std::min_element(squares.begin(), squares.end()), gradient_bound(constants, rates));
}

TEST(Convergence, TheBestConstantRateHasTheSmallestBound) {
  const ConvergenceConstants constants{.decrease = 0.02, .smoothness = 2, .variance = 4, .bias = 0.3};
  const int steps = 50;
  const double best = best_constant_rate(constants, steps);
  const auto bound = [&](double rate) { return gradient_bound(constants, std::vector<double>(steps, rate)); };
  EXPECT_NEAR(bound(best), best_gradient_bound(constants, steps), 1e-12);
  EXPECT_GT(bound(best * 1.1), bound(best));
  EXPECT_GT(bound(best * 0.9), bound(best));
  EXPECT_EQ(bias_factor(0.5), 2);
}

TEST(Convergence, RefusesWhatTheTheoremExcludes) {
  const std::vector<double> rates = {0.1};
  EXPECT_REFUSED(gradient_bound({1, 1, 1, 1}, rates), "below 1, got 1");
  EXPECT_REFUSED(gradient_bound({1, 1, 1, 0.5}, std::vector<double>{0.3}), "at most 0.222");
  EXPECT_REFUSED(gradient_bound({1, 0, 1, 0}, rates), "smoothness");
  EXPECT_REFUSED(gradient_bound({1, 1, 1, 0}, {}), "at least 1 step");
  EXPECT_REFUSED(best_constant_rate({1, 1, 0, 0}, 5), "without variance");
}

}  // namespace
}  // namespace throughtime::testing

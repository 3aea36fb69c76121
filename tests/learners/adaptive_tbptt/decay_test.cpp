#include "learners/adaptive_tbptt/decay.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <limits>

#include "support/errors.h"

namespace throughtime {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
const double nan_value = std::numeric_limits<double>::quiet_NaN();

PhiMeans geometric(double a, int lags) {
  PhiMeans means;
  for (int k = 0; k <= lags; ++k) means.phi.push_back(std::pow(a, k));
  for (const double phi : means.phi) means.log_phi.push_back(std::log(phi));
  return means;
}

DecayOptions with_tail(int tail, DecayRule decay = DecayRule::regression) {
  DecayOptions options;
  options.tail = tail;
  options.decay = decay;
  return options;
}

std::vector<double> random_logs(int lags) {
  std::vector<double> y;
  for (int k = 0; k <= lags; ++k) y.push_back(*rc::gen::inRange(-10000, 10000) / 1000.0);
  return y;
}

TEST(Decay, FindsTheRateOfAGeometricSequence) {
  for (const DecayRule decay : {DecayRule::regression, DecayRule::max, DecayRule::quantile})
    for (const double a : {0.1, 0.5, 0.9, 0.999, 1.02})
      EXPECT_NEAR(DecayEstimate(geometric(a, 40), with_tail(36, decay)).beta(), a, 1e-12) << name_of(decay);
  DecayOptions logs = with_tail(36);
  logs.mean_of_logs = true;
  EXPECT_NEAR(DecayEstimate(geometric(0.7, 40), logs).beta(), 0.7, 1e-12);
}

/// Eq. 22 as it is printed, over all pairs.
double pairs_regression(const std::vector<double>& y, int first, int last) {
  double products = 0, squares = 0;
  for (int k = first; k <= last; ++k)
    for (int j = first; j <= last; ++j) {
      products += (y[k] - y[j]) * (k - j);
      squares += static_cast<double>(k - j) * (k - j);
    }
  return products / squares;
}

double pairs_max(const std::vector<double>& y, int first, int last) {
  double largest = -infinite;
  for (int k = first; k <= last; ++k)
    for (int j = k + 1; j <= last; ++j) largest = std::max(largest, (y[j] - y[k]) / (j - k));
  return largest;
}

TEST(Decay, RegressionAndMaxAreTheirPairsOnRandomNumbers) {
  EXPECT_TRUE(rc::check([] {
    const std::vector<double> y = random_logs(20);
    std::vector<double> slopes;
    RC_ASSERT(std::abs(regression_slope(y, 8, 20) - pairs_regression(y, 8, 20)) < 1e-9);
    RC_ASSERT(std::abs(max_slope(y, 8, 20) - pairs_max(y, 8, 20)) < 1e-9);
    RC_ASSERT(std::abs(quantile_slope(y, 8, 20, 0, slopes) - pairs_max(y, 8, 20)) < 1e-9);
    RC_ASSERT(quantile_slope(y, 8, 20, 0.3, slopes) <= quantile_slope(y, 8, 20, 0.1, slopes));
    RC_ASSERT(max_slope(y, 8, 20, true) <= max_slope(y, 8, 20));
  }));
}

TEST(Decay, ScalarChainHasItsClosedForm) {
  // h_t = a h_{t-1} + x: the true relative bias is r = a^(K+1), and Delta = r / (1 - 2 r).
  const DecayEstimate estimate(geometric(0.5, 40), with_tail(36));
  const std::vector<double> wanted = {infinite, 0.5, 1.0 / 6, 1.0 / 14, 1.0 / 30};
  for (int k = 0; k < 5; ++k) {
    EXPECT_NEAR(estimate.absolute_bias(k), std::pow(0.5, k + 1) / 0.5, 1e-9);
  }
  EXPECT_EQ(estimate.relative_bias(0), infinite);
  for (int k = 1; k < 5; ++k) EXPECT_NEAR(estimate.relative_bias(k), wanted[k], 1e-9);
  EXPECT_EQ(estimate.truncation(0.9, 1, 100), 1);
  EXPECT_EQ(estimate.truncation(0.500000001, 1, 100), 1);
  EXPECT_EQ(estimate.truncation(0.499999999, 1, 100), 2);
  EXPECT_EQ(estimate.truncation(0.1, 1, 100), 3);
}

/// kappa is the first K with Delta(K) < delta, never <=: oracle 6 has kappa(.5) = 2 because Delta(1) is .5.
TEST(Decay, ABiasOfExactlyDeltaIsTooLarge) {
  // Sums of whole numbers, so that Delta(1) = 1 / 2 to the last bit: C = 2, 3, 4, E = 2, 1, 0; the tail is zero.
  PhiMeans whole;
  whole.phi = {2, 1, 1, 0, 0, 0, 0, 0};
  const DecayEstimate exact(whole, with_tail(5));
  EXPECT_EQ(exact.relative_bias(0), infinite);
  EXPECT_EQ(exact.relative_bias(1), 0.5);
  EXPECT_EQ(exact.truncation(0.5, 1, 100), 2);
  EXPECT_EQ(exact.truncation(std::nextafter(0.5, 1), 1, 100), 1);
  EXPECT_EQ(exact.truncation(std::nextafter(0.5, 0), 1, 100), 2);

  // phi = 2^-k: whatever the last bit of each Delta is, taken as delta it asks for one step more.
  for (const DecayRule decay : {DecayRule::regression, DecayRule::max}) {
    const DecayEstimate chain(geometric(0.5, 40), with_tail(36, decay));
    EXPECT_NEAR(chain.relative_bias(1), 0.5, 1e-11);
    for (int k = 1; k < 30; ++k) {
      const double bias = chain.relative_bias(k);
      EXPECT_EQ(chain.truncation(bias, 1, 100), k + 1) << name_of(decay);
      EXPECT_EQ(chain.truncation(std::nextafter(bias, 1), 1, 100), k) << name_of(decay);
    }
  }
}

TEST(Decay, NilpotentChainEndsAtItsLength) {
  PhiMeans means;
  for (int k = 0; k <= 20; ++k) means.phi.push_back(k < 4 ? std::pow(2.0, k) : 0);
  for (const DecayRule decay : {DecayRule::regression, DecayRule::max, DecayRule::quantile}) {
    const DecayEstimate estimate(means, with_tail(18, decay));
    const std::vector<double> wanted = {14, 12, 8, 0};
    for (int k = 0; k < 4; ++k) EXPECT_EQ(estimate.absolute_bias(k), wanted[k]);
    for (int k = 0; k < 3; ++k) EXPECT_EQ(estimate.relative_bias(k), infinite);
    EXPECT_EQ(estimate.relative_bias(3), 0);
    for (const double delta : {0.9, 0.5, 0.1, 1e-9}) EXPECT_EQ(estimate.truncation(delta, 1, 100), 3);
    EXPECT_EQ(estimate.truncation(0.5, 5, 100), 5);
  }
}

TEST(Decay, BoundsMeetAtTau) {
  PhiMeans means = geometric(0.8, 30);
  means.phi[3] = 7;  // anything before tau
  const DecayEstimate paper(means, with_tail(20));
  EXPECT_NEAR(paper.absolute_bias(19), paper.absolute_bias(20), 1e-15);
  DecayOptions tight = with_tail(20);
  tight.tight_tail = true;
  const DecayEstimate exact(geometric(0.8, 30), tight);
  for (int k = 0; k < 60; ++k) EXPECT_NEAR(exact.absolute_bias(k), std::pow(0.8, k + 1) / 0.2, 1e-12) << k;
  EXPECT_NEAR(paper.absolute_bias(25) * 0.8, exact.absolute_bias(25), 1e-12);
}

TEST(Decay, WhatDoesNotDecayTakesTheLongestTruncation) {
  for (const DecayRule decay : {DecayRule::regression, DecayRule::max, DecayRule::quantile}) {
    const auto longest = [&](PhiMeans means) {
      return DecayEstimate(means, with_tail(9, decay)).truncation(0.5, 2, 77);
    };
    EXPECT_EQ(longest(geometric(1.0, 12)), 77);
    EXPECT_EQ(longest(geometric(1.3, 12)), 77);
    PhiMeans zero;
    zero.phi.assign(13, 0.0);
    EXPECT_EQ(longest(zero), 77);
    PhiMeans broken = geometric(0.5, 12);
    broken.phi[10] = nan_value;
    EXPECT_EQ(longest(broken), 77);
    broken.phi[10] = infinite;
    EXPECT_EQ(longest(broken), 77);
    broken = geometric(0.5, 12);
    broken.phi[2] = nan_value;
    EXPECT_EQ(longest(broken), 77);
    PhiMeans one = geometric(0.5, 12);  // one usable lag: the tail counts as zero, so a K with E = 0 is found
    for (int k = 10; k <= 12; ++k) one.phi[k] = 0;
    EXPECT_GE(longest(one), 2);
    EXPECT_LE(longest(one), 9);
  }
}

TEST(Decay, TruncationFallsWithDeltaAndIgnoresTheScale) {
  EXPECT_TRUE(rc::check([] {
    PhiMeans means;
    for (int k = 0; k <= 30; ++k) means.phi.push_back(std::exp(*rc::gen::inRange(-3000, 1000) / 1000.0 - 0.2 * k));
    PhiMeans scaled = means;
    for (double& phi : scaled.phi) phi *= 1024;
    const DecayEstimate estimate(means, with_tail(27)), other(scaled, with_tail(27));
    int before = 1000;
    for (const double delta : {0.01, 0.1, 0.3, 0.5, 0.9}) {
      const int k = estimate.truncation(delta, 2, 1000);
      RC_ASSERT(k <= before);
      RC_ASSERT(k == other.truncation(delta, 2, 1000));
      before = k;
    }
  }));
}

TEST(Decay, ExtrapolatesBeyondTheLastLag) {
  const DecayEstimate estimate(geometric(0.99, 100), with_tail(90));
  const int k = estimate.truncation(0.1, 2, 2000);
  EXPECT_GT(k, 100);
  EXPECT_LT(k, 1000);
  EXPECT_LT(estimate.relative_bias(k), 0.1);
  EXPECT_GE(estimate.relative_bias(k - 1), 0.1);
}

TEST(DecayVariants, AreWhatTheReleasedCodeDoes) {
  // Its arrays begin with lag 1. In its own terms, with a[i] = phi_{i + 1} and tau an index of a:
  //   E(K < tau) = a[K] + ... + a[tau] + a[tau] / (1 - beta), E(K >= tau) = a[tau] beta^(K - tau) / (1 - beta),
  //   D = max over i < W of a[0] + ... + a[i] - E(i); beta from all lags.
  PhiMeans means;
  for (int k = 0; k <= 30; ++k) means.phi.push_back(std::exp(-0.3 * k) * (1.2 + std::sin(k)));
  DecayOptions options = with_tail(20);
  options.phi_from_one = options.tau_twice = options.tight_tail = options.ols_all_lags = options.global_lower_bound =
      true;
  const DecayEstimate estimate(means, options);
  const std::vector<double> a(means.phi.begin() + 1, means.phi.end());
  std::vector<double> y;
  for (const double value : a) y.push_back(std::log(value));
  const double beta = std::exp(pairs_regression(y, 0, 29));
  EXPECT_NEAR(estimate.beta(), beta, 1e-12);
  const auto bias = [&](int k) {
    if (k >= 20) return a[20] * std::pow(beta, k - 20) / (1 - beta);
    double sum = a[20] / (1 - beta);
    for (int i = k; i <= 20; ++i) sum += a[i];
    return sum;
  };
  double least = -infinite, size = 0;
  for (int i = 0; i < 30; ++i) least = std::max(least, (size += a[i]) - bias(i));
  for (const int k : {1, 5, 19, 20, 25}) {
    EXPECT_NEAR(estimate.absolute_bias(k), bias(k), 1e-12) << k;
    EXPECT_NEAR(estimate.relative_bias(k), bias(k) / least, 1e-9) << k;
  }
}

TEST(DecayVariants, AUnitBiasCanChooseAShortWindow) {
  DecayOptions options = with_tail(9);
  PhiMeans growing = geometric(1.1, 12);
  EXPECT_EQ(DecayEstimate(growing, options).truncation(0.5, 2, 50), 50);
  options.unit_bias = true;
  EXPECT_EQ(DecayEstimate(growing, options).truncation(0.5, 2, 50), 2);  // C is large, the bias is said to be 1
}

TEST(DecayOptions, RefusesWhatCannotBe) {
  const auto refusal = [](auto change) {
    EstimateConfig config{.lags = 100};
    change(config);
    return testing::refusal_of([&] { decay_options(config); });
  };
  EXPECT_EQ(refusal([](EstimateConfig&) {}), "");
  for (const double delta : {0.0, 1.0, -0.5, 1.5, nan_value})
    EXPECT_NE(refusal([&](EstimateConfig& c) { c.delta = delta; }).find("delta must lie between 0 and 1"),
              std::string::npos);
  EXPECT_EQ(refusal([](EstimateConfig& c) { c.shortest = 101; }),
            "[estimate] shortest (K_min) must be between 1 and longest (K_max, 100), got 101");
  EXPECT_NE(refusal([](EstimateConfig& c) { c.tail = 100; }).find("tail (tau)"), std::string::npos);
  EXPECT_NE(refusal([](EstimateConfig& c) { c.lags = 1; }).find("lags"), std::string::npos);
  EXPECT_REFUSED(choice_of<DecayRule>("regresion", "estimate", "decay"), "regression");
  EXPECT_REFUSED(choice_of<DecayVariant>("tight_tale", "estimate", "variant"), "tight_tail");
  EXPECT_EQ(decay_options(with_fitting_lags({}, 0)).tail, 90);
}

TEST(DecayOptions, HaveAFlagForEveryVariant) {
  const std::vector<bool DecayOptions::*> flags = {&DecayOptions::mean_of_logs,       &DecayOptions::phi_from_one,
                                                   &DecayOptions::tau_twice,          &DecayOptions::tight_tail,
                                                   &DecayOptions::ols_all_lags,       &DecayOptions::max_from_tau,
                                                   &DecayOptions::global_lower_bound, &DecayOptions::unit_bias};
  const std::vector<std::string> names = all_names<DecayVariant>();
  ASSERT_EQ(names.size(), flags.size());
  for (std::size_t chosen = 0; chosen < names.size(); ++chosen) {
    const EstimateConfig config{.lags = 100, .variants = {choice_of<DecayVariant>(names[chosen], "test", "variant")}};
    const DecayOptions options = decay_options(config);
    for (std::size_t i = 0; i < flags.size(); ++i) EXPECT_EQ(options.*flags[i], i == chosen) << names[i];
  }
}

TEST(DecayOptions, TakeAsManyLagsAsTheDataHasWhereTheyAreOpen) {
  EstimateConfig config;
  EXPECT_EQ(with_fitting_lags(config, 0).lags, 100);
  EXPECT_EQ(with_fitting_lags(config, 5000).lags, 100);
  EXPECT_EQ(with_fitting_lags(config, 60).lags, 40);  // after 20 steps of burn-in
  EXPECT_EQ(with_fitting_lags(config, 10).lags, 2);   // which the data then refuses
  config.lags = 70;
  EXPECT_EQ(with_fitting_lags(config, 60).lags, 70);
}

}  // namespace
}  // namespace throughtime

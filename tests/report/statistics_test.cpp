#include "report/statistics.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

namespace throughtime {
namespace {

TEST(Student, HasTheQuantilesOfPrintedTables) {
  EXPECT_NEAR(student_two_sided(12.7062047, 1), 0.05, 1e-8);
  EXPECT_NEAR(student_two_sided(2.2281389, 10), 0.05, 1e-8);
  EXPECT_NEAR(student_two_sided(3.1692727, 10), 0.01, 1e-8);
  EXPECT_NEAR(student_two_sided(1.6576509, 120), 0.10, 1e-7);
  EXPECT_NEAR(student_two_sided(1.6448536, 1e9), 0.10, 1e-5);  // the normal distribution's
  EXPECT_DOUBLE_EQ(student_two_sided(0, 7), 1);
  EXPECT_TRUE(std::isnan(student_two_sided(1, 0)));
}

RC_GTEST_PROP(Student, EqualsItsClosedFormsForOneAndTwoDegrees, ()) {
  const double t = *rc::gen::inRange(-100000, 100000) / 1000.0;
  RC_ASSERT(std::abs(student_two_sided(t, 1) - (1 - 2 / std::numbers::pi * std::atan(std::abs(t)))) < 1e-12);
  RC_ASSERT(std::abs(student_two_sided(t, 2) - (1 - std::abs(t) / std::sqrt(2 + t * t))) < 1e-12);
}

TEST(Student, EqualsTheIntegralOfItsDensity) {
  const double degrees = 7.3, t = 1.9;
  const double scale =
      std::exp(std::lgamma((degrees + 1) / 2) - std::lgamma(degrees / 2)) / std::sqrt(degrees * std::numbers::pi);
  const int steps = 2000;  // Simpson's rule from 0 to t
  double sum = 0;
  for (int i = 0; i <= steps; ++i) {
    const double u = t * i / steps;
    const double weight = i == 0 || i == steps ? 1 : i % 2 == 1 ? 4 : 2;
    sum += weight * scale * std::pow(1 + u * u / degrees, -(degrees + 1) / 2);
  }
  EXPECT_NEAR(student_two_sided(t, degrees), 1 - 2 * sum * t / steps / 3, 1e-10);
}

TEST(Summary, IsThatOfASample) {
  const Summary summary = summary_of({2, 4, 4, 4, 5, 5, 7, 9});
  EXPECT_DOUBLE_EQ(summary.mean, 5);
  EXPECT_DOUBLE_EQ(summary.deviation, std::sqrt(32.0 / 7));
  EXPECT_DOUBLE_EQ(summary.standard_error, std::sqrt(32.0 / 7 / 8));
  EXPECT_TRUE(std::isnan(summary_of({3}).deviation));
  EXPECT_TRUE(std::isnan(summary_of({}).mean));
  EXPECT_EQ(summary_of({3}).mean, 3);
  EXPECT_DOUBLE_EQ(summary_of({1, 2, 3, 4}).mean, 2.5);
  EXPECT_DOUBLE_EQ(summary_of({1, 2, 3, 4}).deviation, std::sqrt(5.0 / 3));
}

TEST(Summary, AHundredPerfectReportsAreNoBetterThanPerfect) {
  EXPECT_EQ(summary_of(std::vector<double>(100, 1.0)).mean, 1.0);
  EXPECT_EQ(summary_of(std::vector<double>(77, 0.83)).mean, 0.83);
  EXPECT_EQ(summary_of(std::vector<double>(77, 0.83)).deviation, 0);
}

TEST(Welch, ByHand) {
  // Means 2 and 6, variances of the means 1/3 and 4/3: t = 4 / sqrt(5/3), degrees (5/3)^2 / ((1/9 + 16/9) / 2).
  const Comparison comparison = welch({1, 2, 3}, {4, 6, 8});
  EXPECT_DOUBLE_EQ(comparison.difference, 4);
  EXPECT_NEAR(comparison.t, 4 / std::sqrt(5.0 / 3), 1e-12);
  EXPECT_NEAR(comparison.degrees_of_freedom, 50.0 / 17, 1e-12);
  EXPECT_NEAR(comparison.p, student_two_sided(4 / std::sqrt(5.0 / 3), 50.0 / 17), 1e-15);
}

TEST(Welch, SaysNothingWithoutSpreadOrSeeds) {
  EXPECT_TRUE(std::isnan(welch({1, 1}, {2, 2}).p));
  EXPECT_TRUE(std::isnan(welch({1}, {2, 3}).p));
  EXPECT_TRUE(std::isnan(welch({}, {}).p));
}

TEST(Paired, SeesADifferenceThatSeedsHide) {
  const std::vector<double> first = {1, 5, 9, 13}, second = {1.1, 5.2, 9.1, 13.2};
  EXPECT_GT(welch(first, second).p, 0.9);
  EXPECT_LT(paired(first, second).p, 0.02);
  EXPECT_NEAR(paired(first, second).difference, 0.15, 1e-12);
  EXPECT_EQ(paired(first, second).degrees_of_freedom, 3);
}

TEST(Against, IsTheTestOfOneSample) {
  // Mean 2 and standard error 1 / sqrt(3): 1 below 3.
  const Comparison comparison = against({1, 2, 3}, 3);
  EXPECT_DOUBLE_EQ(comparison.difference, -1);
  EXPECT_NEAR(comparison.t, -std::sqrt(3.0), 1e-12);
  EXPECT_EQ(comparison.degrees_of_freedom, 2);
}

TEST(P, OfADifferenceWithoutSpreadIsCertain) {
  EXPECT_EQ(p_of(1, 0, 2), 0);
  EXPECT_EQ(p_of(0, 0, 2), 1);
  EXPECT_TRUE(std::isnan(p_of(std::nan(""), 0, 2)));
  EXPECT_TRUE(std::isnan(p_of(1, std::nan(""), 0))) << "one seed";
  EXPECT_NEAR(p_of(2, 1, 1), 1 - 2 * std::atan(2.0) / std::numbers::pi, 1e-12) << "two errors of two seeds: 0.295";
}

TEST(Holm, MultipliesTheSmallestByTheirNumber) {
  const std::vector<double> corrected = holm({0.04, 0.01, std::nan(""), 0.03});
  EXPECT_DOUBLE_EQ(corrected[1], 0.03);  // 3 * 0.01
  EXPECT_DOUBLE_EQ(corrected[3], 0.06);  // 2 * 0.03
  EXPECT_DOUBLE_EQ(corrected[0], 0.06);  // 1 * 0.04, but never below that of a smaller p
  EXPECT_TRUE(std::isnan(corrected[2]));
  EXPECT_EQ(holm({0.5, 0.9}), (std::vector<double>{1, 1}));
  EXPECT_TRUE(holm({}).empty());
}

TEST(Holm, CountsTheTestsOfEachFamilyByThemselves) {
  const std::vector<double> corrected = holm({0.01, 0.02, 0.03, std::nan("")}, {0, 1, 0, 1});
  EXPECT_DOUBLE_EQ(corrected[0], 0.02);
  EXPECT_DOUBLE_EQ(corrected[1], 0.02) << "alone in its family";
  EXPECT_DOUBLE_EQ(corrected[2], 0.03);
  EXPECT_TRUE(std::isnan(corrected[3]));
}

/// p by going through every way to choose which values are the first sample's.
double p_of_all_choices(const std::vector<double>& first, const std::vector<double>& second) {
  std::vector<double> all = first;
  all.insert(all.end(), second.begin(), second.end());
  const auto distance = [&](unsigned chosen) {  // of the rank sum from what is expected
    double sum = 0, expected = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if ((chosen >> i & 1) == 0) continue;
      for (const double other : all) sum += other < all[i] ? 1 : other == all[i] ? 0.5 : 0;
      expected += static_cast<double>(all.size()) / 2;
    }
    return std::abs(sum - expected);
  };
  double as_far = 0, choices = 0;
  for (unsigned chosen = 0; chosen < 1u << all.size(); ++chosen) {
    if (static_cast<std::size_t>(std::popcount(chosen)) != first.size()) continue;
    ++choices;
    as_far += distance(chosen) >= distance((1u << first.size()) - 1) - 1e-9 ? 1 : 0;
  }
  return as_far / choices;
}

TEST(RankSum, IsExactAndTakesValuesThatAreOnlyKnownToBeLarger) {
  const double never = std::numeric_limits<double>::infinity();
  EXPECT_DOUBLE_EQ(rank_sum({1, 2, 3}, {4, 5, 6}).p, 2.0 / 20);
  EXPECT_DOUBLE_EQ(rank_sum({1, 2, 3}, {4, 5, 6}).difference, 3);
  EXPECT_DOUBLE_EQ(rank_sum({4, 5, 6}, {1, 2, 3}).difference, -3);
  EXPECT_DOUBLE_EQ(rank_sum({1, 2, 3, 4}, {never, never, never, never}).p, 2.0 / 70);
  EXPECT_DOUBLE_EQ(rank_sum({never, never}, {never, never}).p, 1);
  const std::vector<double> some = {1850, never, 2150, never, 3075}, none(5, never), mixed = {2150, 2150, 9};
  EXPECT_DOUBLE_EQ(rank_sum(some, none).p, p_of_all_choices(some, none));
  EXPECT_DOUBLE_EQ(rank_sum(some, mixed).p, p_of_all_choices(some, mixed));
  EXPECT_DOUBLE_EQ(rank_sum({1}, {2}).p, 1) << "one each says nothing";
  EXPECT_TRUE(std::isnan(rank_sum({}, {1, 2}).p));
  EXPECT_TRUE(std::isnan(rank_sum({std::nan("")}, {1, 2}).p)) << "a run that broke";
}

}  // namespace
}  // namespace throughtime

#include "reproduce/claims/rule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "report/statistics.h"
#include "reproduce/arm_values.h"

namespace throughtime::testing {
namespace {

constexpr double broke = std::numeric_limits<double>::quiet_NaN();

Answer met(const Rule& rule, const std::vector<std::vector<double>>& arms) {
  return check_rule(rule, results(arms), {{"a", 1.0}}).met;
}

TEST(VerdictRule, BelowCountsTheSeedsThatAreBelow) {
  const Rule rule{.kind = RuleKind::below, .arms = {"a"}, .measure = mse, .high = 0.01, .share = 0.8};
  EXPECT_EQ(met(rule, {{0.001, 0.002, 0.009, 0.0099, 0.5}}), Answer::yes);  // 4 of 5
  EXPECT_EQ(met(rule, {{0.001, 0.002, 0.009, 0.0101, 0.5}}), Answer::no);   // 3 of 5
  EXPECT_EQ(met(rule, {{0.01}}), Answer::no);
  EXPECT_EQ(met(rule, {{broke}}), Answer::no);
  EXPECT_EQ(met(rule, {{}}), Answer::unknown);
}

TEST(VerdictRule, WithoutAShareTheMeanCounts) {
  const Rule above{.kind = RuleKind::above, .arms = {"a"}, .measure = mse, .low = 0.15};
  EXPECT_EQ(met(above, {{0.10, 0.21}}), Answer::yes);
  EXPECT_EQ(met(above, {{0.10, 0.19}}), Answer::no);
  const Rule between{.kind = RuleKind::between, .arms = {"a"}, .measure = mse, .low = 0.51, .high = 0.54};
  EXPECT_EQ(met(between, {{0.51}}), Answer::yes);
  EXPECT_EQ(met(between, {{0.5099}}), Answer::no);
  EXPECT_EQ(met(between, {{0.5401}}), Answer::no);
}

TEST(VerdictRule, WithinIsADistanceFromThePapersValue) {
  const Rule rule{.kind = RuleKind::within, .arms = {"a"}, .measure = mse, .margin = 0.05};
  EXPECT_EQ(met(rule, {{1.02, 1.06}}), Answer::yes);
  EXPECT_EQ(met(rule, {{1.02, 1.10}}), Answer::no);
  EXPECT_EQ(met(rule, {{0.94}}), Answer::no);
  const Rule share{.kind = RuleKind::within, .arms = {"a"}, .measure = mse, .percent = 3};
  EXPECT_EQ(met(share, {{1.029}}), Answer::yes);
  EXPECT_EQ(met(share, {{1.031}}), Answer::no);
}

TEST(VerdictRule, LessAndGreaterAskForTheirMargin) {
  const Rule less{.kind = RuleKind::less, .arms = {"a"}, .than = {"b"}, .measure = mse, .margin = 0.25};
  EXPECT_EQ(met(less, {{1.0}, {1.25}}), Answer::yes);
  EXPECT_EQ(met(less, {{1.0}, {1.24}}), Answer::no);
  EXPECT_EQ(met(less, {{1.0}}), Answer::unknown);
  const Rule greater{.kind = RuleKind::greater, .arms = {"a"}, .than = {"b"}, .measure = mse, .margin = 0.25};
  EXPECT_EQ(met(greater, {{1.25}, {1.0}}), Answer::yes);
  EXPECT_EQ(met(greater, {{1.0}, {1.25}}), Answer::no);
  const Rule forgiving{.kind = RuleKind::less, .arms = {"a"}, .than = {"b", "c"}, .measure = mse, .margin = -0.01};
  EXPECT_EQ(met(forgiving, {{1.005}, {1.0}, {1.2}}), Answer::yes);
  EXPECT_EQ(met(forgiving, {{1.02}, {1.0}, {1.2}}), Answer::no);  // worse than the best of them
}

TEST(VerdictRule, WithoutAMarginATieIsNotLess) {
  const Rule less{.kind = RuleKind::less, .arms = {"a"}, .than = {"b"}, .measure = mse};
  EXPECT_EQ(met(less, {{1.0}, {1.001}}), Answer::yes);
  EXPECT_EQ(met(less, {{1.0}, {1.0}}), Answer::no);
  EXPECT_EQ(met(less, {{broke}, {1.0}}), Answer::no);
}

TEST(VerdictRule, APercentageIsOfTheOtherMean) {
  const Rule greater{.kind = RuleKind::greater, .arms = {"a"}, .than = {"b"}, .measure = mse, .percent = 30};
  EXPECT_EQ(met(greater, {{13.1}, {10}}), Answer::yes);
  EXPECT_EQ(met(greater, {{12.9}, {10}}), Answer::no);
  const Rule forgiving{.kind = RuleKind::less, .arms = {"a"}, .than = {"b", "c"}, .measure = mse, .percent = -2};
  EXPECT_EQ(met(forgiving, {{101.9}, {100}, {200}}), Answer::yes);
  EXPECT_EQ(met(forgiving, {{102.1}, {100}, {200}}), Answer::no);
}

TEST(VerdictRule, NearLooksAtBothSides) {
  const Rule near{.kind = RuleKind::near, .arms = {"a"}, .than = {"b"}, .measure = mse, .percent = 2};
  EXPECT_EQ(met(near, {{101.9}, {100}}), Answer::yes);
  EXPECT_EQ(met(near, {{98.1}, {100}}), Answer::yes);
  EXPECT_EQ(met(near, {{97.9}, {100}}), Answer::no);
  EXPECT_EQ(met(near, {{102.1}, {100}}), Answer::no);
}

TEST(VerdictRule, RatioOfMeansLiesBetweenItsBounds) {
  const Rule ratio{.kind = RuleKind::ratio, .arms = {"a"}, .than = {"b"}, .measure = mse, .low = 0.08, .high = 0.13};
  EXPECT_EQ(met(ratio, {{8}, {100}}), Answer::yes);
  EXPECT_EQ(met(ratio, {{13.1}, {100}}), Answer::no);
  EXPECT_EQ(met(ratio, {{7.9}, {100}}), Answer::no);
  EXPECT_EQ(met(ratio, {{1}, {0}}), Answer::no);
}

TEST(VerdictRule, TheLowestOfAllIsAmongItsArms) {
  const Rule lowest{.kind = RuleKind::lowest, .arms = {"a", "b"}, .than = {"c", "d"}, .measure = mse};
  EXPECT_EQ(met(lowest, {{5}, {1}, {2}, {3}}), Answer::yes);
  EXPECT_EQ(met(lowest, {{5}, {2}, {1.9}, {3}}), Answer::no);
  EXPECT_EQ(met(lowest, {{broke}, {1}, {2}, {broke}}), Answer::yes);  // one that broke is the worst
  EXPECT_EQ(met(lowest, {{broke}, {broke}, {2}, {3}}), Answer::no);
  EXPECT_EQ(met(lowest, {{broke}, {broke}, {broke}, {broke}}), Answer::no);
  const Rule highest{.kind = RuleKind::highest, .arms = {"a"}, .than = {"b"}, .measure = mse};
  EXPECT_EQ(met(highest, {{2}, {1}}), Answer::yes);
  EXPECT_EQ(met(highest, {{1}, {2}}), Answer::no);
}

TEST(VerdictRule, SpreadIsFromTheSmallestToTheLargestMean) {
  const Rule absolute{.kind = RuleKind::spread, .arms = {"a", "b", "c"}, .measure = mse, .margin = 8};
  EXPECT_EQ(met(absolute, {{110}, {118}, {112}}), Answer::yes);
  EXPECT_EQ(met(absolute, {{110}, {118.5}, {112}}), Answer::no);
  EXPECT_EQ(met(absolute, {{110}, {broke}, {112}}), Answer::no);
  const Rule relative{.kind = RuleKind::spread, .arms = {"a", "b"}, .measure = mse, .percent = 10};
  EXPECT_EQ(met(relative, {{1.09}, {1}}), Answer::yes);
  EXPECT_EQ(met(relative, {{1.11}, {1}}), Answer::no);
}

TEST(VerdictRule, DifferencesWidenOrNarrowInOrder) {
  const Rule narrowing{
      .kind = RuleKind::narrowing, .arms = {"a", "b"}, .than = {"c", "d"}, .measure = mse, .trend = true};
  EXPECT_EQ(met(narrowing, {{10}, {10}, {5}, {6}}), Answer::yes);  // 5, then 4
  EXPECT_EQ(met(narrowing, {{10}, {10}, {5}, {4}}), Answer::no);
  EXPECT_EQ(met(narrowing, {{10}, {2}, {5}, {6}}), Answer::no) << "5, then -4: smaller, but in the other direction";
  EXPECT_EQ(met(narrowing, {{10}, {2}, {5}, {12}}), Answer::no) << "5, then -10: larger in the other direction";
  EXPECT_EQ(met(narrowing, {{5}, {6}, {10}, {10}}), Answer::yes) << "-5, then -4: no paper says which is ahead";
  Rule widening = narrowing;
  widening.kind = RuleKind::widening;
  EXPECT_EQ(met(widening, {{10}, {10}, {5}, {4}}), Answer::yes);
  EXPECT_EQ(met(widening, {{10}, {10}, {5}, {5}}), Answer::no);
  EXPECT_EQ(check_rule(widening, results({{10, 11}, {10, 11}, {5, 6}, {4, 5}}), {}).trend.answer, Answer::yes);
  EXPECT_EQ(check_rule(widening, results({{10, 14}, {10, 11}, {5, 6}, {4, 5}}), {}).trend.answer, Answer::unknown);
}

TEST(VerdictRule, ANarrowingGapIsTheOneOfThePaper) {
  const Rule rule{.kind = RuleKind::narrowing, .arms = {"a", "b"}, .than = {"c", "d"}, .measure = mse, .trend = true};
  const std::map<std::string, double> paper = {{"a", 0.7}, {"b", 0.7}, {"c", 0.5}, {"d", 0.6}};  // 0.2, then 0.1
  const auto trend = [&](const std::vector<std::vector<double>>& arms) {
    return check_rule(rule, results(arms), paper).trend.answer;
  };
  EXPECT_EQ(trend({{10, 11, 10}, {10, 11, 10}, {5, 6, 5}, {8, 9, 8}}), Answer::yes) << "5, then 2";
  EXPECT_EQ(trend({{5, 6, 5}, {8, 9, 8}, {10, 11, 10}, {10, 11, 10}}), Answer::no)
      << "-5, then -2: the wrong one ahead";
  EXPECT_EQ(trend({{10, 11, 10}, {8, 9, 8}, {5, 6, 5}, {10, 11, 10}}), Answer::no) << "5, then -2";
  EXPECT_EQ(trend({{10, 11, 10}, {10, 11, 10}, {8, 9, 8}, {5, 6, 5}}), Answer::no) << "2, then 5";
  EXPECT_EQ(check_rule(rule, results({{5}, {8}, {10}, {10}}), paper).met, Answer::no);
}

TEST(VerdictRule, WelchIsAskedWhereARuleHasAP) {
  const Rule rule{.kind = RuleKind::greater, .arms = {"a"}, .than = {"b"}, .measure = mse, .p = 0.05};
  EXPECT_EQ(met(rule, {{2.0, 2.1, 1.9}, {1.0, 1.1, 0.9}}), Answer::yes);
  EXPECT_EQ(met(rule, {{2.0, 4.0, 0.0}, {1.0, 3.0, -1.0}}), Answer::no);
  EXPECT_EQ(met(rule, {{2.0}, {1.0}}), Answer::no);  // one seed cannot say
}

TEST(VerdictRule, FallingForgivesItsMarginAndMustFallInAll) {
  const Rule rule{.kind = RuleKind::falling, .arms = {"a", "b", "c"}, .measure = mse, .margin = 0.25};
  EXPECT_EQ(met(rule, {{3}, {3.25}, {1}}), Answer::yes);
  EXPECT_EQ(met(rule, {{3}, {3.5}, {1}}), Answer::no);
  EXPECT_EQ(met(rule, {{3}, {3}, {3}}), Answer::no);
  const Rule rising{.kind = RuleKind::rising, .arms = {"a", "b"}, .measure = mse};
  EXPECT_EQ(met(rising, {{1}, {2}}), Answer::yes);
  EXPECT_EQ(met(rising, {{2}, {1}}), Answer::no);
}

TEST(VerdictRule, ATrendIsToldByATTest) {
  const Rule rule{.kind = RuleKind::less, .arms = {"a"}, .than = {"b"}, .measure = mse, .margin = 100, .trend = true};
  const auto trend = [&](const std::vector<double>& a, const std::vector<double>& b) {
    return check_rule(rule, results({a, b}), {}).trend.answer;
  };
  EXPECT_EQ(trend({1.0, 1.1}, {2.0, 2.1}), Answer::yes);  // the margin does not matter
  EXPECT_EQ(trend({2.0, 2.1}, {1.0, 1.1}), Answer::no);
  EXPECT_EQ(trend({1.0, 3.0}, {4.0, 2.0}), Answer::unknown);
  EXPECT_EQ(trend({1.0}, {2.0}), Answer::unknown);  // one seed has no spread
  // Differences 1 and 3: four standard errors at two seeds are p = 0.156, three of them with 1, 2, 3 p = 0.074.
  EXPECT_EQ(trend({0, 0}, {0.6, 1}), Answer::unknown);
  EXPECT_EQ(trend({0, 0, 0}, {1, 2, 3}), Answer::unknown);
  EXPECT_EQ(trend({0, 0, 0}, {1.4, 2, 2.6}), Answer::yes);  // t = 5.77, p = 0.029
}

TEST(VerdictRule, AnOrderNeedsMoreThanItsEnds) {
  const Rule rising{.kind = RuleKind::rising, .arms = {"a", "b", "c"}, .measure = mse, .trend = true};
  const auto told = [](const Rule& rule, const std::vector<std::vector<double>>& arms) {
    return check_rule(rule, results(arms), {}).trend;
  };
  EXPECT_EQ(told(rising, {{50, 51, 52}, {60, 62, 61}, {78, 80, 79}}).answer, Answer::yes);
  EXPECT_EQ(told(rising, {{50, 51, 52}, {39, 40, 38}, {78, 80, 79}}).answer, Answer::unknown) << "51, 39, 79";
  EXPECT_LT(told(rising, {{50, 51, 52}, {39, 40, 38}, {78, 80, 79}}).p, 0.05) << "the test is that of the ends";
  EXPECT_EQ(told(rising, {{78, 80, 79}, {39, 40, 38}, {50, 51, 52}}).answer, Answer::no) << "the ends fall";
  Rule forgiving = rising;
  forgiving.margin = 15;
  EXPECT_EQ(told(forgiving, {{50, 51, 52}, {39, 40, 38}, {78, 80, 79}}).answer, Answer::yes);
  Rule falling = rising;
  falling.kind = RuleKind::falling;
  EXPECT_EQ(told(falling, {{78, 80, 79}, {39, 40, 38}, {50, 51, 52}}).answer, Answer::unknown);
  const Rule widening{
      .kind = RuleKind::widening, .arms = {"a", "b", "c"}, .than = {"d", "d", "d"}, .measure = mse, .trend = true};
  EXPECT_EQ(told(widening, {{1, 2, 1}, {3, 4, 3}, {8, 9, 9}, {0, 1, 0}}).answer, Answer::yes);
  EXPECT_EQ(told(widening, {{4, 5, 4}, {3, 4, 3}, {8, 9, 9}, {0, 1, 0}}).answer, Answer::unknown);
}

TEST(VerdictRule, WhatWasNeverReachedIsNoNumberOfIterations) {
  const double never = std::numeric_limits<double>::infinity();
  const Measure reach{"loss", MeasureHow::reach, 0.05};
  const Rule sooner{.kind = RuleKind::less, .arms = {"a"}, .than = {"b"}, .measure = reach, .trend = true};
  const auto checked = [&](const std::vector<double>& a, const std::vector<double>& b) {
    ArmValues values;
    for (std::size_t i = 0; i < a.size(); ++i) values["a"][reach.key()].emplace_back(i + 1, a[i]);
    for (std::size_t i = 0; i < b.size(); ++i) values["b"][reach.key()].emplace_back(i + 1, b[i]);
    return check_rule(sooner, values, {});
  };
  const Check none = checked({never, never, never}, {never, never, never});
  EXPECT_EQ(none.met, Answer::unknown);
  EXPECT_EQ(none.trend.answer, Answer::unknown);
  EXPECT_TRUE(std::isnan(none.trend.p)) << "nothing to test";
  EXPECT_EQ(none.seen, "a: not reached in 3 of 3; b: not reached in 3 of 3");
  const Check some = checked({1, 2, 3, 4, 5}, {6, 7, never, never, never});
  EXPECT_EQ(some.met, Answer::yes);
  EXPECT_EQ(some.trend.answer, Answer::yes);
  EXPECT_NEAR(some.trend.p, 2.0 / 252, 1e-12) << "by ranks";
  EXPECT_EQ(checked({6, 7, never, never, never}, {1, 2, 3, 4, 5}).trend.answer, Answer::no);
  EXPECT_EQ(checked({never, never, never, never, never}, {1850, never, 2150, never, 3075}).trend.answer,
            Answer::unknown);
  EXPECT_EQ(checked({1, 2, 3}, {4, 5, 6}).seen, "-3 ± 0") << "where all came so far it is the t test";
}

TEST(VerdictRule, PIsThatOfTheTTest) {
  const Rule rule{.kind = RuleKind::less, .arms = {"a"}, .than = {"b"}, .measure = mse, .trend = true};
  ArmValues values = results({{0, 0, 0}, {1, 2, 3}});
  // With two degrees of freedom P(|T| > t) = 1 - t / sqrt(2 + t^2), and t = 2 / (1 / sqrt(3)).
  const double t = 2 * std::sqrt(3.0);
  EXPECT_NEAR(check_rule(rule, values, {}).trend.p, 1 - t / std::sqrt(2 + t * t), 1e-12);
  values["a"][mse.key()] = {{7, 0.0}, {8, 0.5}, {9, 0.1}};  // other seeds: Welch
  EXPECT_NEAR(check_rule(rule, values, {}).trend.p, welch(values_of(values, "a", mse), values_of(values, "b", mse)).p,
              1e-12);
  EXPECT_TRUE(std::isnan(check_rule(rule, results({{1}, {2}}), {}).trend.p)) << "one seed";
  EXPECT_EQ(check_rule(rule, results({{1, 1}, {2, 2}}), {}).trend.p, 0) << "no spread at all: counts";
  EXPECT_EQ(check_rule(rule, results({{1, 1}, {1, 1}}), {}).trend.p, 1);
}

TEST(VerdictRule, OfSeveralComparisonsTheLeastFavourableDecides) {
  const Told sure{Answer::yes, 0.01}, less_sure{Answer::yes, 0.04}, open{Answer::unknown, 0.3},
      against{Answer::no, 0.02}, none;
  EXPECT_EQ(all_of(sure, less_sure).p, 0.04);
  EXPECT_EQ(all_of(open, sure).answer, Answer::unknown);
  EXPECT_EQ(all_of(open, sure).p, 0.3);
  EXPECT_EQ(all_of(open, against).answer, Answer::no);
  EXPECT_EQ(all_of(against, sure).p, 0.02);
  EXPECT_TRUE(std::isnan(all_of(sure, none).p));
  EXPECT_EQ(all_of(none, sure).answer, Answer::unknown);
  EXPECT_EQ(all_of(none, against).answer, Answer::no);
}

TEST(VerdictRule, EqualSeedsArePaired) {
  const Rule rule{.kind = RuleKind::less, .arms = {"a"}, .than = {"b"}, .measure = mse, .trend = true};
  ArmValues values = results({{1.0, 5.0, 9.0}, {1.1, 5.1, 9.12}});  // far apart, but each below its partner
  EXPECT_EQ(check_rule(rule, values, {}).trend.answer, Answer::yes);
  EXPECT_TRUE(contrast_of(values, mse, {{"a", 1}, {"b", -1}}).paired);
  values["b"][mse.key()][2].first = 17;  // another seed: independent samples
  EXPECT_EQ(check_rule(rule, values, {}).trend.answer, Answer::unknown);
  const Contrast apart = contrast_of(values, mse, {{"b", 1}, {"a", -1}});
  EXPECT_FALSE(apart.paired);
  EXPECT_NEAR(apart.value, 0.32 / 3, 1e-12);
  EXPECT_NEAR(apart.standard_error, std::sqrt(16.0 / 3 + 16.08 / 3), 1e-2);
}

TEST(VerdictRule, ABoundCanBeADirection) {
  const Rule rising{.kind = RuleKind::above, .arms = {"a"}, .measure = mse, .low = 0, .trend = true};
  EXPECT_EQ(check_rule(rising, results({{2.0, 2.1, 2.2}}), {}).trend.answer, Answer::yes);
  EXPECT_EQ(check_rule(rising, results({{-2.0, -2.1, -2.2}}), {}).trend.answer, Answer::no);
  EXPECT_EQ(check_rule(rising, results({{2.0, 3.0}}), {}).trend.answer, Answer::unknown) << "t = 5 with two seeds";
  EXPECT_NEAR(check_rule(rising, results({{2.0, 3.0}}), {}).trend.p, 0.1257, 1e-4) << "1 - 2 atan(5) / pi";
  EXPECT_EQ(check_rule(rising, results({{-1.0, 3.0}}), {}).trend.answer, Answer::unknown);
}

TEST(VerdictRule, SaysWhatWasSeen) {
  const Rule rule{.kind = RuleKind::less, .arms = {"a"}, .than = {"b"}, .measure = mse};
  EXPECT_EQ(check_rule(rule, results({{1.0, 2.0}, {3.0, 5.0}}), {}).seen, "-2.5 ± 0.5");
  Rule asked = rule;
  asked.p = 0.05;
  EXPECT_EQ(check_rule(asked, results({{1.0, 2.0}, {3.0, 5.0}}), {}).seen, "-2.5 ± 0.5, Welch's p 0.2");
  EXPECT_EQ(rule_text(rule), "a is less than b (validation_mse, last)");
}

}  // namespace
}  // namespace throughtime::testing

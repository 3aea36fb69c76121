#include "reproduce/verdict.h"

#include <gtest/gtest.h>

#include <limits>

namespace throughtime {
namespace {

const Measure mse{"validation_mse", "last"};

/// Values of the arms a, b, c, ... with seeds 1, 2, 3, ...
ArmValues results(const std::vector<std::vector<double>>& arms) {
  ArmValues values;
  for (std::size_t arm = 0; arm < arms.size(); ++arm)
    for (std::size_t i = 0; i < arms[arm].size(); ++i)
      values[std::string(1, static_cast<char>('a' + arm))][mse.key()].emplace_back(i + 1, arms[arm][i]);
  return values;
}

Answer met(const Rule& rule, const std::vector<std::vector<double>>& arms) {
  return check_rule(rule, results(arms), {{"a", 1.0}}).met;
}

TEST(VerdictRule, BelowCountsTheSeedsThatAreBelow) {
  const Rule rule{.kind = "below", .arms = {"a"}, .measure = mse, .high = 0.01, .share = 0.8};
  EXPECT_EQ(met(rule, {{0.001, 0.002, 0.009, 0.0099, 0.5}}), Answer::yes);  // 4 of 5
  EXPECT_EQ(met(rule, {{0.001, 0.002, 0.009, 0.0101, 0.5}}), Answer::no);   // 3 of 5
  EXPECT_EQ(met(rule, {{0.01}}), Answer::no);
  EXPECT_EQ(met(rule, {{std::numeric_limits<double>::quiet_NaN()}}), Answer::no);
  EXPECT_EQ(met(rule, {{}}), Answer::unknown);
}

TEST(VerdictRule, WithoutAShareTheMeanCounts) {
  const Rule above{.kind = "above", .arms = {"a"}, .measure = mse, .low = 0.15};
  EXPECT_EQ(met(above, {{0.10, 0.21}}), Answer::yes);
  EXPECT_EQ(met(above, {{0.10, 0.19}}), Answer::no);
  const Rule between{.kind = "between", .arms = {"a"}, .measure = mse, .low = 0.51, .high = 0.54};
  EXPECT_EQ(met(between, {{0.51}}), Answer::yes);
  EXPECT_EQ(met(between, {{0.5099}}), Answer::no);
  EXPECT_EQ(met(between, {{0.5401}}), Answer::no);
}

TEST(VerdictRule, WithinIsADistanceFromThePapersValue) {
  const Rule rule{.kind = "within", .arms = {"a"}, .measure = mse, .margin = 0.05};
  EXPECT_EQ(met(rule, {{1.02, 1.06}}), Answer::yes);
  EXPECT_EQ(met(rule, {{1.02, 1.10}}), Answer::no);
  EXPECT_EQ(met(rule, {{0.94}}), Answer::no);
}

TEST(VerdictRule, LessAndGreaterAskForTheirMargin) {
  const Rule less{.kind = "less", .arms = {"a"}, .than = {"b"}, .measure = mse, .margin = 0.25};
  EXPECT_EQ(met(less, {{1.0}, {1.25}}), Answer::yes);
  EXPECT_EQ(met(less, {{1.0}, {1.24}}), Answer::no);
  EXPECT_EQ(met(less, {{1.0}}), Answer::unknown);
  const Rule greater{.kind = "greater", .arms = {"a"}, .than = {"b"}, .measure = mse, .margin = 0.25};
  EXPECT_EQ(met(greater, {{1.25}, {1.0}}), Answer::yes);
  EXPECT_EQ(met(greater, {{1.0}, {1.25}}), Answer::no);
  const Rule forgiving{.kind = "less", .arms = {"a"}, .than = {"b", "c"}, .measure = mse, .margin = -0.01};
  EXPECT_EQ(met(forgiving, {{1.005}, {1.0}, {1.2}}), Answer::yes);
  EXPECT_EQ(met(forgiving, {{1.02}, {1.0}, {1.2}}), Answer::no);  // worse than the best of them
}

TEST(VerdictRule, WelchIsAskedWhereARuleHasAP) {
  const Rule rule{.kind = "greater", .arms = {"a"}, .than = {"b"}, .measure = mse, .p = 0.05};
  EXPECT_EQ(met(rule, {{2.0, 2.1, 1.9}, {1.0, 1.1, 0.9}}), Answer::yes);
  EXPECT_EQ(met(rule, {{2.0, 4.0, 0.0}, {1.0, 3.0, -1.0}}), Answer::no);
  EXPECT_EQ(met(rule, {{2.0}, {1.0}}), Answer::no);  // one seed cannot say
}

TEST(VerdictRule, FallingForgivesItsMarginAndMustFallInAll) {
  const Rule rule{.kind = "falling", .arms = {"a", "b", "c"}, .measure = mse, .margin = 0.25};
  EXPECT_EQ(met(rule, {{3}, {3.25}, {1}}), Answer::yes);
  EXPECT_EQ(met(rule, {{3}, {3.5}, {1}}), Answer::no);
  EXPECT_EQ(met(rule, {{3}, {3}, {3}}), Answer::no);
  const Rule rising{.kind = "rising", .arms = {"a", "b"}, .measure = mse};
  EXPECT_EQ(met(rising, {{1}, {2}}), Answer::yes);
  EXPECT_EQ(met(rising, {{2}, {1}}), Answer::no);
}

TEST(VerdictRule, ATrendIsToldBeyondTwoStandardErrors) {
  const Rule rule{.kind = "less", .arms = {"a"}, .than = {"b"}, .measure = mse, .margin = 100, .trend = true};
  const auto trend = [&](const std::vector<double>& a, const std::vector<double>& b) {
    return check_rule(rule, results({a, b}), {}).trend;
  };
  EXPECT_EQ(trend({1.0, 1.1}, {2.0, 2.1}), Answer::yes);  // the margin does not matter
  EXPECT_EQ(trend({2.0, 2.1}, {1.0, 1.1}), Answer::no);
  EXPECT_EQ(trend({1.0, 3.0}, {2.0, 4.0}), Answer::unknown);
  EXPECT_EQ(trend({1.0}, {2.0}), Answer::unknown);  // one seed has no spread
}

/// a is below b, and below 0.01.
const std::vector<Rule> claim = {
    {.kind = "below", .arms = {"a"}, .measure = mse, .high = 0.01, .share = 0.8},
    {.kind = "less", .arms = {"a"}, .than = {"b"}, .measure = mse, .trend = true}};

std::string word(Scale scale, const std::vector<std::vector<double>>& arms) {
  return judge(claim, results(arms), {}, scale, 3).word;
}

TEST(Verdict, FullScaleHasThreeWords) {
  EXPECT_EQ(word(Scale::full, {{0.001, 0.002, 0.001}, {0.16, 0.17, 0.16}}), "reproduced");
  EXPECT_EQ(word(Scale::full, {{0.02, 0.03, 0.02}, {0.16, 0.17, 0.16}}), "trend only");
  EXPECT_EQ(word(Scale::full, {{0.16, 0.17, 0.16}, {0.02, 0.03, 0.02}}), "not reproduced");
}

TEST(Verdict, FewerSeedsThanAskedForGetTheWordsOfQuickScale) {
  EXPECT_EQ(word(Scale::full, {{0.001, 0.002}, {0.16, 0.17}}), "trend");
  EXPECT_EQ(word(Scale::full, {{0.001, 0.002, 0.001}, {0.16, 0.17}}), "trend");
  EXPECT_EQ(word(Scale::full, {{0.16, 0.17}, {0.001, 0.002}}), "no trend");
  EXPECT_EQ(word(Scale::full, {{0.001, 0.002, 0.001}, {}}), "too small to tell");
}

TEST(Verdict, QuickScaleNeverSaysReproduced) {
  EXPECT_EQ(word(Scale::quick, {{0.001, 0.002, 0.001}, {0.16, 0.17, 0.16}}), "trend");
  EXPECT_EQ(word(Scale::quick, {{0.16, 0.17, 0.16}, {0.001, 0.002, 0.001}}), "no trend");
  EXPECT_EQ(word(Scale::quick, {{0.001}, {0.16}}), "too small to tell");
  EXPECT_EQ(word(Scale::quick, {{0.1, 0.3, 0.2}, {0.2, 0.3, 0.2}}), "too small to tell");
}

TEST(Verdict, WithoutNumbersNothingWasRun) {
  EXPECT_EQ(word(Scale::full, {}), "not run");
  EXPECT_EQ(word(Scale::quick, {}), "not run");
}

}  // namespace
}  // namespace throughtime

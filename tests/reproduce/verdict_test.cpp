#include "reproduce/verdict.h"

#include <gtest/gtest.h>

#include "reproduce/arm_values.h"

namespace throughtime::testing {
namespace {

/// a is below b, and below 0.01.
const std::vector<Rule> claim = {{.kind = RuleKind::below, .arms = {"a"}, .measure = mse, .high = 0.01, .share = 0.8},
                                 {.kind = RuleKind::less, .arms = {"a"}, .than = {"b"}, .measure = mse, .trend = true}};

std::string_view word(const std::vector<Rule>& rules, Scale scale, const std::vector<std::vector<double>>& arms) {
  return name_of(judge(rules, results(arms), {}, scale, 3).word);
}
std::string_view word(Scale scale, const std::vector<std::vector<double>>& arms) { return word(claim, scale, arms); }

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

TEST(Verdict, AClaimWithoutADirectionIsToldAtFullScaleOnly) {
  const std::vector<Rule> level = {{.kind = RuleKind::below, .arms = {"a"}, .measure = mse, .high = 0.01}};
  EXPECT_EQ(word(level, Scale::full, {{0.001, 0.002, 0.001}}), "reproduced");
  EXPECT_EQ(word(level, Scale::full, {{0.1, 0.2, 0.1}}), "not reproduced");
  EXPECT_EQ(word(level, Scale::quick, {{0.001, 0.002, 0.001}}), "too small to tell");
}

TEST(Verdict, SomeOfItsArmsAreTooFewToTell) {
  const std::vector<Rule> both = {{.kind = RuleKind::below, .arms = {"a", "b"}, .measure = mse, .high = 0.01}};
  EXPECT_EQ(word(both, Scale::full, {{0.001, 0.002, 0.001}}), "too small to tell");
}

TEST(Verdict, WithoutNumbersNothingWasRun) {
  EXPECT_EQ(word(Scale::full, {}), "not run");
  EXPECT_EQ(word(Scale::quick, {}), "not run");
}

}  // namespace
}  // namespace throughtime::testing

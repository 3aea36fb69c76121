#include "reproduce/claims/verdict.h"

#include <gtest/gtest.h>

#include <cmath>

#include "reproduce/arm_values.h"

namespace throughtime::testing {
namespace {

/// a is below b, and below 0.01.
const std::vector<Rule> claim = {{.kind = RuleKind::below, .arms = {"a"}, .measure = mse, .high = 0.01, .share = 0.8},
                                 {.kind = RuleKind::less, .arms = {"a"}, .than = {"b"}, .measure = mse, .trend = true}};

std::string_view word(const std::vector<Rule>& rules, Scale scale, const std::vector<std::vector<double>>& arms) {
  return name_of(judge(rules, {.values = results(arms), .paper = {}, .scale = scale, .seeds = 3}).word);
}
std::string_view word(Scale scale, const std::vector<std::vector<double>>& arms) { return word(claim, scale, arms); }

TEST(Verdict, FullScaleHasThreeWords) {
  EXPECT_EQ(word(Scale::full, {{0.001, 0.002, 0.001}, {0.16, 0.17, 0.16}}), "reproduced");
  EXPECT_EQ(word(Scale::full, {{0.02, 0.03, 0.02}, {0.16, 0.17, 0.16}}), "trend only");
  EXPECT_EQ(word(Scale::full, {{0.16, 0.17, 0.16}, {0.02, 0.03, 0.02}}), "not reproduced");
}

TEST(Verdict, FewerSeedsThanAskedForGetTheWordsOfQuickScale) {
  EXPECT_EQ(word(Scale::full, {{0.001, 0.002}, {0.16, 0.162}}), "trend");
  EXPECT_EQ(word(Scale::full, {{0.001, 0.002, 0.001}, {0.16, 0.162}}), "trend");
  EXPECT_EQ(word(Scale::full, {{0.16, 0.162}, {0.001, 0.002}}), "no trend");
  EXPECT_EQ(word(Scale::full, {{0.001, 0.002, 0.001}, {}}), "too small to tell");
}

TEST(Verdict, QuickScaleNeverSaysReproduced) {
  EXPECT_EQ(word(Scale::quick, {{0.001, 0.002, 0.001}, {0.16, 0.17, 0.16}}), "trend");
  EXPECT_EQ(word(Scale::quick, {{0.16, 0.17, 0.16}, {0.001, 0.002, 0.001}}), "no trend");
  EXPECT_EQ(word(Scale::quick, {{0.001}, {0.16}}), "too few seeds");
  EXPECT_EQ(word(Scale::quick, {{0.1, 0.3, 0.2}, {0.2, 0.3, 0.2}}), "too small to tell");
}

TEST(Verdict, AMeanThatIsOnTheRightSideByChanceIsNotReproduced) {
  const std::vector<Rule> less = {
      {.kind = RuleKind::less, .arms = {"a"}, .than = {"b"}, .measure = mse, .trend = true}};
  EXPECT_EQ(word(less, Scale::full, {{0.1, 0.3, 0.2}, {0.2, 0.3, 0.2}}), "too small to tell") << "p = 0.42";
  EXPECT_EQ(word(less, Scale::full, {{0.1, 0.3, 0.2}, {0.6, 0.8, 0.7}}), "reproduced");
}

TEST(Verdict, PIsThatOfTheTrendsTogether) {
  const auto p = [](const std::vector<Rule>& rules, const std::vector<std::vector<double>>& arms) {
    return judge(rules, {.values = results(arms), .paper = {}, .scale = Scale::quick, .seeds = 3}).p;
  };
  EXPECT_NEAR(p(claim, {{0, 0, 0}, {1, 2, 3}}), check_rule(claim[1], results({{0, 0, 0}, {1, 2, 3}}), {}).trend.p, 0);
  EXPECT_TRUE(std::isnan(p({claim[0]}, {{0, 0, 0}}))) << "a threshold has no p";
}

TEST(Verdict, AClaimWithoutADirectionHoldsOrDoesNot) {
  const std::vector<Rule> level = {{.kind = RuleKind::below, .arms = {"a"}, .measure = mse, .high = 0.01}};
  EXPECT_EQ(word(level, Scale::full, {{0.001, 0.002, 0.001}}), "reproduced");
  EXPECT_EQ(word(level, Scale::full, {{0.1, 0.2, 0.1}}), "not reproduced");
  EXPECT_EQ(word(level, Scale::quick, {{0.001, 0.002, 0.001}}), "holds");
  EXPECT_EQ(word(level, Scale::quick, {{0.1, 0.2, 0.1}}), "does not hold");
  EXPECT_EQ(word(level, Scale::quick, {{0.001}}), "too few seeds");
  const std::vector<Rule> of_the_paper = {{.kind = RuleKind::within, .arms = {"a"}, .measure = mse, .margin = 1}};
  const ArmValues values = results({{1, 1, 1}});
  EXPECT_EQ(judge(of_the_paper, {.values = values, .paper = {{"a", 1.0}}, .scale = Scale::quick, .seeds = 3}).word,
            VerdictWord::too_small)
      << "its number belongs to its setting";
}

TEST(Verdict, SomeOfItsArmsAreTooFewToTell) {
  const std::vector<Rule> both = {{.kind = RuleKind::below, .arms = {"a", "b"}, .measure = mse, .high = 0.01}};
  EXPECT_EQ(word(both, Scale::full, {{0.001, 0.002, 0.001}}), "too small to tell");
}

TEST(Verdict, RunsThatLearnedNothingProveNothing) {
  const std::vector<std::vector<double>> arms = {{0.001, 0.002, 0.001}, {0.16, 0.17, 0.16}};
  const auto word_of = [&](const std::vector<Rule>& rules, const LearnedByArm& learned) {
    return name_of(
        judge(rules, {.values = results(arms), .paper = {}, .scale = Scale::quick, .seeds = 3, .learned = learned})
            .word);
  };
  using enum Learned;
  EXPECT_EQ(word_of(claim, {{"a", {more, more, more}}, {"b", {baseline, baseline, baseline}}}), "trend")
      << "one of them learned: that the other did not is the claim";
  EXPECT_EQ(word_of(claim, {{"a", {baseline, baseline, more}}, {"b", {baseline, baseline, baseline}}}),
            "proves nothing");
  EXPECT_EQ(word_of(claim, {{"a", {more, more, more}}, {"b", {nothing, nothing, more}}}), "proves nothing")
      << "b is worse than a guess";
  EXPECT_EQ(word_of(claim, {{"a", {more, more, more}}, {"b", {nothing, more, more}}}), "trend") << "one run of three";
  EXPECT_EQ(word_of(claim, {}), "trend") << "stored before it was known";
  EXPECT_EQ(word_of({claim[0]}, {{"a", {baseline, baseline, baseline}}}), "holds") << "a level may be the baseline";
  EXPECT_EQ(word_of({claim[0]}, {{"a", {nothing, nothing, nothing}}}), "proves nothing");
}

TEST(Verdict, WithoutNumbersNothingWasRun) {
  EXPECT_EQ(word(Scale::full, {}), "not run");
  EXPECT_EQ(word(Scale::quick, {}), "not run");
}

}  // namespace
}  // namespace throughtime::testing

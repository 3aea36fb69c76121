#include "reproduce/claims/claim_curve.h"

#include <gtest/gtest.h>

#include "reproduce/arm_values.h"
#include "reproduce/atlas_text.h"
#include "support/scratch.h"

namespace throughtime::testing {
namespace {

/// Two seeds of an arm with one curve.
RunGroup group_with(const std::string& arm, const std::string& metric, const std::vector<double>& values) {
  RunGroup group{.name = arm, .runs = {}};
  for (const int seed : {1, 2}) {
    RunRecord run;
    run.directory = std::filesystem::path("runs") / arm / ("seed-" + std::to_string(seed));
    for (std::size_t i = 0; i < values.size(); ++i) {
      run.series[metric].x.push_back(static_cast<double>(i));
      run.series[metric].y.push_back(values[i] + 0.01 * seed);
    }
    group.runs.push_back(run);
  }
  return group;
}

TEST(ClaimCurve, IsThatOfTheMeasureOrOfWhatIsBehindIt) {
  const auto behind = [](const std::string& measured, const std::string& recorded, std::size_t values = 3) {
    const std::vector<double> curve(values, 1.0);
    return curve_behind({measured, MeasureHow::last}, {group_with("a", recorded, curve)});
  };
  EXPECT_EQ(behind("relative_bias", "relative_bias"), "relative_bias");
  EXPECT_EQ(behind("best.validation_mse", "validation_mse"), "validation_mse");
  EXPECT_EQ(behind("metrics.test_mse", "validation_mse"), "validation_mse");
  EXPECT_EQ(behind("best.test_mse", "train_loss"), "train_loss");
  EXPECT_EQ(behind("seconds", "spread"), "");
  EXPECT_EQ(behind("relative_bias", "relative_bias", 1), "") << "one value is no curve";
}

TEST(ClaimCurve, HasTheArmsOfTheClaimAndThePapersValuesWhereTheyAreHeights) {
  const std::vector<RunGroup> groups = {group_with("a", "validation_mse", {3, 2}),
                                        group_with("b", "validation_mse", {2, 1}),
                                        group_with("stranger", "validation_mse", {9, 8})};
  Claim claim;
  claim.says = "a beats b";
  claim.values["a"] = 0.5;
  claim.show = {"a", "b"};
  claim.measure = {"best.validation_mse", MeasureHow::result};
  const Chart chart = claim_chart(claim, groups);
  EXPECT_EQ(chart.title, "validation mse");
  EXPECT_EQ(chart.caption, "a beats b");
  EXPECT_EQ(chart.curves.size(), 2u);
  ASSERT_EQ(chart.references.size(), 1u);
  EXPECT_EQ(chart.references[0].label, "paper, a");
  claim.measure = {"validation_mse", MeasureHow::reach, 0.1};
  EXPECT_TRUE(claim_chart(claim, groups).references.empty()) << "iterations are no height";
  claim.measure = {"best.test_accuracy", MeasureHow::result};
  EXPECT_TRUE(claim_chart(claim, {group_with("a", "train_loss", {3, 2})}).references.empty()) << "another curve";
  EXPECT_TRUE(claim_chart(claim, {group_with("stranger", "train_loss", {3, 2})}).curves.empty());
}

TEST(ClaimCurve, ClaimsWithTheSameCurvesShareAPicture) {
  const std::vector<RunGroup> groups = {group_with("a", "validation_mse", {3, 2}),
                                        group_with("b", "validation_mse", {2, 1})};
  const auto claim = [](const std::string& says, const std::string& than) {
    const Rule rule{.kind = RuleKind::less, .arms = {"a"}, .than = {than}, .measure = mse, .trend = true};
    return Claim{.says = says, .measure = mse, .rules = {rule}};
  };
  ResultSpec spec{.name = "paper/figure-0", .file = {}, .arms = {"a", "b", "c"}};
  spec.claims = {claim("first.", "b"), claim("second.", "b"), claim("third.", "a")};
  StoredResult stored;
  stored.values = results({{2.0, 2.1}, {1.0, 1.1}});
  const std::vector<Chart> charts = claim_charts(spec, stored, groups);
  ASSERT_EQ(charts.size(), 2u);
  EXPECT_EQ(charts[0].caption, "1. first. 2. second.");
  EXPECT_EQ(charts[1].caption, "3. third.");
}

TEST(ClaimCurve, IsKeptForClaimsThatDidNotHoldAndShownInTheAtlas) {
  if (!gnuplot_found()) GTEST_SKIP() << "gnuplot is not installed";
  const ScratchDirectory directory;
  const Rule rule{.kind = RuleKind::less, .arms = {"a"}, .than = {"b"}, .measure = mse, .trend = true};
  ResultSpec spec{.name = "paper/figure-0.1", .file = {}, .arms = {"a", "b", "c"}};
  spec.claims = {Claim{.says = "a beats b", .measure = mse, .rules = {rule}},
                 Claim{.says = "a beats b again", .measure = mse, .rules = {rule}}};
  spec.claims[1].rules[0].than = {"c"};
  StoredResult stored{.scale = Scale::quick, .version = "0", .commit = "c", .engine = "cpu"};
  stored.values = results({{2.0, 2.1, 2.0}, {1.0, 1.1, 1.2}, {5.0, 5.1, 5.2}});
  const std::vector<RunGroup> groups = {group_with("a", "validation_mse", {3, 2}),
                                        group_with("b", "validation_mse", {2, 1}),
                                        group_with("stranger", "validation_mse", {9, 8})};
  const std::filesystem::path first = directory / "paper/figure-0.1.quick.claim-1.svg";
  directory.write("paper/figure-0.1.quick.json", json_of(stored));
  directory.write("paper/figure-0.1.quick.claim-2.svg", "of an earlier run");
  store_curves(spec, stored, groups, directory.path());
  const std::string picture = text_of(first);
  EXPECT_NE(picture.find("<svg"), std::string::npos);
  EXPECT_EQ(picture.find("stranger"), std::string::npos) << "the arms of the claim alone";
  EXPECT_FALSE(std::filesystem::exists(directory / "paper/figure-0.1.quick.claim-2.svg")) << "that claim holds";
  const std::string atlas = atlas_text({spec}, directory.path());
  EXPECT_NE(atlas.find("![a beats b](../../experiments/results/paper/figure-0.1.quick.claim-1.svg)"),
            std::string::npos);

  stored.values = results({{0.5, 0.6, 0.5}, {1.0, 1.1, 1.2}, {5.0, 5.1, 5.2}});
  store_curves(spec, stored, groups, directory.path());
  EXPECT_FALSE(std::filesystem::exists(first));
}

}  // namespace
}  // namespace throughtime::testing

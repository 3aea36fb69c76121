#include "report/runs.h"

#include <gtest/gtest.h>

#include <cmath>

#include "report/charts/curves.h"
#include "report/downloads.h"
#include "report/report.h"
#include "report/run_writer.h"
#include "report/support.h"
#include "support/errors.h"

namespace throughtime {
namespace {

using testing::count_of;
using testing::ScratchDirectory;
using testing::write_run;

TEST(ReadRun, TakesAllThatAWholeRunTells) {
  ScratchDirectory scratch;
  write_run(scratch, "fptt-seed-2", {.learner = "fptt", .seed = 2, .test = 0.25, .losses = {1, 0.5}});
  const RunRecord run = read_run(scratch / "fptt-seed-2");
  EXPECT_EQ(run.name, "fptt-seed-2");
  EXPECT_EQ(run.seed, 2u);
  EXPECT_EQ(run.option("learner.name"), "fptt");
  EXPECT_EQ(run.config.front().first, "task.name");  // the file's order, not the alphabet's
  EXPECT_TRUE(run.finished);
  EXPECT_EQ(run.result.number("metrics.test_mse"), 0.25);
  EXPECT_EQ(run.series.at("train_loss").x, (std::vector<double>{10, 20}));
  EXPECT_EQ(run.series.at("train_loss").y, (std::vector<double>{1, 0.5}));
  EXPECT_TRUE(run.troubles.empty()) << run.troubles.front();
}

TEST(ReadRun, SaysWhatIsMissingOfAHalfFinishedRun) {
  ScratchDirectory scratch;
  write_run(scratch, "half", {.seed = 1, .losses = {3, 2}});
  std::filesystem::remove(scratch / "half/result.json");
  testing::write_text(
      scratch / "half/metrics.jsonl",
      "{\"iteration\":10,\"train_loss\":3}\n{\"iteration\":20,\"train_loss\":null}\n{\"iteration\":30,\"tr");
  const RunRecord run = read_run(scratch / "half");
  EXPECT_FALSE(run.finished);
  ASSERT_EQ(run.series.at("train_loss").y.size(), 2u);
  EXPECT_TRUE(std::isnan(run.series.at("train_loss").y[1]));
  ASSERT_EQ(run.troubles.size(), 2u);
  EXPECT_EQ(run.troubles[0], "metrics.jsonl: 1 of 3 lines are no records, the first is line 3 (cut off)");
  EXPECT_EQ(run.troubles[1], "not finished: it has no result.json and its curves end at iteration 20");
}

TEST(ReadRun, ACurveHasTheBaselineOfItsOwnSplit) {
  ScratchDirectory scratch;
  write_run(scratch, "run", {});
  testing::write_text(scratch / "run/metrics.jsonl",
                      "{\"iteration\":10,\"validation_mse\":3,\"test_mse\":3,\"rolling_mse\":3}\n"
                      "{\"iteration\":20,\"validation_mse\":2,\"test_mse\":2,\"rolling_mse\":2}\n");
  const auto lines = [&](const std::string& metric) {
    std::vector<double> values;
    const std::vector<RunGroup> groups = group_runs({read_run(scratch / "run")});
    for (const ReferenceLine& line : chart_of(groups, metric, 1, false, XAxis::iteration).references)
      values.push_back(line.y);
    return values;
  };
  // Where a run tells one baseline alone it is that of its test, or of all rows of a stream.
  EXPECT_EQ(lines("validation_mse"), (std::vector<double>{}));
  EXPECT_EQ(lines("test_mse"), (std::vector<double>{0.167}));
  EXPECT_EQ(lines("rolling_mse"), (std::vector<double>{0.167}));
  testing::write_text(scratch / "run/result.json",
                      "{\"metric\":\"mse\",\"baseline\":2,\"baselines\":{\"validation_mse\":7,\"test_mse\":2}}\n");
  EXPECT_EQ(lines("validation_mse"), (std::vector<double>{7}));
  EXPECT_EQ(lines("test_mse"), (std::vector<double>{2}));
}

TEST(ReadRun, NoDamageIsTooGreat) {
  for (const std::string garbage : {"", "\xff\xfe\x00", "[1,2", "{\"iteration\":\"x\"}\n[]\n7\n\n", "= = =", "null"}) {
    ScratchDirectory scratch;
    for (const char* name : {"config.toml", "metrics.jsonl", "result.json", "environment.json"})
      scratch.write(std::string("run/") + name, garbage);
    const std::vector<RunGroup> groups = group_runs(read_runs({(scratch / "run").string()}));
    ASSERT_EQ(groups.size(), 1u);
    EXPECT_EQ(groups[0].name, "run");
    EXPECT_EQ(groups[0].finished(), 0u);
    const std::string html = html_of(make_report(groups, {}));
    EXPECT_NE(html.find("</html>"), std::string::npos);
    EXPECT_FALSE(csv_of(groups).empty());
  }
}

TEST(ReadRuns, FindsRunsBelowADirectoryOnce) {
  ScratchDirectory scratch;
  write_run(scratch, "runs/b", {.seed = 1});
  write_run(scratch, "runs/deep/a", {.seed = 2});
  const std::vector<RunRecord> runs = read_runs({(scratch / "runs").string(), (scratch / "runs/b").string()});
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].name, "b");
  EXPECT_EQ(runs[1].name, "a");
}

TEST(ReadRuns, RefusesPathsWithoutARun) {
  ScratchDirectory scratch;
  EXPECT_REFUSED(read_runs({(scratch / "none").string()}), "there is no such directory");
  EXPECT_REFUSED(read_runs({scratch.path().string()}), "holds no run");
}

std::vector<RunGroup> three_groups(const ScratchDirectory& scratch) {
  write_run(scratch, "bptt-seed-1", {.learner = "bptt", .seed = 1, .test = 1, .losses = {4, 2}});
  write_run(scratch, "bptt-seed-2", {.learner = "bptt", .seed = 2, .test = 3, .losses = {6, 4, 1}});
  write_run(scratch, "fptt", {.learner = "fptt", .seed = 1, .test = 5, .losses = {8, 8}});
  return group_runs(read_runs({scratch.path().string()}));
}

TEST(Groups, AreRunsThatDifferInTheirSeedAlone) {
  ScratchDirectory scratch;
  const std::vector<RunGroup> groups = three_groups(scratch);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].name, "bptt");
  EXPECT_EQ(groups[0].runs.size(), 2u);
  EXPECT_EQ(groups[1].name, "fptt");
  EXPECT_EQ(groups[0].results("metrics.test_mse"), (std::vector<double>{1, 3}));
  EXPECT_EQ(differing_options(groups), (std::vector<std::string>{"learner.name"}));
}

TEST(Groups, KeepTheNumbersOfTheirNames) {
  ScratchDirectory scratch;
  for (const int seed : {11, 12})
    write_run(scratch, "k-5-seed-" + std::to_string(seed), {.learner = "tbptt", .seed = seed});
  EXPECT_EQ(group_runs(read_runs({scratch.path().string()}))[0].name, "k-5");
}

TEST(Groups, OfOneNameAreToldApartByTheirOptions) {
  ScratchDirectory scratch;
  write_run(scratch, "a/run", {.learner = "bptt", .seed = 1});
  write_run(scratch, "b/run", {.learner = "fptt", .seed = 1});
  const std::vector<RunGroup> groups = group_runs(read_runs({scratch.path().string()}));
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].name, "run (learner.name=bptt)");
  EXPECT_EQ(groups[1].name, "run (learner.name=fptt)");
}

TEST(Curves, AreMeansWithABandWhereAllSeedsHaveAValue) {
  ScratchDirectory scratch;
  const std::vector<Curve> curves = curves_of(three_groups(scratch)[0], "train_loss", 1, false);
  ASSERT_EQ(curves.size(), 1u);
  EXPECT_EQ(curves[0].x, (std::vector<double>{10, 20}));  // the second seed alone reached 30
  EXPECT_EQ(curves[0].y, (std::vector<double>{5, 3}));
  EXPECT_DOUBLE_EQ(curves[0].high[0] - curves[0].low[0], 2 * std::sqrt(2.0));
}

TEST(Curves, OnALogarithmicAxisAreMeansOfLogarithms) {
  ScratchDirectory scratch;
  const std::vector<Curve> curves = curves_of(three_groups(scratch)[0], "train_loss", 1, true);
  ASSERT_EQ(curves.size(), 1u);
  EXPECT_DOUBLE_EQ(curves[0].y[0], std::sqrt(4.0 * 6.0));
  EXPECT_DOUBLE_EQ(curves[0].high[0] / curves[0].low[0], std::pow(6.0 / 4.0, std::sqrt(2.0)));
}

TEST(Curves, SmoothingIsAMeanOfTheLastValues) {
  const Series series{{1, 2, 3, 4}, {1, 3, NAN, 5}};
  const Series smooth = smoothed(series, 2);
  EXPECT_EQ(smooth.y[0], 1);
  EXPECT_EQ(smooth.y[1], 2);
  EXPECT_TRUE(std::isnan(smooth.y[2]));
  EXPECT_EQ(smooth.y[3], 5);
  EXPECT_EQ(smoothed({{1, 2, 3}, {1, 2, 6}}, 3).y[2], 3);
}

/// A run of two seeds with estimates: at iteration 10 they have read 100 and 300 rows beside 200 that were learned
/// from.
std::vector<RunGroup> with_estimates(const ScratchDirectory& scratch) {
  for (const int seed : {1, 2}) {
    const std::string run = fmt::format("adaptive-{}", seed);
    write_run(scratch, run, {.learner = "adaptive_tbptt", .seed = seed});
    scratch.write(run + "/metrics.jsonl",
                  fmt::format(R"({{"iteration":10,"epoch":1,"train_loss":4,"rows":200,"estimation_rows":{},"seconds":2}}
{{"iteration":15,"validation_loss":3}}
{{"iteration":20,"epoch":2,"train_loss":2,"rows":400,"estimation_rows":{},"seconds":6}}
)",
                              seed == 1 ? 100 : 300, seed == 1 ? 200 : 600));
  }
  return group_runs(read_runs({scratch.path().string()}));
}

TEST(Curves, CanBeOverEpochsThatCountTheRowsOfEstimates) {
  const ScratchDirectory scratch;
  const std::vector<RunGroup> groups = with_estimates(scratch);
  ASSERT_EQ(groups.size(), 1u);
  const auto places = [&](XAxis x, const std::string& metric) {
    return curves_over(x, groups[0], metric, 1, false).at(0).x;
  };
  EXPECT_EQ(places(XAxis::iteration, "train_loss"), (std::vector<double>{10, 20}));
  EXPECT_EQ(places(XAxis::epoch, "train_loss"), (std::vector<double>{1, 2}));
  // 1 * (200 + 100) / 200 and 1 * (200 + 300) / 200 in the mean: 2.
  EXPECT_EQ(places(XAxis::epoch_with_estimates, "train_loss"), (std::vector<double>{2, 4}));
  EXPECT_EQ(places(XAxis::epoch_with_estimates, "validation_loss"), (std::vector<double>{3})) << "half-way between";
  EXPECT_EQ(places(XAxis::seconds, "train_loss"), (std::vector<double>{2, 6}));
  EXPECT_EQ(chart_of(groups, "train_loss", 1, false, XAxis::epoch_with_estimates).x_label,
            "epoch, rows of estimates included");
}

TEST(Curves, WithoutEstimatesAreOverTheirEpochs) {
  const ScratchDirectory scratch;
  write_run(scratch, "plain", {});
  scratch.write("plain/metrics.jsonl",
                "{\"iteration\":10,\"epoch\":1,\"train_loss\":4}\n{\"iteration\":20,\"epoch\":2,\"train_loss\":2}\n");
  const std::vector<RunGroup> groups = group_runs(read_runs({scratch.path().string()}));
  EXPECT_EQ(curves_over(XAxis::epoch_with_estimates, groups[0], "train_loss", 1, false).at(0).x,
            (std::vector<double>{1, 2}));
  EXPECT_TRUE(curves_over(XAxis::seconds, groups[0], "train_loss", 1, false).empty()) << "it has no clock";
  EXPECT_TRUE(chart_of(groups, "train_loss", 1, false, XAxis::seconds).curves.empty());
  EXPECT_REFUSED(make_figures(groups, {.x = XAxis::seconds}), "no run has written its seconds");
  const std::vector<Chart> figures = make_figures(groups, {.x = XAxis::epoch});
  ASSERT_EQ(figures.size(), 1u) << "no second one over time";
  EXPECT_EQ(figures[0].x_label, "epoch");
}

TEST(Curves, SmoothingIsStatedOnTheAxis) {
  ScratchDirectory scratch;
  const std::vector<RunGroup> groups = three_groups(scratch);
  EXPECT_EQ(chart_of(groups, "train_loss", 1, false).y_label, "train loss");
  EXPECT_EQ(chart_of(groups, "train_loss", 1, false).note, "mean over seeds, band of one deviation");
  EXPECT_NE(chart_of(groups, "train_loss", 5, false).y_label.find("mean of the last 5 values"), std::string::npos);
}

TEST(Figures, LeaveOutClocksAndWhatNeverChanges) {
  ScratchDirectory scratch;
  const std::vector<std::string> metrics = drawn_metrics(three_groups(scratch));
  EXPECT_EQ(metrics, (std::vector<std::string>{"train_loss"}));
  EXPECT_REFUSED(make_figures(three_groups(scratch), {.metrics = {"trian_loss"}}), "did you mean 'train_loss'?");
}

TEST(Groups, LeaveOutADirectoryThatAllNamesShare) {
  const auto names = [](const std::vector<std::string>& of_runs) {
    ScratchDirectory scratch;
    for (std::size_t i = 0; i < of_runs.size(); ++i) {
      write_run(scratch, fmt::format("{}", i), {.learner = fmt::format("l{}", i)});
      scratch.write(fmt::format("{}/config.toml", i),
                    fmt::format("[learner]\nname = \"l{}\"\n\n[run]\nname = '{}'\n", i, of_runs[i]));
    }
    std::vector<std::string> result;
    for (const RunGroup& group : group_runs(read_runs({scratch.path().string()}))) result.push_back(group.name);
    return result;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names({"c/whole", "c/fptt"}), (Names{"whole", "fptt"}));
  EXPECT_EQ(names({"a/c/whole", "a/c/fptt"}), (Names{"whole", "fptt"}));
  EXPECT_EQ(names({"c/whole", "d/whole"}), (Names{"c/whole", "d/whole"}));
  EXPECT_EQ(names({"c/whole", "c/deep/whole"}), (Names{"c/whole", "c/deep/whole"}));
  EXPECT_EQ(names({"c/whole"}), (Names{"c/whole"})) << "one run is called as it is";
}

}  // namespace
}  // namespace throughtime

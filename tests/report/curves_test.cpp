#include "report/charts/curves.h"

#include <gtest/gtest.h>

#include "report/charts/axis.h"
#include "report/report.h"
#include "report/run_writer.h"
#include "report/units.h"

namespace throughtime {
namespace {

using testing::ScratchDirectory;
using testing::write_run;

/// One run whose metrics.jsonl is this.
std::vector<RunGroup> run_with(const ScratchDirectory& scratch, const std::string& metrics) {
  write_run(scratch, "run", {.best_test = 1});
  scratch.write("run/metrics.jsonl", metrics);
  return group_runs({read_run(scratch / "run")});
}

TEST(ChosenWeights, AreMarkedOnTheCurvesOfTheirRun) {
  const ScratchDirectory scratch;
  const std::vector<RunGroup> groups =
      run_with(scratch,
               "{\"iteration\":5,\"train_loss\":8,\"epoch\":1}\n{\"iteration\":10,\"validation_mse\":3}\n"
               "{\"iteration\":15,\"train_loss\":4,\"epoch\":3}\n{\"iteration\":20,\"validation_mse\":4}\n"
               "{\"iteration\":25,\"gradient_norm\":1}\n");
  const auto spots = [&](const std::string& metric, XAxis x = XAxis::iteration) {
    return chart_of(groups, metric, 1, false, x).curves.at(0).chosen;
  };
  ASSERT_EQ(spots("validation_mse").size(), 1u);
  EXPECT_EQ(spots("validation_mse")[0].x, 10);
  EXPECT_EQ(spots("validation_mse")[0].y, 3);
  EXPECT_EQ(spots("train_loss").at(0).y, 6) << "between two reports it lies on the line between them";
  EXPECT_EQ(spots("validation_mse", XAxis::epoch).at(0).x, 2);
  EXPECT_TRUE(spots("gradient_norm").empty());
}

TEST(ChosenWeights, AreNoneWhereNothingWasValidated) {
  const ScratchDirectory scratch;
  write_run(scratch, "run", {});
  EXPECT_FALSE(has_chosen(chart_of(group_runs({read_run(scratch / "run")}), "train_loss", 1, false)));
}

TEST(NaiveBaseline, IsADashedLineInTheChartOfItsMetric) {
  const ScratchDirectory scratch;
  const Chart chart =
      chart_of(run_with(scratch, "{\"iteration\":10,\"test_mse\":3}\n{\"iteration\":20,\"test_mse\":2}\n"), "test_mse",
               1, false);
  ASSERT_EQ(chart.references.size(), 1u);
  EXPECT_EQ(chart.references[0].label, "naive baseline");
  EXPECT_EQ(chart.references[0].y, 0.167);
}

TEST(NaiveBaseline, OfAStreamIsADashedCurveAndHasNoChartOfItsOwn) {
  const ScratchDirectory scratch;
  std::string lines;
  for (const int row : {100, 200})
    lines += fmt::format("{{\"rows\":{0},\"rolling_mse\":{1},\"naive_rolling_mse\":{2}}}\n", row, row / 100, row / 50);
  const std::vector<RunGroup> groups = run_with(scratch, lines);
  const Chart chart = chart_of(groups, "rolling_mse", 1, false);
  ASSERT_EQ(chart.curves.size(), 2u);
  EXPECT_EQ(chart.curves[1].label, "naive forecast");
  EXPECT_TRUE(chart.curves[1].dashed);
  EXPECT_EQ(chart.curves[1].y, (std::vector<double>{2, 4}));
  EXPECT_TRUE(chart.references.empty());
  EXPECT_EQ(drawn_metrics(groups), (std::vector<std::string>{"rolling_mse"}));
}

TEST(RetoldCurves, AreThoseOfOneSplitOnAnotherScale) {
  const ScratchDirectory scratch;
  const std::vector<RunGroup> groups =
      run_with(scratch,
               "{\"iteration\":10,\"validation_loss\":1,\"validation_perplexity\":2.718281828,\"validation_x\":1,"
               "\"train_loss\":1}\n"
               "{\"iteration\":20,\"validation_loss\":2,\"validation_perplexity\":7.389056099,\"validation_x\":1.5,"
               "\"train_loss\":2}\n");
  const auto retold =
      retold_metrics(groups, {"validation_perplexity", "validation_loss", "validation_x", "train_loss"});
  ASSERT_EQ(retold.size(), 1u);
  EXPECT_EQ(retold[0], (std::pair<std::string, std::string>{"validation_loss", "validation_perplexity"}));
}

TEST(RetoldCurves, AreNoneWhereOnlyOneRunHasThemBoth) {
  const ScratchDirectory scratch;
  write_run(scratch, "a", {.learner = "bptt"});
  write_run(scratch, "b", {.learner = "fptt"});
  scratch.write("a/metrics.jsonl",
                "{\"iteration\":1,\"validation_a\":1,\"validation_b\":1}\n{\"iteration\":2,\"validation_a\":2,"
                "\"validation_b\":2}\n");
  scratch.write("b/metrics.jsonl", "{\"iteration\":1,\"validation_a\":1}\n{\"iteration\":2,\"validation_a\":2}\n");
  EXPECT_TRUE(
      retold_metrics(group_runs(read_runs({scratch.path().string()})), {"validation_a", "validation_b"}).empty());
}

TEST(Units, AreThoseOfTheRun) {
  RunRecord run;
  run.config = {{"task.name", "series"}, {"task.series.standardise", "true"}};
  EXPECT_EQ(unit_of("validation_mse", run), "scaled");
  EXPECT_EQ(unit_of("test_original_rmse", run), "units of the file");
  EXPECT_EQ(unit_of("train_loss", run), "scaled");
  run.config[1].second = "false";
  EXPECT_EQ(unit_of("validation_mse", run), "units of the file, squared");
  EXPECT_EQ(unit_of("validation_mae", run), "units of the file");
  EXPECT_EQ(unit_of("test_coverage", run), "share of targets");
  run.config.push_back({"model.levels", "[0.05, 0.5, 0.95]"});
  EXPECT_EQ(unit_of("test_coverage", run), "share of targets, 0.90 wanted");
  run.config.back().second = "[0.001, 0.999]";
  EXPECT_EQ(unit_of("test_coverage", run), "share of targets, 0.998 wanted");
  run.config[0].second = "add";
  EXPECT_EQ(unit_of("validation_mse", run), "") << "generated numbers have none";
  EXPECT_EQ(unit_of("validation_accuracy", run), "share of answers");
  EXPECT_EQ(unit_of("truncation", run), "steps");
  EXPECT_EQ(unit_of("kappa", run), "steps that the estimate asks for");
  run.result.entries = {{"metric", "accuracy"}};
  EXPECT_EQ(unit_of("validation_loss", run), "nats");
}

TEST(Units, OfAStreamAreThoseOfItsColumnsWhateverTheModelReads) {
  RunRecord run;
  run.counter = "row";
  run.config = {{"task.name", "series"}, {"task.series.standardise", "true"}};
  EXPECT_EQ(unit_of("naive_rolling_mse", run), "units of the file, squared");
  EXPECT_EQ(unit_of("loss", run), "scaled");
}

TEST(Losses, OfOtherHeadsHavePicturesOfTheirOwn) {
  const ScratchDirectory scratch;
  for (const std::string head : {"", "quantile"}) {
    const std::string run = "run-" + head;
    write_run(scratch, run, {.losses = {4, 2}});
    scratch.write(run + "/config.toml", fmt::format("[model]\nhead = \"{}\"\n\n[run]\nname = \"{}\"\n", head, run));
  }
  const std::vector<RunGroup> groups = group_runs(read_runs({scratch.path().string()}));
  EXPECT_EQ(loss_heads(groups, "train_loss"), (std::vector<std::string>{"", "quantile"}));
  EXPECT_EQ(loss_heads(groups, "validation_mse").size(), 1u);
  const std::vector<Chart> charts = charts_of(groups, "train_loss", 1, false, XAxis::iteration);
  ASSERT_EQ(charts.size(), 2u);
  EXPECT_EQ(charts[0].title, "train loss of the usual head");
  EXPECT_EQ(charts[1].title, "train loss of head quantile");
  for (std::size_t i = 0; i < 2; ++i) {
    ASSERT_EQ(charts[i].curves.size(), 2u) << "a group keeps its place, and so its colour";
    EXPECT_FALSE(charts[i].curves[i].x.empty());
    EXPECT_TRUE(charts[i].curves[1 - i].x.empty()) << "pinball loss and squared error on one axis";
  }
}

TEST(Bands, OfWhatIsNeverNegativeEndAtZero) {
  Chart chart{.title = "t", .curves = {{.label = "a", .x = {1, 2}, .y = {1, 2}, .low = {-3, 1}, .high = {5, 3}}}};
  EXPECT_LT(y_axis_of(chart).position(-3), 0.1);
  EXPECT_GE(y_axis_of(chart).position(-3), 0) << "a forecast's band is drawn as it is";
  chart.never_negative = true;
  EXPECT_EQ(y_axis_of(chart).position(0), 0);
  EXPECT_EQ(stretches_of(chart.curves[0], x_axis_of(chart), y_axis_of(chart), 100).at(0).low.at(0), 0);
}

TEST(Diagnostics, OfTheSameCurveAreDrawnOnce) {
  const ScratchDirectory scratch;
  const std::vector<RunGroup> groups =
      run_with(scratch,
               "{\"iteration\":1,\"truncation\":4,\"kappa\":4,\"beta\":1}\n{\"iteration\":2,\"truncation\":7,"
               "\"kappa\":7,\"beta\":3}\n");
  EXPECT_EQ(retold_metrics(groups, {"truncation", "kappa", "beta"}),
            (std::vector<std::pair<std::string, std::string>>{{"kappa", "truncation"}}));
}

}  // namespace
}  // namespace throughtime

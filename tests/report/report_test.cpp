#include "report/report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "report/report_file.h"
#include "report/run_writer.h"
#include "report/support.h"
#include "support/errors.h"

namespace throughtime {
namespace {

using testing::count_of;
using testing::ScratchDirectory;
using testing::write_run;

std::vector<RunGroup> some_groups(const ScratchDirectory& scratch) {
  for (const int seed : {1, 2, 3})
    for (const std::string learner : {"bptt", "fptt"})
      write_run(
          scratch, fmt::format("{}-{}", learner, seed),
          {.learner = learner, .seed = seed, .test = seed + (learner == "fptt" ? 0.5 : 0), .losses = {4, 3, 2.5}});
  return group_runs(read_runs({scratch.path().string()}));
}

TEST(Page, HasResultsComparisonsCostsDifferencesAndConfigurations) {
  ScratchDirectory scratch;
  const std::string html = html_of(make_report(some_groups(scratch), {.title = "Two learners"}));
  EXPECT_NE(html.find("<title>Two learners</title>"), std::string::npos);
  EXPECT_NE(html.find("<td>2 ± 1</td>"), std::string::npos);    // the test metric of bptt
  EXPECT_NE(html.find("<td>2.5 ± 1</td>"), std::string::npos);  // and of fptt
  EXPECT_NE(html.find("Compared with bptt"), std::string::npos);
  EXPECT_NE(html.find("<td>20</td>"), std::string::npos);  // ms per update
  EXPECT_NE(html.find("<mark>learner.name</mark>"), std::string::npos);
  EXPECT_EQ(html.find("<mark>task.length</mark>"), std::string::npos);
  EXPECT_NE(html.find("Environment of bptt, fptt"), std::string::npos);
}

TEST(Page, TheTestOfTheWeightsThatValidationChoseIsTheResult) {
  ScratchDirectory scratch;
  for (const int seed : {1, 2, 3}) {
    write_run(scratch, fmt::format("bptt-{}", seed), {.seed = seed, .test = seed + 9.0, .best_test = seed + 1.0});
    write_run(scratch, fmt::format("fptt-{}", seed), {.learner = "fptt", .seed = seed, .test = 2.0 * seed});
  }
  const Report report = make_report(group_runs(read_runs({scratch.path().string()})), {.figures = false});
  const std::vector<std::string>& bptt = report.tables[0].rows[0];
  EXPECT_EQ(report.tables[0].columns[5], "test mse");
  EXPECT_EQ(bptt[5], "3 ± 1");
  EXPECT_EQ(report.tables[0].columns[6], "test mse, last weights");
  EXPECT_EQ(bptt[6], "11 ± 1");
  EXPECT_EQ(report.tables[0].rows[1][5], "4 ± 2") << "without validations the last weights are all there is";
  // The t tests are of the same numbers: 4 - 3, not 4 - 11.
  EXPECT_TRUE(report.tables[1].rows[0][1].starts_with("1 ±")) << report.tables[1].rows[0][1];
  EXPECT_TRUE(report.tables[1].rows[0][5].starts_with("1 ±")) << report.tables[1].rows[0][5];
}

TEST(Page, AsksForNothingFromOutside) {
  ScratchDirectory scratch;
  std::string html = html_of(make_report(some_groups(scratch), {}));
  for (const char* name : {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"})
    while (html.find(name) != std::string::npos) html.erase(html.find(name), std::string(name).size());
  for (const char* outside : {"http:", "https:", "//cdn", "@import", "<link", " src=", "url("})
    EXPECT_EQ(html.find(outside), std::string::npos) << outside;
}

TEST(Page, EscapesNames) {
  ScratchDirectory scratch;
  write_run(scratch, "<script>alert(1)<x>&", {.learner = "<img src=x>", .losses = {3, 2}});
  const std::vector<RunGroup> groups = group_runs(read_runs({scratch.path().string()}));
  const std::string html = html_of(make_report(groups, {.title = "</title><b>"}));
  EXPECT_EQ(html.find("<script>alert"), std::string::npos);
  EXPECT_EQ(html.find("<img"), std::string::npos);
  EXPECT_EQ(html.find("</title><b>"), std::string::npos);
  EXPECT_NE(html.find("&lt;script&gt;alert(1)"), std::string::npos);
}

TEST(Page, HasAFigureForEveryMetricAndOneOverTime) {
  if (!gnuplot_found()) GTEST_SKIP() << "gnuplot is not installed";
  ScratchDirectory scratch;
  const std::string html = html_of(make_report(some_groups(scratch), {}));
  EXPECT_EQ(count_of(html, "<figure>"), 2);  // train_loss over iterations and over seconds
  EXPECT_EQ(count_of(html, "class=\"throughtime-chart\""), 2);
}

TEST(Page, ManyGroupsGetSeveralFiguresAndARowEachInTheTableOfDifferences) {
  ScratchDirectory scratch;
  for (int index = 0; index < 14; ++index)
    write_run(scratch, fmt::format("run-{:02}", index), {.learner = fmt::format("l{}", index), .losses = {4, 3}});
  const std::vector<RunGroup> groups = group_runs(read_runs({scratch.path().string()}));
  ASSERT_EQ(groups.size(), 14u);
  const Report report = make_report(groups, {.metrics = {"train_loss"}});
  ASSERT_EQ(report.figures.size(), 2u);
  EXPECT_EQ(report.figures[0].title, "train loss (runs 1 to 12 of 14)");
  EXPECT_EQ(report.figures[0].curves.size(), 12u);
  EXPECT_EQ(report.figures[1].curves.size(), 2u);
  EXPECT_EQ(make_figures(groups, {.metrics = {"train_loss"}}).front().curves.size(), 14u) << "a picture file: all";
  const auto differences = std::find_if(report.tables.begin(), report.tables.end(),
                                        [](const ReportTable& table) { return table.title == "What was different"; });
  ASSERT_NE(differences, report.tables.end());
  EXPECT_EQ(differences->columns, (std::vector<std::string>{"run", "learner.name"}));
  EXPECT_EQ(differences->rows.size(), 14u);
  EXPECT_TRUE(make_report(groups, {.figures = false}).figures.empty());
}

TEST(Page, CaptionsStandBelowTheirFigures) {
  if (!gnuplot_found()) GTEST_SKIP() << "gnuplot is not installed";
  const Chart chart{.title = "t", .curves = {{.label = "a", .x = {1, 2}, .y = {1, 2}}}, .caption = "a < b"};
  EXPECT_NE(html_of({.title = "r", .tables = {{}}, .figures = {chart}}).find("<figcaption>a &lt; b</figcaption>"),
            std::string::npos);
}

TEST(Page, WithoutGnuplotStillHasItsTables) {
  ScratchDirectory scratch;
  const std::vector<RunGroup> groups = some_groups(scratch);
  const std::string path = std::getenv("PATH");
  setenv("PATH", "/nonexistent", 1);
  const std::string html = html_of(make_report(groups, {}));
  setenv("PATH", path.c_str(), 1);
  EXPECT_NE(html.find("apt install gnuplot-nox"), std::string::npos);
  EXPECT_NE(html.find("<td>2 ± 1</td>"), std::string::npos);
  EXPECT_EQ(html.find("<figure>"), std::string::npos);
}

TEST(Page, SaysWhichRunsAreNotWhole) {
  ScratchDirectory scratch;
  write_run(scratch, "whole-1", {.seed = 1});
  write_run(scratch, "whole-2", {.seed = 2});
  std::filesystem::remove(scratch / "whole-2/result.json");
  const std::vector<RunGroup> groups = group_runs(read_runs({scratch.path().string()}));
  const std::string html = html_of(make_report(groups, {}));
  EXPECT_NE(html.find("whole-2: not finished"), std::string::npos);
  EXPECT_NE(html.find("1 of 2 finished"), std::string::npos);
}

TEST(ReportFile, ItsFormatIsThatOfItsNameOrOfItsEnding) {
  EXPECT_EQ(report_format("", "page"), ReportFormat::html);
  EXPECT_EQ(report_format("", "a.b/page.md"), ReportFormat::md);
  EXPECT_EQ(report_format("csv", "page.md"), ReportFormat::csv);
  EXPECT_REFUSED(report_format("", "page.htm"), "did you mean 'html'?");
  EXPECT_REFUSED(report_format("pdf", "page.md"), "known: html, md, csv, svg, png");
}

TEST(ReportFile, APictureFileHoldsOneMetricThatChanges) {
  ScratchDirectory scratch;
  write_run(scratch, "a", {.losses = {2, 1}});
  write_run(scratch, "b", {.losses = {1, 1}});
  const std::vector<RunGroup> moving = group_runs(read_runs({(scratch / "a").string()}));
  const std::vector<RunGroup> still = group_runs(read_runs({(scratch / "b").string()}));
  EXPECT_EQ(single_figure(moving, {}).title, "train loss");
  EXPECT_REFUSED(single_figure(moving, {.metrics = {"train_loss", "rate"}}), "holds one metric, got 2");
  EXPECT_REFUSED(single_figure(still, {}), "nothing to draw");
  write_report(moving, {}, ReportFormat::csv, scratch / "runs.csv");
  EXPECT_EQ(testing::text_of(scratch / "runs.csv"), csv_of(moving));
}

TEST(Markdown, HasTheTablesWithNamesEscaped) {
  ScratchDirectory scratch;
  write_run(scratch, "a|b*c", {});
  const std::string text = markdown_of(make_report(group_runs(read_runs({scratch.path().string()})), {}));
  EXPECT_NE(text.find("| a\\|b\\*c |"), std::string::npos) << text;
  EXPECT_NE(text.find("## Memory and time"), std::string::npos);
}

TEST(Csv, HasARowForEveryRun) {
  ScratchDirectory scratch;
  const std::string text = csv_of(some_groups(scratch));
  EXPECT_EQ(count_of(text, "\n"), 7);
  EXPECT_EQ(text.substr(0, 30), "group,directory,seed,finished,");
  EXPECT_NE(text.find(",metrics.test_mse,"), std::string::npos);
}

}  // namespace
}  // namespace throughtime

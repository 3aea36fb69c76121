#include "report/report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include "report/downloads.h"
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

const ReportTable& table_named(const ReportSection& section, const std::string& title) {
  const auto found = std::find_if(section.tables.begin(), section.tables.end(),
                                  [&](const ReportTable& table) { return table.title == title; });
  if (found == section.tables.end()) throw std::runtime_error("no table " + title);
  return *found;
}

TEST(Page, HasResultsComparisonsCostsDifferencesAndConfigurations) {
  ScratchDirectory scratch;
  const std::string html = html_of(make_report(some_groups(scratch), {.title = "Two learners"}));
  EXPECT_NE(html.find("<title>Two learners</title>"), std::string::npos);
  EXPECT_NE(html.find(R"(<td class="spread"><span>2</span> <span>± 1</span></td>)"),
            std::string::npos);  // the test metric of bptt
  EXPECT_NE(html.find(R"(<td class="spread"><span>2.5</span> <span>± 1</span></td>)"),
            std::string::npos);  // and of fptt
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
  ASSERT_EQ(report.sections.size(), 1u);
  const ReportTable& results = report.sections[0].tables[0];
  EXPECT_EQ((std::vector<std::string>(results.columns.begin(), results.columns.begin() + 6)),
            (std::vector<std::string>{"run", "test mse", "naive", "x naive", "seeds", "last weights"}));
  EXPECT_EQ(results.rows[0][1], "3 ± 1");
  EXPECT_EQ(results.rows[0][2], "0.167") << "the baseline stands next to the result";
  EXPECT_EQ(results.rows[0][3], "18 ± 6") << "and so does the skill: 3 / 0.167";
  EXPECT_EQ(results.rows[0][5], "11 ± 1");
  EXPECT_EQ(results.rows[1][1], "4 ± 2") << "without validations the last weights are all there is";
  // The t tests are of the same numbers: 4 - 3, not 4 - 11.
  const ReportTable& tests = table_named(report.sections[0], "Compared with bptt");
  EXPECT_TRUE(tests.rows[0][1].starts_with("1 ±")) << tests.rows[0][1];
  EXPECT_TRUE(tests.rows[0][5].starts_with("1 ±")) << tests.rows[0][5];
}

TEST(Page, HasASectionForEachTaskAndComparesNothingAcrossThem) {
  ScratchDirectory scratch;
  for (const int seed : {1, 2})
    for (const int length : {20, 40})
      for (const std::string learner : {"bptt", "fptt"})
        write_run(scratch, fmt::format("{}-{}/{}", learner, length, seed),
                  {.learner = learner, .seed = seed, .question = fmt::format("length = {}", length)});
  const Report report = make_report(group_runs(read_runs({scratch.path().string()})), {});
  ASSERT_EQ(report.sections.size(), 2u);
  EXPECT_EQ(report.sections[0].title, "Task: add (length=20)");
  EXPECT_EQ(report.sections[1].title, "Task: add (length=40)");
  for (const ReportSection& section : report.sections) {
    EXPECT_EQ(section.tables[0].rows.size(), 2u);
    const ReportTable& tests = table_named(section, "Compared with " + section.tables[0].rows[0][0]);
    EXPECT_EQ(tests.rows.size(), 1u) << "one test within a task";
    ASSERT_FALSE(section.figures.empty());
    EXPECT_EQ(section.figures[0].curves.size(), 2u) << "never two tasks on one axis";
  }
  const std::string html =
      html_of({.title = "r", .sections = {{.title = "One", .finding = "a < b."}, {.title = "Two", .finding = "c."}}});
  EXPECT_NE(html.find("<a href=\"#section-2\">Two</a>: c."), std::string::npos);
  EXPECT_LT(html.find("a &lt; b."), html.find("<section")) << "what was found is on top";
}

TEST(Page, SaysWhenAndHowEachRunWasMade) {
  ScratchDirectory scratch;
  for (const int seed : {1, 2}) {
    write_run(scratch, fmt::format("bptt-{}", seed), {.seed = seed});
    scratch.write(fmt::format("bptt-{}/environment.json", seed),
                  fmt::format("{{\"version\":\"1\",\"started\":\"2026-05-0{0} 10:00:00\",\"command\":\"train "
                              "a.toml --set train.seed={0}\"}}\n",
                              seed));
  }
  const Report report = make_report(group_runs(read_runs({scratch.path().string()})), {.figures = false});
  EXPECT_EQ(report.tables[0].columns, (std::vector<std::string>{"run", "seed", "started", "command"}));
  EXPECT_EQ(report.tables[0].rows[1],
            (std::vector<std::string>{"bptt-2", "2", "2026-05-02 10:00:00", "train a.toml --set train.seed=2"}));
  ASSERT_EQ(report.appendices.size(), 2u) << "one configuration, and one environment in spite of two command lines";
  EXPECT_EQ(report.appendices[1].entries, (Entries{{"version", "1"}}));
}

TEST(Page, DrawsNoCurveTwice) {
  ScratchDirectory scratch;
  write_run(scratch, "a", {});
  testing::write_text(scratch / "a/metrics.jsonl",
                      "{\"iteration\":10,\"validation_loss\":4,\"validation_mse\":4,\"validation_rmse\":2,"
                      "\"validation_mae\":3}\n{\"iteration\":20,\"validation_loss\":1,\"validation_mse\":1,"
                      "\"validation_rmse\":1,\"validation_mae\":1}\n");
  const std::vector<RunGroup> groups = group_runs(read_runs({(scratch / "a").string()}));
  const ReportSection section = make_report(groups, {}).sections[0];
  std::vector<std::string> titles;
  for (const Chart& figure : section.figures) titles.push_back(figure.title);
  EXPECT_EQ(titles, (std::vector<std::string>{"validation mse", "validation mae"}));
  EXPECT_NE(section.not_drawn.find("validation rmse (as validation mse), validation loss (as validation mse)"),
            std::string::npos)
      << section.not_drawn;
  EXPECT_EQ(make_figures(groups, {.metrics = {"validation_loss"}}).size(), 1u) << "but for those that were asked for";
}

TEST(Page, HasItsNumbersAsFiles) {
  if (!gnuplot_found()) GTEST_SKIP() << "gnuplot is not installed";
  ScratchDirectory scratch;
  const std::string html = html_of(make_report(some_groups(scratch), {}));
  EXPECT_NE(html.find("download=\"Task-add-results.csv\" href=\"data:text/csv;charset=utf-8,group,directory,seed,"),
            std::string::npos);
  EXPECT_NE(html.find("download=\"train-loss.csv\" href=\"data:text/csv;charset=utf-8,curve,x,y,low,high%0Abptt,10,4"),
            std::string::npos);
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

TEST(Page, HasAFigureForEveryMetricAndOneOverTimeToCompare) {
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
  const std::vector<Chart>& figures = report.sections.at(0).figures;
  ASSERT_EQ(figures.size(), 2u);
  EXPECT_EQ(figures[0].title, "train loss (runs 1 to 12 of 14)");
  EXPECT_EQ(figures[0].curves.size(), 12u);
  EXPECT_EQ(figures[1].curves.size(), 2u);
  EXPECT_EQ(make_figures(groups, {.metrics = {"train_loss"}}).front().curves.size(), 14u) << "a picture file: all";
  const ReportTable& differences = table_named(report.sections[0], "What was different");
  EXPECT_EQ(differences.columns, (std::vector<std::string>{"run", "learner.name"}));
  EXPECT_EQ(differences.rows.size(), 14u);
  EXPECT_TRUE(make_report(groups, {.figures = false}).sections[0].figures.empty());
}

TEST(Page, CaptionsStandBelowTheirFigures) {
  if (!gnuplot_found()) GTEST_SKIP() << "gnuplot is not installed";
  const Chart chart{.title = "t", .curves = {{.label = "a", .x = {1, 2}, .y = {1, 2}}}, .caption = "a < b"};
  EXPECT_NE(html_of({.title = "r", .sections = {{.title = "s", .figures = {chart}}}}).find("<figcaption>a &lt; b. <a"),
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
  EXPECT_NE(html.find(R"(<td class="spread"><span>2</span> <span>± 1</span></td>)"), std::string::npos);
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

TEST(Results, CallAValidationLossTheBestOneOnlyWhereItChose) {
  for (const std::string by : {"loss", "mae"}) {
    ScratchDirectory scratch;
    write_run(scratch, "a", {});
    scratch.write("a/result.json", "{\"metric\":\"mse\",\"metrics\":{\"test_mse\":1},\"best\":{\"by\":\"" + by +
                                       "\",\"iteration\":10,\"validation_loss\":0.5}}\n");
    const Report report = make_report(group_runs(read_runs({scratch.path().string()})), {.figures = false});
    const std::vector<std::string>& columns = report.sections.at(0).tables.at(0).columns;
    const std::string name = by == "loss" ? "best validation loss" : "validation loss of the chosen weights";
    EXPECT_EQ(std::count(columns.begin(), columns.end(), name), 1) << by;
  }
}

TEST(Page, FindsNothingOfRunsWhoseTaskIsNotKnown) {
  ScratchDirectory scratch;
  for (const std::string name : {"a", "b"}) {
    write_run(scratch, name, {});
    std::filesystem::remove(scratch / (name + "/config.toml"));
  }
  const Report report = make_report(group_runs(read_runs({scratch.path().string()})), {.figures = false});
  ASSERT_EQ(report.sections.size(), 1u);
  EXPECT_EQ(report.sections[0].finding, "");
}

TEST(Markdown, EscapesTheNotesOfTables) {
  const ReportTable table{.title = "t", .note = "a*b <c>", .columns = {"run"}, .rows = {}};
  const std::string text = markdown_of({.title = "r", .made_by = "", .tables = {table}});
  EXPECT_NE(text.find("a\\*b \\<c\\>"), std::string::npos) << text;
}

TEST(Page, NamesItsPicturesForScreenReaders) {
  if (!gnuplot_found()) GTEST_SKIP() << "gnuplot is not installed";
  const Chart chart{.title = "a < b", .curves = {{.label = "a", .x = {1, 2}, .y = {1, 2}}}};
  const std::string html = html_of({.title = "r", .sections = {{.title = "s", .figures = {chart}}}});
  EXPECT_NE(html.find("<title>a &lt; b</title>"), std::string::npos);
  EXPECT_EQ(html.find("<title></title>"), std::string::npos);
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
  EXPECT_NE(text.find("### Memory and time"), std::string::npos);
}

TEST(Csv, HasARowForEveryRun) {
  ScratchDirectory scratch;
  const std::string text = csv_of(some_groups(scratch));
  EXPECT_EQ(count_of(text, "\n"), 7);
  EXPECT_EQ(text.substr(0, 30), "group,directory,seed,finished,");
  EXPECT_NE(text.find(",metrics.test_mse,"), std::string::npos);
}

TEST(Results, OfSingleRunsHaveNoTest) {
  ScratchDirectory scratch;
  write_run(scratch, "a", {.learner = "bptt"});
  write_run(scratch, "b", {.learner = "fptt"});
  const auto titles = [&] {
    const Report report = make_report(group_runs(read_runs({scratch.path().string()})), {.figures = false});
    std::string text;
    for (const ReportTable& table : report.sections.at(0).tables) text += table.title + "; ";
    return text;
  };
  EXPECT_EQ(titles().find("Compared with"), std::string::npos) << "nothing but dashes: " << titles();
  write_run(scratch, "c", {.learner = "fptt", .seed = 2});
  EXPECT_NE(titles().find("Compared with"), std::string::npos) << titles();
}

TEST(Results, HaveTheSimpleForecastsOfEachTargetBelowThem) {
  ScratchDirectory scratch;
  write_run(scratch, "a", {});
  const ReportTable targets{.title = "Each target", .columns = {"target", "mse"}, .rows = {{"y +1", "0.5"}}};
  const Report report =
      make_report(group_runs(read_runs({scratch.path().string()})),
                  {.figures = false, .forecasts = {{.group = "a", .charts = {}, .targets = targets}}});
  EXPECT_EQ(report.sections.at(0).tables.at(1).title, "Each target");
  EXPECT_EQ(report.sections.at(0).first_tables, 2u);
  const std::string html = html_of(report);
  EXPECT_LT(html.find("<h3>Each target</h3>"), html.find("all results of each run (CSV)"));
}

}  // namespace
}  // namespace throughtime

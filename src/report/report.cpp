#include "report/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/names.h"
#include "report/charts/confusion_picture.h"
#include "report/downloads.h"
#include "report/findings.h"
#include "report/questions.h"
#include "report/report_tables.h"
#include "throughtime/error.h"
#include "train/run/environment.h"

namespace throughtime {
namespace {

/// What a run was made with, without what is its own.
Entries shared_environment(const RunRecord& run) {
  Entries entries;
  for (const auto& entry : run.environment)
    if (entry.first != "started" && entry.first != "command") entries.push_back(entry);
  return entries;
}

/// Each environment once, with the runs that were made in it.
std::vector<ReportAppendix> environments(const std::vector<RunGroup>& groups) {
  std::vector<std::pair<Entries, std::vector<std::string>>> known;
  for (const RunGroup& group : groups)
    for (const RunRecord& run : group.runs) {
      const Entries environment = shared_environment(run);
      if (environment.empty()) continue;
      const auto found =
          std::find_if(known.begin(), known.end(), [&](const auto& pair) { return pair.first == environment; });
      if (found == known.end())
        known.push_back({environment, {group.name}});
      else if (found->second.back() != group.name)
        found->second.push_back(group.name);
    }
  std::vector<ReportAppendix> appendices;
  for (const auto& [entries, names] : known)
    appendices.push_back({fmt::format("Environment of {}", fmt::join(names, ", ")), entries});
  return appendices;
}

void require_known(const std::vector<RunGroup>& groups, const std::vector<std::string>& metrics) {
  std::vector<std::string> known;
  for (const RunGroup& group : groups)
    for (const RunRecord& run : group.runs) known.insert(known.end(), run.metrics.begin(), run.metrics.end());
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  for (const std::string& metric : metrics)
    if (!std::binary_search(known.begin(), known.end(), metric)) refuse_unknown("report", "metric", metric, known);
}

/// Metrics that get a picture; of those with the same curve the first one.
std::vector<std::string> metrics_of(const std::vector<RunGroup>& groups, const ReportOptions& options) {
  if (!options.metrics.empty()) return options.metrics;
  std::vector<std::string> metrics = drawn_metrics(groups);
  const auto retold = retold_metrics(groups, metrics);
  std::erase_if(metrics, [&](const std::string& metric) {
    return std::any_of(retold.begin(), retold.end(), [&](const auto& pair) { return pair.first == metric; });
  });
  return metrics;
}

/// "validation loss (as validation mse)": what metrics_of leaves out.
std::string not_drawn_text(const std::vector<RunGroup>& groups, const ReportOptions& options) {
  if (!options.metrics.empty()) return "";
  std::vector<std::string> texts;
  for (const auto& [metric, first] : retold_metrics(groups, drawn_metrics(groups)))
    texts.push_back(fmt::format("{} (as {})", spoken(metric), spoken(first)));
  if (texts.empty()) return "";
  return fmt::format("Not drawn, because the curve is the same, if on another scale: {}.", fmt::join(texts, ", "));
}

std::vector<Chart> figures_of(const std::vector<RunGroup>& groups, const ReportOptions& options) {
  std::vector<Chart> figures;
  for (const std::string& metric : metrics_of(groups, options)) {
    const bool log = options.log || wants_log(groups, metric);
    for (Chart& chart : charts_of(groups, metric, options.smooth, log, options.x)) figures.push_back(std::move(chart));
    // What users look for first is also shown at equal cost, where there is something to compare.
    if (figures.size() != 1 || !options.metrics.empty() || options.x != XAxis::iteration || groups.size() < 2) continue;
    Chart timed = chart_of(groups, metric, options.smooth, log, XAxis::seconds);
    timed.title += " over training time";
    if (!timed.curves.empty()) figures.push_back(std::move(timed));
  }
  return figures;
}

/// All figures of the first groups, then of the next ones, so that no picture has more than can be told apart.
std::vector<Chart> legible_figures(const std::vector<RunGroup>& groups, const ReportOptions& options) {
  constexpr std::size_t most = most_groups_of_a_figure;
  if (groups.size() <= most) return figures_of(groups, options);
  std::vector<Chart> figures;
  for (std::size_t begin = 0; begin < groups.size(); begin += most) {
    const std::size_t end = std::min(begin + most, groups.size());
    const std::vector<RunGroup> some(groups.begin() + static_cast<std::ptrdiff_t>(begin),
                                     groups.begin() + static_cast<std::ptrdiff_t>(end));
    for (Chart& figure : figures_of(some, options)) {
      figure.title += fmt::format(" (runs {} to {} of {})", begin + 1, end, groups.size());
      figures.push_back(std::move(figure));
    }
  }
  return figures;
}

/// Some run must tell what the curves are to be drawn over.
void require_axis(const std::vector<RunGroup>& groups, XAxis x) {
  if (x == XAxis::iteration) return;
  const std::string series = x == XAxis::seconds ? "seconds" : "epoch";
  for (const RunGroup& group : groups)
    for (const RunRecord& run : group.runs)
      if (run.series.contains(series)) return;
  refuse("report", "no run has written its {}, so that curves cannot be drawn over {} (--x)", series, name_of(x));
}

/// Which classes the runs of a group took for each other on the test data, all seeds together.
std::vector<ReportPicture> confusions_of(const std::vector<RunGroup>& groups) {
  std::vector<ReportPicture> pictures;
  for (const RunGroup& group : groups) {
    Confusion sum;
    std::size_t runs = 0;
    for (const RunRecord& run : group.runs) {
      const Confusion one = confusion_of(run.result);
      if (one.classes.empty() || (runs > 0 && one.classes != sum.classes)) continue;
      if (runs++ == 0) sum = {one.classes, std::vector<double>(one.counts.size())};
      for (std::size_t i = 0; i < one.counts.size(); ++i) sum.counts[i] += one.counts[i];
    }
    if (runs == 0) continue;
    pictures.push_back(
        {group.name,
         fmt::format("The test sequences of {} run{}. A row is a true class, a column an answer. The stronger the "
                     "colour of a cell, the larger its share of the row.",
                     runs, runs == 1 ? "" : "s"),
         confusion_svg(sum)});
  }
  return pictures;
}

/// The table of targets of all forecasts of a section; their columns may differ.
ReportTable merged(ReportTable table, const ReportTable& more) {
  if (table.columns.empty()) return more;
  for (const std::string& column : more.columns)
    if (std::find(table.columns.begin(), table.columns.end(), column) == table.columns.end())
      table.columns.push_back(column);
  for (const std::vector<std::string>& cells : more.rows) {
    std::vector<std::string> row(table.columns.size(), "–");
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const auto place = std::find(table.columns.begin(), table.columns.end(), more.columns[i]);
      row[static_cast<std::size_t>(place - table.columns.begin())] = cells[i];
    }
    table.rows.push_back(std::move(row));
  }
  for (std::vector<std::string>& row : table.rows) row.resize(table.columns.size(), "–");
  return table;
}

ReportSection section_of(const Question& question, const ReportOptions& options) {
  const std::vector<RunGroup>& groups = question.groups;
  ReportSection section{.title = "Task: " + question.name, .csv = csv_of(groups)};
  if (question.known) section.finding = finding(groups);
  if (!question.known) section.title = "Runs of a task that is not known";
  section.tables.push_back(results_table(groups));
  ReportTable targets;
  for (const GroupForecast& forecast : options.forecasts) {
    const auto of_group = [&](const RunGroup& group) { return group.name == forecast.group; };
    if (std::none_of(groups.begin(), groups.end(), of_group)) continue;
    section.forecasts.insert(section.forecasts.end(), forecast.charts.begin(), forecast.charts.end());
    targets = merged(std::move(targets), forecast.targets);
  }
  if (!targets.rows.empty()) section.tables.push_back(std::move(targets));
  section.first_tables = section.tables.size();
  if (ReportTable metrics = metrics_table(groups); !metrics.rows.empty()) section.tables.push_back(std::move(metrics));
  if (groups.size() > 1 && question.known && can_be_tested(groups)) section.tables.push_back(comparison_table(groups));
  section.tables.push_back(cost_table(groups));
  if (ReportTable table = difference_table(groups, differing_options(groups)); !table.rows.empty())
    section.tables.push_back(std::move(table));
  if (!options.figures) return section;
  section.figures = legible_figures(groups, options);
  section.not_drawn = not_drawn_text(groups, options);
  section.confusions = confusions_of(groups);
  return section;
}

}  // namespace

std::vector<Chart> make_figures(const std::vector<RunGroup>& groups, const ReportOptions& options) {
  require_known(groups, options.metrics);
  require_axis(groups, options.x);
  return figures_of(groups, options);
}

Report make_report(const std::vector<RunGroup>& groups, const ReportOptions& options) {
  Report report{.title = options.title, .made_by = fmt::format("throughtime {} ({})", version(), commit())};
  for (const RunGroup& group : groups)
    for (const RunRecord& run : group.runs)
      for (const std::string& trouble : run.troubles)
        report.troubles.push_back(fmt::format("{}: {}", run.directory.string(), trouble));
  report.troubles.insert(report.troubles.end(), options.troubles.begin(), options.troubles.end());
  require_known(groups, options.metrics);
  if (options.figures) require_axis(groups, options.x);
  for (const Question& question : by_question(groups)) report.sections.push_back(section_of(question, options));
  report.tables.push_back(origins_table(groups));
  const std::vector<std::string> differing = differing_options(groups);
  for (const RunGroup& group : groups) {
    std::vector<std::string> seeds;
    for (const RunRecord& run : group.runs) seeds.push_back(fmt::format("{}", run.seed));
    report.appendices.push_back({fmt::format("Configuration of {} (seed{} {})", group.name, seeds.size() > 1 ? "s" : "",
                                             fmt::join(seeds, ", ")),
                                 group.runs.front().config, differing});
  }
  for (ReportAppendix& appendix : environments(groups)) report.appendices.push_back(std::move(appendix));
  return report;
}

}  // namespace throughtime

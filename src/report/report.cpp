#include "report/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/names.h"
#include "data/printable.h"
#include "report/axis.h"
#include "report/confusion_picture.h"
#include "report/text.h"
#include "throughtime/error.h"
#include "train/run/environment.h"

namespace throughtime {
namespace {

/// "0.0123 ± 0.0004"; the mean alone where there is no spread to tell; a dash of no values.
std::string spread_text(const std::vector<double>& values) {
  const Summary summary = summary_of(values);
  if (summary.count == 0) return "–";
  if (!(summary.deviation > 0)) return short_number(summary.mean);
  return fmt::format("{} ± {}", short_number(summary.mean), short_number(summary.deviation, 2));
}

std::string number_text(double value) { return std::isfinite(value) ? short_number(value) : "–"; }

std::vector<double> scaled(std::vector<double> values, double factor) {
  for (double& value : values) value *= factor;
  return values;
}

std::vector<double> milliseconds_per_update(const RunGroup& group) {
  std::vector<double> values;
  for (const RunRecord& run : group.runs) {
    const double value = 1000 * run.result.number("seconds") / run.result.number("updates");
    if (std::isfinite(value)) values.push_back(value);
  }
  return values;
}

/// The task's metric where all groups have the same; "loss" otherwise.
std::string common_metric(const std::vector<RunGroup>& groups) {
  std::string common;
  for (const RunGroup& group : groups)
    for (const RunRecord& run : group.runs) {
      const std::string metric = run.result.text("metric");
      if (!metric.empty() && !common.empty() && metric != common) return "loss";
      if (!metric.empty()) common = metric;
    }
  return common.empty() ? "loss" : common;
}

/// "3", "2 of 3 finished", "3, 1 diverged".
std::string seeds_text(const RunGroup& group) {
  const std::string finished = group.finished() == group.runs.size()
                                   ? fmt::format("{}", group.runs.size())
                                   : fmt::format("{} of {} finished", group.finished(), group.runs.size());
  const auto diverged = std::count_if(group.runs.begin(), group.runs.end(),
                                      [](const RunRecord& run) { return run.result.text("diverged") == "true"; });
  return diverged == 0 ? finished : fmt::format("{}, {} diverged", finished, diverged);
}

ReportTable results_table(const std::vector<RunGroup>& groups) {
  const std::string metric = common_metric(groups);
  ReportTable table{
      .title = "Results",
      .note =
          "Mean ± deviation over the finished seeds. The test is made once, at the end, with the weights of the lowest "
          "validation loss where the run was validated, and beside it with the last weights; nothing is chosen on test "
          "data. The test error of a "
          "stream is "
          "that of all its forecasts, each made before its answer was seen.",
      .columns = {"run", "learner", "cell", "seeds", "iterations", "test " + metric,
                  "test " + metric + ", last weights", "best validation loss", "train loss", "naive baseline"},
      .rows = {},
      .text_columns = 3};
  for (const RunGroup& group : groups) {
    const RunRecord& first = group.runs.front();
    table.rows.push_back({group.name, first.option("learner.name"), first.result.text("cell"), seeds_text(group),
                          spread_text(group.results("iterations")), spread_text(group.tests(metric)),
                          spread_text(group.results("metrics.test_" + metric)),
                          spread_text(group.results("best.validation_loss")), spread_text(group.results("train_loss")),
                          spread_text(group.results("baseline"))});
  }
  return table;
}

ReportTable cost_table(const std::vector<RunGroup>& groups) {
  constexpr double mebibyte = 1.0 / (1 << 20);
  ReportTable table{
      .title = "Memory and time",
      .note = "The tape is what grows with the window. Seconds are those of training, without evaluations.",
      .columns = {"run", "parameters", "updates", "tape, MiB", "peak memory, MiB", "seconds", "ms per update",
                  "steps per second"},
      .rows = {}};
  for (const RunGroup& group : groups)
    table.rows.push_back({group.name, spread_text(group.results("parameters")), spread_text(group.results("updates")),
                          spread_text(scaled(group.results("activation_bytes"), mebibyte)),
                          spread_text(scaled(group.results("peak_memory_bytes"), mebibyte)),
                          spread_text(group.results("seconds")), spread_text(milliseconds_per_update(group)),
                          spread_text(group.results("steps_per_second"))});
  return table;
}

/// The t test over the seeds that both groups have.
Comparison paired_by_seed(const RunGroup& first, const RunGroup& second, const std::string& metric) {
  std::map<std::uint64_t, double> known;
  for (const auto& [seed, value] : first.seeded_tests(metric)) known[seed] = value;
  std::vector<double> left, right;
  for (const auto& [seed, value] : second.seeded_tests(metric))
    if (const auto found = known.find(seed); found != known.end()) {
      left.push_back(found->second);
      right.push_back(value);
    }
  return paired(left, right);
}

ReportTable comparison_table(const std::vector<RunGroup>& groups) {
  const std::string metric = common_metric(groups);
  ReportTable table{.title = "Compared with " + groups.front().name,
                    .note = fmt::format("Differences of the mean test {} (of the weights that validation chose, where "
                                        "it chose some) with their standard errors. Welch's t test "
                                        "takes the seeds as independent, the paired one compares equal seeds; p is "
                                        "two-sided and not corrected for the number of comparisons.",
                                        metric),
                    .columns = {"run", "difference", "t (Welch)", "degrees of freedom", "p (Welch)",
                                "paired difference", "p (paired)"},
                    .rows = {}};
  const auto difference_text = [](const Comparison& comparison) {
    return std::isfinite(comparison.standard_error)
               ? fmt::format("{} ± {}", number_text(comparison.difference), short_number(comparison.standard_error, 2))
               : number_text(comparison.difference);
  };
  for (std::size_t i = 1; i < groups.size(); ++i) {
    const Comparison apart = welch(groups.front().tests(metric), groups[i].tests(metric));
    const Comparison pairs = paired_by_seed(groups.front(), groups[i], metric);
    table.rows.push_back({groups[i].name, difference_text(apart), number_text(apart.t),
                          number_text(apart.degrees_of_freedom), number_text(apart.p), difference_text(pairs),
                          number_text(pairs.p)});
  }
  return table;
}

/// A row for each option, or for each group where they are many: pages scroll downwards.
ReportTable difference_table(const std::vector<RunGroup>& groups, const std::vector<std::string>& keys) {
  const bool many = groups.size() > most_groups_of_a_figure;
  ReportTable table{.title = "What was different", .note = "", .columns = {many ? "run" : "option"}, .rows = {}};
  if (many) {
    table.columns.insert(table.columns.end(), keys.begin(), keys.end());
    for (const RunGroup& group : groups) {
      table.rows.push_back({group.name});
      for (const std::string& key : keys) table.rows.back().push_back(group.runs.front().option(key));
    }
  } else {
    for (const RunGroup& group : groups) table.columns.push_back(group.name);
    for (const std::string& key : keys) {
      table.rows.push_back({key});
      for (const RunGroup& group : groups) table.rows.back().push_back(group.runs.front().option(key));
    }
  }
  table.text_columns = table.columns.size();
  return table;
}

/// Each environment once, with the runs that were made in it.
std::vector<ReportAppendix> environments(const std::vector<RunGroup>& groups) {
  std::vector<std::pair<Entries, std::vector<std::string>>> known;
  for (const RunGroup& group : groups)
    for (const RunRecord& run : group.runs) {
      if (run.environment.empty()) continue;
      const auto found =
          std::find_if(known.begin(), known.end(), [&](const auto& pair) { return pair.first == run.environment; });
      if (found == known.end())
        known.push_back({run.environment, {group.name}});
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

std::vector<Chart> figures_of(const std::vector<RunGroup>& groups, const ReportOptions& options) {
  std::vector<Chart> figures;
  for (const std::string& metric : options.metrics.empty() ? drawn_metrics(groups) : options.metrics) {
    const bool log = options.log || wants_log(groups, metric);
    Chart chart = chart_of(groups, metric, options.smooth, log, options.x);
    if (!chart.curves.empty()) figures.push_back(std::move(chart));
    // What users look for first is also shown at equal cost.
    if (figures.size() != 1 || !options.metrics.empty() || options.x != XAxis::iteration) continue;
    Chart timed = chart_of(groups, metric, options.smooth, log, XAxis::seconds);
    timed.title += " over training time";
    if (!timed.curves.empty()) figures.push_back(std::move(timed));
  }
  return figures;
}

/// All figures of the first groups, then of the next ones, so that no picture has more than can be told apart.
std::vector<Chart> legible_figures(const std::vector<RunGroup>& groups, const ReportOptions& options) {
  constexpr std::size_t most = most_groups_of_a_figure;
  require_known(groups, options.metrics);
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
         fmt::format("Test sequences of {} run{}, with the weights that were best on validation where "
                     "there was one. A row is a true class; the stronger the colour of a cell, the larger its share.",
                     runs, runs == 1 ? "" : "s"),
         confusion_svg(sum)});
  }
  return pictures;
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
  report.tables.push_back(results_table(groups));
  if (groups.size() > 1) report.tables.push_back(comparison_table(groups));
  report.tables.push_back(cost_table(groups));
  const std::vector<std::string> differing = differing_options(groups);
  if (!differing.empty()) report.tables.push_back(difference_table(groups, differing));
  if (options.figures) {
    require_axis(groups, options.x);
    report.figures = options.forecasts;
    for (Chart& figure : legible_figures(groups, options)) report.figures.push_back(std::move(figure));
    report.confusions = confusions_of(groups);
  }
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

std::string csv_of(const std::vector<RunGroup>& groups) {
  std::vector<std::string> keys;
  for (const RunGroup& group : groups)
    for (const RunRecord& run : group.runs)
      for (const auto& [key, value] : run.result.entries)
        if (key != "seed" && key != "run" && std::find(keys.begin(), keys.end(), key) == keys.end())
          keys.push_back(key);
  const auto quoted = [](const std::string& text) {
    std::string result = "\"";
    for (const char letter : printable(text)) result += letter == '"' ? std::string("\"\"") : std::string(1, letter);
    return text.find_first_of(",\"\n\r") == std::string::npos ? text : result + "\"";
  };
  std::string text = fmt::format("group,directory,seed,finished{}{}\n", keys.empty() ? "" : ",", fmt::join(keys, ","));
  for (const RunGroup& group : groups)
    for (const RunRecord& run : group.runs) {
      text += fmt::format("{},{},{},{}", quoted(group.name), quoted(run.directory.string()), run.seed,
                          run.finished ? "yes" : "no");
      for (const std::string& key : keys) {
        const std::string value = run.result.text(key);
        text += fmt::format(",{}", quoted(value == "null" ? "" : value));
      }
      text += "\n";
    }
  return text;
}

}  // namespace throughtime

#include "report/report_tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "report/charts/axis.h"
#include "report/charts/curves.h"
#include "report/findings.h"
#include "report/statistics.h"
#include "report/units.h"

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

/// "3", "2 of 3 finished", "3, 1 diverged".
std::string seeds_text(const RunGroup& group) {
  const std::string finished = group.finished() == group.runs.size()
                                   ? fmt::format("{}", group.runs.size())
                                   : fmt::format("{} of {} finished", group.finished(), group.runs.size());
  const auto diverged = std::count_if(group.runs.begin(), group.runs.end(),
                                      [](const RunRecord& run) { return run.result.text("diverged") == "true"; });
  return diverged == 0 ? finished : fmt::format("{}, {} diverged", finished, diverged);
}

/// "0.93", "0.93 ± 0.02"; a dash of no values.
std::string skill_text(const std::vector<double>& values) {
  const Summary summary = summary_of(values);
  if (summary.count == 0) return "–";
  if (!(summary.deviation > 0)) return short_number(summary.mean, 3);
  return fmt::format("{} ± {}", short_number(summary.mean, 3), short_number(summary.deviation, 1));
}

bool any_result(const std::vector<RunGroup>& groups, const std::string& key) {
  return std::any_of(groups.begin(), groups.end(), [&](const RunGroup& group) { return !group.results(key).empty(); });
}

/// A column of a table with a row for each group.
struct Column {
  std::string name;
  std::function<std::string(const RunGroup&)> text;
};

ReportTable table_of(const std::string& title, const std::string& note, const std::vector<Column>& columns,
                     const std::vector<RunGroup>& groups) {
  ReportTable table{.title = title, .note = note, .columns = {"run"}, .rows = {}};
  for (const Column& column : columns) table.columns.push_back(column.name);
  for (const RunGroup& group : groups) {
    table.rows.push_back({group.name});
    for (const Column& column : columns) table.rows.back().push_back(column.text(group));
  }
  return table;
}

std::string results_note(const std::vector<RunGroup>& groups, bool validated, SkillKind skill) {
  const RunRecord& first = groups.front().runs.front();
  const bool stream = first.counter == "row";
  const bool several =
      std::any_of(groups.begin(), groups.end(), [](const RunGroup& one) { return one.runs.size() > 1; });
  std::vector<std::string> sentences;
  if (several) sentences.push_back("Mean ± deviation over the finished seeds.");
  if (stream)
    sentences.push_back("The error is that of all forecasts of the stream, each made before its answer was seen.");
  else if (validated)
    sentences.push_back(
        "The result is the test of the weights that were best on validation; last weights: the test of the last ones. "
        "Nothing is chosen on test data.");
  else
    sentences.push_back("The result is the test of the last weights.");
  if (skill != SkillKind::none) {
    const std::string naive = first.result.text("baseline_text");
    sentences.push_back(fmt::format("Naive{} is judged on the same {}.",
                                    naive.empty() ? "" : fmt::format(" ({})", naive), stream ? "rows" : "test data"));
  }
  if (skill == SkillKind::ratio) sentences.push_back("x naive: the result divided by that; below 1 is better.");
  if (const std::string unit = unit_sentence(first); !unit.empty()) sentences.push_back(unit);
  if (loss_heads(groups, "train_loss").size() > 1)
    sentences.push_back("Losses of different heads (model.head) cannot be compared.");
  const std::string horizons = first.option("task.series.horizon");
  if (horizons.find(',') != std::string::npos)
    sentences.push_back(fmt::format("Each number is the mean over the horizons {}.", horizons));
  return fmt::format("{}", fmt::join(sentences, " "));
}

/// Whether two groups have the option and not the same value of it.
bool differs_where_it_is(const std::vector<RunGroup>& groups, const std::string& key) {
  std::string first;
  for (const RunGroup& group : groups) {
    const std::string value = group.runs.front().option(key);
    if (!first.empty() && !value.empty() && value != first) return true;
    if (first.empty()) first = value;
  }
  return false;
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

}  // namespace

ReportTable results_table(const std::vector<RunGroup>& groups) {
  const std::string metric = common_metric(groups);
  const bool validated = any_result(groups, "best.iteration");
  const SkillKind skill = skill_kind(groups, metric);
  const std::string unit = unit_of("test_" + metric, groups.front().runs.front());
  const bool stream = groups.front().runs.front().counter == "row";
  std::vector<Column> columns = {{(stream ? "" : "test ") + spoken(metric) + (unit.empty() ? "" : ", " + unit),
                                  [&](const RunGroup& group) { return spread_text(group.tests(metric)); }}};
  const auto add = [&](const std::string& name, std::function<std::string(const RunGroup&)> text) {
    columns.push_back({name, std::move(text)});
  };
  const auto add_result = [&](const std::string& name, const std::string& key) {
    if (any_result(groups, key)) add(name, [key](const RunGroup& group) { return spread_text(group.results(key)); });
  };
  if (skill != SkillKind::none) add("naive", [&](const RunGroup& group) { return spread_text(group.naives(metric)); });
  if (skill == SkillKind::ratio)
    add("x naive", [&](const RunGroup& group) { return skill_text(skills(group, metric)); });
  add("seeds", seeds_text);
  if (validated) add_result("last weights", "metrics.test_" + metric);
  const auto chosen_otherwise = [](const RunRecord& run) {
    const std::string by = run.result.text("best.by");
    return !by.empty() && by != "loss";
  };
  const bool otherwise = std::any_of(groups.begin(), groups.end(), [&](const RunGroup& group) {
    return std::any_of(group.runs.begin(), group.runs.end(), chosen_otherwise);
  });
  add_result(otherwise ? "validation loss of the chosen weights" : "best validation loss", "best.validation_loss");
  add_result("train loss", "train_loss");
  add(stream ? "rows" : "iterations", [](const RunGroup& group) { return spread_text(group.results("iterations")); });
  add("learner", [](const RunGroup& group) { return group.runs.front().option("learner.name"); });
  add("cell", [](const RunGroup& group) { return group.runs.front().result.text("cell"); });
  return table_of("Results", results_note(groups, validated, skill), columns, groups);
}

ReportTable metrics_table(const std::vector<RunGroup>& groups) {
  const std::string first = common_metric(groups);
  std::vector<std::string> metrics;
  for (const RunGroup& group : groups)
    for (const RunRecord& run : group.runs)
      for (const auto& [key, value] : run.result.entries) {
        constexpr std::string_view prefix = "metrics.test_";
        if (!key.starts_with(prefix)) continue;
        const std::string metric = key.substr(prefix.size());
        if (metric != first && std::find(metrics.begin(), metrics.end(), metric) == metrics.end())
          metrics.push_back(metric);
      }
  ReportTable table{.title = "All test metrics",
                    .note = "Of the same weights as the result.",
                    .columns = {"metric", "unit", "run", "test", "naive", "x naive"},
                    .rows = {},
                    .text_columns = 3};
  if (metrics.size() < 2) return table;  // one metric and its loss
  for (const std::string& metric : metrics)
    for (const RunGroup& group : groups) {
      const bool ratio = skill_kind(groups, metric) == SkillKind::ratio;
      table.rows.push_back({spoken(metric), unit_of("test_" + metric, group.runs.front()), group.name,
                            spread_text(group.tests(metric)), spread_text(group.naives(metric)),
                            ratio ? skill_text(skills(group, metric)) : "–"});
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

bool can_be_tested(const std::vector<RunGroup>& groups) {
  const std::string metric = common_metric(groups);
  return std::any_of(groups.begin(), groups.end(),
                     [&](const RunGroup& group) { return group.tests(metric).size() > 1; });
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

ReportTable difference_table(const std::vector<RunGroup>& groups, std::vector<std::string> keys) {
  const bool many = groups.size() > most_groups_of_a_figure;
  const std::size_t all = keys.size();
  std::erase_if(keys, [&](const std::string& key) { return !differs_where_it_is(groups, key); });
  const char* note = keys.size() < all ? "Options that only some methods have are in the configurations below." : "";
  ReportTable table{.title = "What was different", .note = note, .columns = {many ? "run" : "option"}, .rows = {}};
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

ReportTable origins_table(const std::vector<RunGroup>& groups) {
  ReportTable table{.title = "When and how the runs were made",
                    .note = "Times are those of the start, UTC.",
                    .columns = {"run", "seed", "started", "command"},
                    .rows = {}};
  for (const RunGroup& group : groups)
    for (const RunRecord& run : group.runs) {
      const auto text = [&](const char* key) {
        const std::string value = find_entry(run.environment, key);
        return value.empty() ? std::string("–") : value;
      };
      table.rows.push_back({run.name, fmt::format("{}", run.seed), text("started"), text("command")});
    }
  table.text_columns = table.columns.size();
  return table;
}

}  // namespace throughtime

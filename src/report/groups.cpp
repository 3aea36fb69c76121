#include "report/groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>

#include "throughtime/index.h"

namespace throughtime {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Options that say where and how often a run is done, not what it computes.
bool is_circumstance(const std::string& key) {
  return key == "train.seed" || key == "task.data" || key.starts_with("run.");
}

/// Everything that decides what a run computes but its seed. A run without a configuration is like no other.
std::string identity(const RunRecord& run) {
  if (run.config.empty()) return run.directory.string();
  std::string text;
  for (const auto& [key, value] : run.config)
    if (!is_circumstance(key)) text += key + "=" + value + "\n";
  return text;
}

/// "fptt-seed-1", "fptt-seed-2" -> "fptt".
std::string shared_name(const std::vector<RunRecord>& runs) {
  std::string shared = runs.front().name;
  const auto differs = [&](const RunRecord& run) { return run.name != runs.front().name; };
  if (std::none_of(runs.begin(), runs.end(), differs)) return shared;
  for (const RunRecord& run : runs)
    shared.erase(std::mismatch(shared.begin(), shared.end(), run.name.begin(), run.name.end()).first, shared.end());
  const auto trim = [&](const char* letters) { shared.erase(shared.find_last_not_of(letters) + 1); };
  trim("-_/.= 0123456789");  // what seeds share: 11 and 12
  if (shared.ends_with("seed")) {
    shared.erase(shared.size() - 4);
    trim("-_/.= ");  // the digits before belong to the name: "k-5/seed-1"
  }
  return shared.empty() ? runs.front().name : shared;
}

/// What tells one of several groups of the same name from the others: an option or two, else the directory.
std::string distinction(const RunGroup& group, const std::vector<std::string>& differing) {
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(differing.size(), 2); ++i)
    text += (i == 0 ? "" : ", ") + differing[i] + "=" + group.runs.front().option(differing[i]);
  return text.empty() ? group.runs.front().directory.string() : text;
}

void make_names_differ(std::vector<RunGroup>& groups) {
  std::map<std::string, std::vector<std::size_t>> places;
  for (std::size_t i = 0; i < groups.size(); ++i) places[groups[i].name].push_back(i);
  for (const auto& [name, alike] : places) {
    if (alike.size() < 2) continue;
    std::vector<RunGroup> members;
    for (const std::size_t i : alike) members.push_back(groups[i]);
    const std::vector<std::string> differing = differing_options(members);
    for (const std::size_t i : alike) groups[i].name += " (" + distinction(groups[i], differing) + ")";
  }
}

/// Values at the iterations that all of the series have.
struct Aligned {
  std::vector<double> x;
  std::vector<std::vector<double>> y;  // [points, series]
};

Aligned aligned(const std::vector<Series>& all) {
  std::map<double, std::vector<double>> rows;
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t k = 0; k < all[i].x.size(); ++k) {
      std::vector<double>& row = rows[all[i].x[k]];
      // The last one counts where a series has an iteration twice.
      if (row.size() == i)
        row.push_back(all[i].y[k]);
      else if (row.size() == i + 1)
        row.back() = all[i].y[k];
    }
  Aligned result;
  for (const auto& [x, row] : rows)
    if (row.size() == all.size()) {
      result.x.push_back(x);
      result.y.push_back(row);
    }
  return result;
}

/// On a logarithmic axis mean and deviation are those of the logarithms: a band around the mean would reach zero.
Curve mean_curve(const std::string& label, const Aligned& values, bool log) {
  Curve curve{.label = label, .x = values.x};
  for (std::vector<double> row : values.y) {
    const bool of_logarithms = log && std::all_of(row.begin(), row.end(), [](double value) { return value > 0; });
    if (of_logarithms)
      for (double& value : row) value = std::log(value);
    const auto back = [&](double value) { return of_logarithms ? std::exp(value) : value; };
    const Summary summary = summary_of(row);
    curve.y.push_back(back(summary.mean));
    if (summary.count < 2) continue;
    const double deviation = log && !of_logarithms ? 0 : summary.deviation;  // no band where a logarithm is missing
    curve.low.push_back(back(summary.mean - deviation));
    curve.high.push_back(back(summary.mean + deviation));
  }
  return curve;
}

/// y at x on the line through the points of a series; NaN beyond its ends.
double interpolated(const Series& series, double x) {
  const auto after = std::lower_bound(series.x.begin(), series.x.end(), x);
  if (after == series.x.end()) return nan;
  const auto i = elements(after - series.x.begin());
  if (*after == x) return series.y[i];
  const double last_x = i == 0 ? 0 : series.x[i - 1], last_y = i == 0 ? 0 : series.y[i - 1];
  return last_y + (series.y[i] - last_y) * (x - last_x) / (series.x[i] - last_x);
}

/// Where a run was at its iterations; empty where it does not tell.
Series clock_of(const RunRecord& run, XAxis x) {
  const auto series_of = [&](const char* name) {
    const auto found = run.series.find(name);
    return found == run.series.end() ? Series() : found->second;
  };
  if (x == XAxis::seconds) return series_of("seconds");
  Series epochs = series_of("epoch");
  if (x == XAxis::epoch) return epochs;
  // Rows read for learning, and beside them for estimates; both are written with the epoch.
  const Series learned = series_of("rows"), estimated = series_of("estimation_rows");
  if (learned.x != epochs.x || estimated.x != epochs.x) return epochs;
  for (std::size_t i = 0; i < epochs.y.size(); ++i)
    if (learned.y[i] > 0) epochs.y[i] *= 1 + estimated.y[i] / learned.y[i];
  return epochs;
}

std::string axis_text(XAxis x, const std::string& counter) {
  switch (x) {
    case XAxis::iteration:
      break;
    case XAxis::epoch:
      return "epoch";
    case XAxis::epoch_with_estimates:
      return "epoch, rows of estimates included";
    case XAxis::seconds:
      return "seconds of training";
  }
  return counter;
}

bool is_clock(const std::string& metric) {
  return metric == "seconds" || metric == "epoch" || metric == "updates" || metric == "streams" || metric == "skipped";
}

template <class Use>
void for_each_value(const std::vector<RunGroup>& groups, const std::string& metric, Use use) {
  for (const RunGroup& group : groups)
    for (const RunRecord& run : group.runs)
      if (const auto found = run.series.find(metric); found != run.series.end())
        for (const double value : found->second.y) use(value);
}

/// A metric that never changes, such as a constant rate, or that was written once, such as the test's, is a number and
/// no curve.
bool changes(const std::vector<RunGroup>& groups, const std::string& metric) {
  double first = nan;
  bool different = false;
  for_each_value(groups, metric, [&](double value) {
    if (std::isnan(first)) first = value;
    different = different || (std::isfinite(value) && value != first);
  });
  const auto several = [&](const RunRecord& run) {
    const auto found = run.series.find(metric);
    return found != run.series.end() && found->second.x.size() > 1;
  };
  return different && std::any_of(groups.begin(), groups.end(), [&](const RunGroup& group) {
           return std::any_of(group.runs.begin(), group.runs.end(), several);
         });
}

/// 0 for what users look for first.
int rank(const std::string& metric) {
  if (metric.starts_with("validation_")) return metric == "validation_loss" ? 1 : 0;
  if (metric == "rolling_mse") return 0;  // of a stream
  if (metric == "train_loss") return 2;
  if (metric == "rate") return 4;
  return metric == "steps_per_second" ? 5 : 3;
}

/// The naive baseline of a metric on the split that it is of; NaN where the run does not tell. `baseline` alone is of
/// the test split, or of a stream.
double baseline_of(const ResultFile& result, const std::string& metric) {
  if (const double own = result.number("baselines." + metric); !std::isnan(own)) return own;
  const std::string task_metric = result.text("metric");
  const bool other_split = metric.starts_with("validation_") || metric.starts_with("train_");
  return !other_split && !task_metric.empty() && metric.ends_with("_" + task_metric) ? result.number("baseline") : nan;
}

}  // namespace

std::size_t RunGroup::finished() const {
  return elements(std::count_if(runs.begin(), runs.end(), [](const RunRecord& run) { return run.finished; }));
}

std::vector<std::pair<std::uint64_t, double>> RunGroup::seeded_tests(const std::string& score) const {
  std::vector<std::pair<std::uint64_t, double>> values;
  for (const RunRecord& run : runs)
    if (const double value = run.result.chosen_test(score); !std::isnan(value)) values.emplace_back(run.seed, value);
  return values;
}

std::vector<double> RunGroup::tests(const std::string& score) const {
  std::vector<double> values;
  for (const auto& [seed, value] : seeded_tests(score)) values.push_back(value);
  return values;
}

std::vector<double> RunGroup::results(const std::string& key) const {
  std::vector<double> values;
  for (const RunRecord& run : runs)
    if (const double value = run.result.number(key); !std::isnan(value)) values.push_back(value);
  return values;
}

std::vector<RunGroup> group_runs(std::vector<RunRecord> runs) {
  std::vector<RunGroup> groups;
  std::map<std::string, std::size_t> places;
  for (RunRecord& run : runs) {
    const auto [place, added] = places.try_emplace(identity(run), groups.size());
    if (added) groups.emplace_back();
    groups[place->second].runs.push_back(std::move(run));
  }
  for (RunGroup& group : groups) group.name = shared_name(group.runs);
  make_names_differ(groups);
  return groups;
}

Series smoothed(const Series& series, int window) {
  Series result{series.x, {}};
  for (std::size_t i = 0; i < series.y.size(); ++i) {
    double sum = 0;
    int count = 0;
    for (std::size_t k = i + 1 - std::min(i + 1, elements(window)); k <= i; ++k)
      if (std::isfinite(series.y[k])) {
        sum += series.y[k];
        ++count;
      }
    result.y.push_back(std::isfinite(series.y[i]) ? sum / count : nan);
  }
  return result;
}

std::vector<Curve> curves_of(const RunGroup& group, const std::string& metric, int smooth, bool log) {
  std::vector<Series> all;
  std::vector<const RunRecord*> owners;
  for (const RunRecord& run : group.runs)
    if (const auto found = run.series.find(metric); found != run.series.end() && !found->second.x.empty()) {
      all.push_back(smoothed(found->second, smooth));
      owners.push_back(&run);
    }
  if (all.empty()) return {};
  const Aligned values = aligned(all);
  if (values.x.size() > 1 || all.size() == 1) return {mean_curve(group.name, values, log)};
  std::vector<Curve> curves;
  for (std::size_t i = 0; i < all.size(); ++i)
    curves.push_back({.label = fmt::format("{} (seed {})", group.name, owners[i]->seed), .x = all[i].x, .y = all[i].y});
  return curves;
}

std::vector<Curve> curves_over(XAxis x, const RunGroup& group, const std::string& metric, int smooth, bool log) {
  if (x == XAxis::iteration) return curves_of(group, metric, smooth, log);
  std::vector<Series> clocks;
  for (const RunRecord& run : group.runs)
    if (Series clock = clock_of(run, x); !clock.x.empty()) clocks.push_back(std::move(clock));
  if (clocks.empty()) return {};
  std::vector<Curve> curves = curves_of(group, metric, smooth, log);
  for (Curve& curve : curves)
    for (double& place : curve.x) {
      std::vector<double> places;
      for (const Series& clock : clocks) places.push_back(interpolated(clock, place));
      place = summary_of(places).mean;
    }
  return curves;
}

std::vector<std::string> drawn_metrics(const std::vector<RunGroup>& groups) {
  std::vector<std::string> metrics;
  for (const RunGroup& group : groups)
    for (const RunRecord& run : group.runs)
      for (const std::string& metric : run.metrics)
        if (!is_clock(metric) && std::find(metrics.begin(), metrics.end(), metric) == metrics.end() &&
            changes(groups, metric))
          metrics.push_back(metric);
  std::stable_sort(metrics.begin(), metrics.end(),
                   [](const std::string& a, const std::string& b) { return rank(a) < rank(b); });
  return metrics;
}

bool wants_log(const std::vector<RunGroup>& groups, const std::string& metric) {
  double low = std::numeric_limits<double>::infinity(), high = 0;
  for_each_value(groups, metric, [&](double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  });
  return low > 0 && high > 100 * low;
}

Chart chart_of(const std::vector<RunGroup>& groups, const std::string& metric, int smooth, bool log, XAxis x) {
  Chart chart{.title = spoken(metric),
              .x_label = axis_text(x, groups.front().runs.front().counter),
              .y_label = spoken(metric),
              .log_y = log};
  if (smooth > 1) chart.y_label += fmt::format(", mean of the last {} values", smooth);
  bool any = false, band = false;
  for (const RunGroup& group : groups) {
    std::vector<Curve> curves = curves_over(x, group, metric, smooth, log);
    any = any || !curves.empty();
    // A group has the same colour in every picture: one without this metric takes its place and draws nothing.
    if (curves.empty()) curves.emplace_back();
    for (Curve& curve : curves) {
      band = band || !curve.low.empty();
      chart.curves.push_back(std::move(curve));
    }
    const double baseline = baseline_of(group.runs.front().result, metric);
    const bool known = std::any_of(chart.references.begin(), chart.references.end(),
                                   [&](const ReferenceLine& line) { return line.y == baseline; });
    if (std::isfinite(baseline) && !known) chart.references.push_back({"naive baseline", baseline});
  }
  if (!any) chart.curves.clear();
  if (band)
    chart.y_label +=
        log ? " (geometric mean over seeds, band of one deviation)" : " (mean over seeds, band of one deviation)";
  return chart;
}

std::string spoken(const std::string& metric) {
  std::string text = metric;
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

std::vector<std::string> differing_options(const std::vector<RunGroup>& groups) {
  std::vector<std::string> keys, differing;
  for (const RunGroup& group : groups)
    for (const auto& [key, value] : group.runs.front().config)
      if (!is_circumstance(key) && std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
  for (const std::string& key : keys) {
    const auto differs = [&](const RunGroup& group) {
      return !group.runs.front().config.empty() &&
             group.runs.front().option(key) != groups.front().runs.front().option(key);
    };
    if (std::any_of(groups.begin(), groups.end(), differs)) differing.push_back(key);
  }
  return differing;
}

}  // namespace throughtime

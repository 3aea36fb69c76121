#include "report/charts/curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>

#include "report/statistics.h"
#include "report/units.h"
#include "throughtime/index.h"

namespace throughtime {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

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

/// What other curves are drawn over or beside.
bool is_no_curve(const std::string& metric) {
  return metric.starts_with("naive_") || metric == "seconds" || metric == "epoch" || metric == "updates" ||
         metric == "streams" || metric == "skipped";
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

/// Where validation chose the weights of a group's runs: a place for each run, on its own curve.
std::vector<Spot> chosen_of(const RunGroup& group, const std::string& metric, int smooth, XAxis x) {
  std::vector<Spot> spots;
  if (!metric.starts_with("validation_") && metric != "train_loss") return spots;
  for (const RunRecord& run : group.runs) {
    const double iteration = run.result.number("best.iteration");
    const auto found = run.series.find(metric);
    if (!std::isfinite(iteration) || found == run.series.end() || found->second.x.empty()) continue;
    const Series clock = x == XAxis::iteration ? Series() : clock_of(run, x);
    if (x != XAxis::iteration && clock.x.empty()) continue;
    const double first = found->second.x.front();  // nothing is known of what lies before it
    const Spot spot{x == XAxis::iteration ? iteration : interpolated(clock, iteration),
                    iteration < first ? nan : interpolated(smoothed(found->second, smooth), iteration)};
    if (std::isfinite(spot.x) && std::isfinite(spot.y)) spots.push_back(spot);
  }
  return spots;
}

/// What a group's naive forecast has of a metric: a curve where it was written along, else a line. Once, where it is
/// that of a group before.
void add_naive(Chart& chart, std::vector<Curve>& known, const RunGroup& group, const std::string& metric, int smooth,
               bool log, XAxis x) {
  std::vector<Curve> curves = curves_over(x, group, "naive_" + metric, smooth, log);
  if (!curves.empty()) {
    Curve& curve = curves.front();
    const auto same = [&](const Curve& one) { return one.x == curve.x && one.y == curve.y; };
    if (std::any_of(known.begin(), known.end(), same)) return;
    curve.label = known.empty() ? "naive forecast" : "naive forecast of " + group.name;
    curve.low.clear();
    curve.high.clear();
    curve.dashed = true;
    known.push_back(std::move(curve));
    return;
  }
  const double line = naive_of(group.runs.front().result, metric);
  const auto same = [&](const ReferenceLine& one) { return one.y == line; };
  if (std::isfinite(line) && std::none_of(chart.references.begin(), chart.references.end(), same))
    chart.references.push_back({chart.references.empty() ? "naive baseline" : "naive baseline of " + group.name, line});
}

/// "validation" of "validation_mse"; of what a learner tells nothing.
std::string split_of(const std::string& metric) {
  const std::string first = metric.substr(0, metric.find('_'));
  constexpr std::array<std::string_view, 6> splits = {"train", "validation", "test", "rolling", "cumulative", "naive"};
  return std::find(splits.begin(), splits.end(), first) == splits.end() ? "" : first;
}

/// Whether the second metric is the first one times a constant, or its root, or its exponential, wherever a run has
/// them: one look at either is enough.
bool retells(const std::vector<RunGroup>& groups, const std::string& first, const std::string& second) {
  if (split_of(first) != split_of(second)) return false;
  constexpr double tolerance = 1e-4;
  using Form = double (*)(double);
  constexpr std::array<Form, 6> forms = {[](double y) { return y; },           [](double y) { return std::sqrt(y); },
                                         [](double y) { return y * y; },       [](double y) { return std::exp(y); },
                                         [](double y) { return std::log(y); }, [](double y) { return std::exp2(y); }};
  std::size_t points = 0;
  std::array<double, forms.size()> lowest, highest;
  lowest.fill(std::numeric_limits<double>::infinity());
  highest.fill(-std::numeric_limits<double>::infinity());
  for (const RunGroup& group : groups)
    for (const RunRecord& run : group.runs) {
      const auto one = run.series.find(first), other = run.series.find(second);
      if ((one == run.series.end()) != (other == run.series.end())) return false;
      if (one == run.series.end()) continue;
      if (one->second.x != other->second.x) return false;
      for (std::size_t i = 0; i < one->second.y.size(); ++i) {
        const double from = one->second.y[i], to = other->second.y[i];
        if (std::isnan(from) && std::isnan(to)) continue;
        ++points;
        for (std::size_t form = 0; form < forms.size(); ++form) {
          const double value = forms[form](from), ratio = value == to ? 1.0 : to / value;
          lowest[form] = std::isfinite(ratio) ? std::min(lowest[form], ratio) : -1;
          highest[form] = std::max(highest[form], ratio);
        }
      }
    }
  for (std::size_t form = 0; form < forms.size() && points > 1; ++form)
    if (lowest[form] > 0 && highest[form] <= lowest[form] * (1 + tolerance)) return true;
  return false;
}

}  // namespace

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
        if (!is_no_curve(metric) && std::find(metrics.begin(), metrics.end(), metric) == metrics.end() &&
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

std::vector<std::pair<std::string, std::string>> retold_metrics(const std::vector<RunGroup>& groups,
                                                                const std::vector<std::string>& metrics) {
  std::vector<std::pair<std::string, std::string>> retold;
  for (std::size_t i = 0; i < metrics.size(); ++i)
    for (std::size_t first = 0; first < i; ++first) {
      const auto known = [&](const auto& pair) { return pair.first == metrics[first]; };
      if (std::any_of(retold.begin(), retold.end(), known) || !retells(groups, metrics[first], metrics[i])) continue;
      retold.emplace_back(metrics[i], metrics[first]);
      break;
    }
  return retold;
}

Chart chart_of(const std::vector<RunGroup>& groups, const std::string& metric, int smooth, bool log, XAxis x) {
  const std::string unit = unit_of(metric, groups.front().runs.front());
  Chart chart{.title = spoken(metric),
              .x_label = axis_text(x, groups.front().runs.front().counter),
              .y_label = spoken(metric) + (unit.empty() ? "" : ", " + unit),
              .log_y = log};
  if (smooth > 1) chart.y_label += fmt::format(", mean of the last {} values", smooth);
  bool any = false, band = false;
  std::vector<Curve> naive;
  for (const RunGroup& group : groups) {
    std::vector<Curve> curves = curves_over(x, group, metric, smooth, log);
    any = any || !curves.empty();
    // A group has the same colour in every picture: one without this metric takes its place and draws nothing.
    if (curves.empty())
      curves.emplace_back();
    else
      curves.front().chosen = chosen_of(group, metric, smooth, x);
    for (Curve& curve : curves) {
      band = band || !curve.low.empty();
      chart.curves.push_back(std::move(curve));
    }
    add_naive(chart, naive, group, metric, smooth, log, x);
  }
  const auto of_values = [](const Curve& curve) {
    return std::all_of(curve.y.begin(), curve.y.end(), [](double value) { return !(value < 0); });
  };
  chart.never_negative = std::all_of(chart.curves.begin(), chart.curves.end(), of_values);
  if (!any) chart.curves.clear();
  if (any) chart.curves.insert(chart.curves.end(), naive.begin(), naive.end());
  if (band)
    chart.note = log ? "geometric mean over seeds, band of one deviation" : "mean over seeds, band of one deviation";
  return chart;
}

std::vector<std::string> loss_heads(const std::vector<RunGroup>& groups, const std::string& metric) {
  if (!metric.ends_with("loss")) return {""};
  std::vector<std::string> heads;
  for (const RunGroup& group : groups)
    if (const std::string head = group.runs.front().option("model.head");
        std::find(heads.begin(), heads.end(), head) == heads.end())
      heads.push_back(head);
  return heads;
}

std::vector<Chart> charts_of(const std::vector<RunGroup>& groups, const std::string& metric, int smooth, bool log,
                             XAxis x) {
  const std::vector<std::string> heads = loss_heads(groups, metric);
  std::vector<Chart> charts;
  const auto add = [&](const std::vector<RunGroup>& shown, const std::string& addition) {
    Chart chart = chart_of(shown, metric, smooth, log, x);
    chart.title += addition;
    if (!chart.curves.empty()) charts.push_back(std::move(chart));
  };
  if (heads.size() == 1) add(groups, "");
  for (std::size_t i = 0; i < heads.size() && heads.size() > 1; ++i) {
    std::vector<RunGroup> shown = groups;  // all of them, so that each has the colour that it has everywhere
    for (RunGroup& group : shown)
      if (group.runs.front().option("model.head") != heads[i])
        for (RunRecord& run : group.runs) run.series.erase(metric);
    add(shown, heads[i].empty() ? " of the usual head" : " of head " + heads[i]);
  }
  return charts;
}

}  // namespace throughtime

#include <algorithm>
#include <cmath>
#include <limits>

#include "report/statistics.h"
#include "reproduce/results/result.h"
#include "reproduce/runs/dynamic_runs.h"

namespace throughtime {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double end_iterations = 50;  // what the acceptance of the Add task asks for

/// A curve from its first number on: what was no estimate yet is no part of it.
Series from_first_number(const Series& series) {
  const auto first = std::find_if(series.y.begin(), series.y.end(), [](double value) { return !std::isnan(value); });
  const auto skipped = first - series.y.begin();
  return {{series.x.begin() + skipped, series.x.end()}, {first, series.y.end()}};
}

double mean_of_last_tenth(const std::vector<double>& y) {
  const std::size_t count = std::max<std::size_t>(1, y.size() / 10);
  return summary_of({y.end() - static_cast<std::ptrdiff_t>(count), y.end()}).mean;
}

/// Of the last tenth. A value that is no number had no bound: it is larger than every number.
double median_of_last_tenth(const std::vector<double>& y) {
  const std::size_t count = std::max<std::size_t>(1, y.size() / 10);
  std::vector<double> last(y.end() - static_cast<std::ptrdiff_t>(count), y.end());
  for (double& value : last)
    if (std::isnan(value)) value = infinity;
  std::sort(last.begin(), last.end());
  return (last[(count - 1) / 2] + last[count / 2]) / 2;
}

/// Of the reports of the last iterations; one that is itself the mean of more of them counts whole.
double mean_of_end(const Series& series) {
  std::vector<double> last;
  for (std::size_t i = 0; i < series.x.size(); ++i)
    if (series.x[i] > series.x.back() - end_iterations) last.push_back(series.y[i]);
  return summary_of(last).mean;
}

double highest(const std::vector<double>& y) { return *std::max_element(y.begin(), y.end()); }

double first_at_most(const Series& series, double level) {
  for (std::size_t i = 0; i < series.y.size(); ++i)
    if (series.y[i] <= level) return series.x[i];
  return infinity;
}

double share_at_most(const std::vector<double>& y, double level) {
  if (y.size() < 2) return nan;
  const auto held = std::count_if(y.begin() + 1, y.end(), [&](double value) { return value <= level; });
  return static_cast<double>(held) / static_cast<double>(y.size() - 1);
}

/// How often what was learned was lost again. A value that is no number is a loss, too.
double count_relapses(const std::vector<double>& y, double level) {
  int relapses = 0;
  bool learned = false;
  for (const double value : y) {
    const bool lost = learned && !(value <= 10 * level);
    relapses += lost ? 1 : 0;
    learned = value <= level || (learned && !lost);
  }
  return relapses;
}

/// Of a curve that begins with a number.
double measure_curve(const Measure& measure, const Series& series) {
  const std::vector<double>& y = series.y;
  switch (measure.how) {
    case MeasureHow::last:
      return y.back();
    case MeasureHow::final:
      return mean_of_last_tenth(y);
    case MeasureHow::median:
      return median_of_last_tenth(y);
    case MeasureHow::end:
      return mean_of_end(series);
    case MeasureHow::mean:
      return summary_of(y).mean;
    case MeasureHow::lowest:
      return *std::min_element(y.begin(), y.end());
    case MeasureHow::highest:
      return highest(y);
    case MeasureHow::reach:
      return first_at_most(series, measure.level);
    case MeasureHow::share:
      return share_at_most(y, measure.level);
    case MeasureHow::rise:
      return mean_of_last_tenth(y) - y.front();
    case MeasureHow::decay:
      return mean_of_last_tenth(y) / highest(y);
    case MeasureHow::relapses:
      return count_relapses(y, measure.level);
    case MeasureHow::result:
    case MeasureHow::dynamic:
      break;
  }
  return nan;
}

}  // namespace

double measure_run(const Measure& measure, const RunRecord& run) {
  if (!run.finished) return nan;
  if (measure.how == MeasureHow::result) return run.result.number(measure.metric);
  if (measure.how == MeasureHow::dynamic) return dynamic_number(run.directory, measure.metric);
  const auto found = run.series.find(measure.metric);
  if (found == run.series.end()) return nan;
  const Series series = from_first_number(found->second);
  return series.y.empty() ? nan : measure_curve(measure, series);
}

}  // namespace throughtime

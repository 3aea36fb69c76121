#include "reproduce/sweep.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "throughtime/error.h"
#include "train/options/options.h"

namespace throughtime {
namespace {

/// The mean of one point in the direction that is better, or minus infinity.
double merit(const Sweep& sweep, const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  const double mean = sum / static_cast<double>(values.size());
  if (!std::isfinite(mean)) return -std::numeric_limits<double>::infinity();
  return sweep.higher ? mean : -mean;
}

/// Whether an arm has a value of the option that the sweep leaves alone.
bool keeps(const Sweep& sweep, const RunConfig& arm, const std::string& key) {
  return std::any_of(sweep.keep.begin(), sweep.keep.end(), [&](const std::string& assignment) {
    if (!assignment.starts_with(key + "=")) return false;
    RunConfig other = arm;
    set_option(other, assignment, "[result.sweep] keep");
    return resolved_config(other) == resolved_config(arm);
  });
}

}  // namespace

std::vector<SweepPoint> sweep_points(const Sweep& sweep, const RunConfig& arm) {
  RunConfig copy = arm;
  const OptionList options = options_of(copy);
  std::vector<SweepPoint> points = {{}};
  for (const auto& [key, values] : sweep.grid) {
    const Option& option = find_option(options, key, "[result.sweep.grid]");
    if (!is_used(option, arm, "train") || keeps(sweep, arm, key)) continue;
    std::vector<SweepPoint> longer;
    for (const SweepPoint& point : points)
      for (const std::string& value : values) {
        longer.push_back(point);
        longer.back().push_back(key + "=" + value);
      }
    points = std::move(longer);
  }
  return points;
}

std::size_t best_point(const Sweep& sweep, const std::vector<std::vector<double>>& values) {
  std::size_t best = 0;
  for (std::size_t point = 1; point < values.size(); ++point)
    if (merit(sweep, values[point]) > merit(sweep, values[best])) best = point;
  return best;
}

}  // namespace throughtime

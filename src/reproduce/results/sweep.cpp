#include "reproduce/results/sweep.h"

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

/// Whether an arm has the value of an assignment already.
bool has_value(const RunConfig& arm, const std::string& assignment, const char* where) {
  RunConfig other = arm;
  set_option(other, assignment, where);
  return resolved_config(other) == resolved_config(arm);
}

/// Whether an arm has a value of the option that the sweep leaves alone.
bool keeps(const Sweep& sweep, const RunConfig& arm, const std::string& key) {
  return std::any_of(sweep.keep.begin(), sweep.keep.end(), [&](const std::string& assignment) {
    return assignment.starts_with(key + "=") && has_value(arm, assignment, "[result.sweep] keep");
  });
}

/// Whether an arm reads the option of a case and has its value.
bool is_about(const SweepCase& one, const RunConfig& arm, const OptionList& options) {
  const char* place = "[[result.sweep.instead]] where";
  const Option& option = find_option(options, one.where.substr(0, one.where.find('=')), place);
  return is_used(option, arm, "train") && has_value(arm, one.where, place);
}

/// The grid of one arm: that of all, with the values of the first case that is about the arm.
SweepGrid grid_of(const Sweep& sweep, const RunConfig& arm, const OptionList& options) {
  SweepGrid grid = sweep.grid;
  const auto own = std::find_if(sweep.instead.begin(), sweep.instead.end(),
                                [&](const SweepCase& one) { return is_about(one, arm, options); });
  if (own == sweep.instead.end()) return grid;
  for (auto& [key, values] : grid)
    for (const auto& [other, instead] : own->grid)
      if (other == key) values = instead;
  return grid;
}

}  // namespace

std::vector<SweepPoint> sweep_points(const Sweep& sweep, const RunConfig& arm) {
  RunConfig copy = arm;
  const OptionList options = options_of(copy);
  std::vector<SweepPoint> points = {{}};
  for (const auto& [key, values] : grid_of(sweep, arm, options)) {
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

#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <vector>

namespace throughtime::testing {

inline double norm(std::span<const double> values) {
  double squares = 0;
  for (const double value : values) squares += value * value;
  return std::sqrt(squares);
}

/// |a - b|; infinity for lengths that differ and for a number that is none.
inline double distance(std::span<const double> a, std::span<const double> b) {
  if (a.size() != b.size()) return HUGE_VAL;
  double squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i) squares += (a[i] - b[i]) * (a[i] - b[i]);
  return std::isnan(squares) ? HUGE_VAL : std::sqrt(squares);
}

/// |got - wanted| / |wanted|, or |got - wanted| itself where `wanted` is not longer than `floor`.
inline double relative_error(std::span<const double> got, std::span<const double> wanted, double floor = 1e-30) {
  const double length = norm(wanted);
  return distance(got, wanted) / (length > floor ? length : 1.0);
}

/// The gradient of `function` at `point` by central differences of the fourth order: four evaluations per number.
inline std::vector<double> central_differences(const std::function<double(std::span<const double>)>& function,
                                               std::span<const double> point, double step = 1e-3) {
  std::vector<double> at(point.begin(), point.end()), gradient(point.size());
  for (std::size_t i = 0; i < at.size(); ++i) {
    const auto moved = [&](double by) {
      at[i] = point[i] + by;
      const double value = function(at);
      at[i] = point[i];
      return value;
    };
    gradient[i] = (8 * (moved(step) - moved(-step)) - (moved(2 * step) - moved(-2 * step))) / (12 * step);
  }
  return gradient;
}

inline std::vector<double> to_double(std::span<const float> values) { return {values.begin(), values.end()}; }

}  // namespace throughtime::testing

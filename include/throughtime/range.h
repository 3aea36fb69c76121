#pragma once

#include <limits>
#include <string>

namespace throughtime {

/// Bounds of a number; an open end is excluded.
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool open_low = false;
  bool open_high = false;

  bool holds(double value) const;
  std::string text() const;  // "at least 1", "between 0 and 1", ...; empty: any number
};

inline Range at_least(double low) { return {.low = low}; }
inline Range above(double low) { return {.low = low, .open_low = true}; }
inline Range between(double low, double high) { return {.low = low, .high = high}; }
inline Range below_one(double low) { return {.low = low, .high = 1, .open_high = true}; }

}  // namespace throughtime

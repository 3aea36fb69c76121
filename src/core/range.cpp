#include "throughtime/range.h"

#include <fmt/format.h>

#include <cmath>

namespace throughtime {

bool Range::holds(double value) const {
  if (!std::isfinite(value)) return false;
  return (open_low ? value > low : value >= low) && (open_high ? value < high : value <= high);
}

std::string Range::text() const {
  const bool bounded_low = std::isfinite(low);
  const bool bounded_high = std::isfinite(high);
  const std::string lower = fmt::format("{} {}", open_low ? "above" : "at least", low);
  const std::string upper = fmt::format("{} {}", open_high ? "below" : "at most", high);
  if (bounded_low && bounded_high) {
    if (!open_low && !open_high) return fmt::format("between {} and {}", low, high);
    return lower + " and " + upper;
  }
  if (bounded_low) return lower;
  return bounded_high ? upper : "";
}

}  // namespace throughtime

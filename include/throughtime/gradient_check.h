#pragma once

#include <cstdint>
#include <string>

namespace throughtime {

/// Relative errors of the gradients of one small random problem.
struct GradientErrors {
  /// Reference engine against central differences: |analytic - numeric| / max(|analytic|, |whole gradient| / 1000) of
  /// the worst parameter block, the initial state included.
  double reference = 0;
  /// The cpu engine against the reference engine: |difference| / |gradient|.
  double cpu = 0;
};

/// Draws a small stack of that cell with that head, a window with resets and steps without a loss, an initial state
/// and a cotangent of the final state, and compares the gradients. A pure function of its arguments.
GradientErrors check_gradients(const std::string& cell, const std::string& head, std::uint64_t seed);

}  // namespace throughtime

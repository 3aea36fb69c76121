#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "throughtime/engine.h"

namespace throughtime {

/// How wrong the gradient of one small random problem is.
struct GradientError {
  const EngineType* engine = nullptr;
  /// Of the exact engine against central differences: |analytic - numeric| / max(|analytic|, |whole gradient| / 1000)
  /// of the worst parameter block, the initial state included. Of any other against the exact one: |difference| /
  /// |gradient|.
  double relative = 0;
};

/// The engine with `exact`.
const EngineType& exact_engine();

/// Draws a small stack of that cell with that head, a window with resets and steps without a loss, an initial state
/// and a cotangent of the final state, and compares the gradients of every engine that can compute here, in the order
/// of usable_engines. A pure function of its arguments.
std::vector<GradientError> check_gradients(const std::string& cell, const std::string& head, std::uint64_t seed);

}  // namespace throughtime

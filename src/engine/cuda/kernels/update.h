#pragma once

#include <cstddef>

#include "throughtime/optimizer.h"

namespace throughtime::cuda {

struct Context;

/// What changes from update to update.
struct UpdateNumbers {
  UpdateCoefficients coefficients;
  double gradient_scale = 1;
  double clip_value = 0, clip_norm = 0;  // 0: off
  double pull = 0;                       // penalty * alpha
  double alpha = 0, averaging = 0;
};

/// UpdateCall on the device, in the order of engine/reference/update.cpp: FPTT's terms join the scaled gradient, it is
/// clamped and clipped by its norm, the rule steps, W-bar and lambda settle. No number leaves the device; all sums are
/// in double and in a fixed order.
struct Update {
  std::size_t count = 0;
  int regularised = 0, settle = 0;
  int clipped = 1;  // 0: clip_norm is off, and no norm is made for it
  const UpdateNumbers* numbers = nullptr;
  float* weights = nullptr;
  float* gradient = nullptr;
  float* moments[2] = {};
  float* average = nullptr;      // W-bar
  float* multiplier = nullptr;   // lambda
  double* partial = nullptr;     // room for 5 * most_partials
  float* norm = nullptr;         // out [1], or null
  float* diagnostics = nullptr;  // out [3], or null
};

/// The update of the optimizer of that name; null: there is none.
using IssueUpdate = void (*)(const Context&, const Update&);
IssueUpdate find_device_update(const char* name);

}  // namespace throughtime::cuda

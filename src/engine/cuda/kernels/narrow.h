#pragma once

#include "engine/cuda/context.h"

namespace throughtime::cuda {

constexpr int most_narrow_inputs = 4;
constexpr int narrow_splits = 64;

/// Gradients of a linear layer with few inputs, in one look at d_y: d_weights [width, inputs] += d_y^T x and
/// d_bias [width] += the sum of d_y, which d_second receives as well. Biases may be null.
struct NarrowGradient {
  int rows = 0, width = 0, inputs = 0;  // inputs: 1 to most_narrow_inputs
  const float* d_y = nullptr;           // [rows, width]
  const float* x = nullptr;             // [rows, inputs]
  float* partial = nullptr;             // room for narrow_splits * (inputs + 1) * width numbers
  float* d_weights = nullptr;
  float* d_bias = nullptr;
  float* d_second = nullptr;
};
void issue(const Context&, const NarrowGradient&);

}  // namespace throughtime::cuda

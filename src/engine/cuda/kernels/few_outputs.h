#pragma once

#include "engine/cuda/context.h"

namespace throughtime::cuda {

constexpr int most_few_outputs = 16;

/// y [rows, outputs] = x [rows, inputs] W^T + bias + second: a linear layer with few outputs, in one kernel.
struct FewOutputs {
  int rows = 0, inputs = 0, outputs = 0;  // outputs: 1 to most_few_outputs
  int y_stride = 0;                       // numbers from one row to the next
  const float* x = nullptr;
  const float* weights = nullptr;  // [outputs, inputs]
  const float* bias = nullptr;     // [outputs], or null
  const float* second = nullptr;   // another one on top, or null
  float* y = nullptr;
};
void issue(const Context&, const FewOutputs&);

constexpr int most_few_rows = 512;

/// The way back for a few rows, in one kernel: d_weights += d_y^T x, d_bias += the sum of d_y, d_x (+)= d_y W.
struct FewOutputsBackward {
  int rows = 0, inputs = 0, outputs = 0;  // rows: at most most_few_rows
  int d_y_stride = 0, add = 0;            // add: to d_x
  const float* d_y = nullptr;
  const float* x = nullptr;        // [rows, inputs]
  const float* weights = nullptr;  // [outputs, inputs]
  float* d_weights = nullptr;      // null: no gradient is asked for
  float* d_bias = nullptr;         // or null
  float* d_x = nullptr;            // [rows, inputs]
};
void issue(const Context&, const FewOutputsBackward&);

}  // namespace throughtime::cuda

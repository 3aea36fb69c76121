#pragma once

#include "engine/cuda/context.h"

namespace throughtime::cuda {

/// y [rows, outputs] (+)= x [rows, inputs] W^T with W [outputs, inputs]: a linear layer. Strides count numbers from one
/// row to the next; 0: as wide as it is.
struct LinearForward {
  int rows = 0, inputs = 0, outputs = 0, add = 0;
  int x_stride = 0, y_stride = 0;
  const float* x = nullptr;
  const float* weights = nullptr;
  float* y = nullptr;
};
void issue(const Context&, const LinearForward&);

/// d_x [rows, inputs] (+)= d_y [rows, outputs] W.
struct LinearBackward {
  int rows = 0, inputs = 0, outputs = 0, add = 0;
  int d_y_stride = 0, d_x_stride = 0;
  const float* d_y = nullptr;
  const float* weights = nullptr;
  float* d_x = nullptr;
};
void issue(const Context&, const LinearBackward&);

/// d_W [outputs, inputs] += d_y^T x, summed over the rows. The rows of a narrow product are cut into parts, which are
/// multiplied side by side and added up in order: the cut depends on the sizes alone.
struct LinearGradient {
  int rows = 0, inputs = 0, outputs = 0;
  int d_y_stride = 0, x_stride = 0;
  const float* d_y = nullptr;
  const float* x = nullptr;
  float* parts = nullptr;  // room for most_gradient_parts() * outputs * inputs numbers
  float* d_weights = nullptr;
};
void issue(const Context&, const LinearGradient&);
/// The most parts that the rows, or fewer of them, are cut into; 1: they are not, and `parts` may be null.
int most_gradient_parts(int rows, int inputs, int outputs);

}  // namespace throughtime::cuda

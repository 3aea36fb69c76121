#include "engine/cuda/products.h"

#include <algorithm>

#include "engine/cuda/kernels/inputs.h"
#include "engine/cuda/kernels/thin.h"
#include "throughtime/index.h"

namespace throughtime::cuda {
namespace {

int or_width(int stride, int width) { return stride > 0 ? stride : width; }

}  // namespace

// cuBLAS counts columns first, so that a matrix of ours is its transpose there.

void issue(const Context& context, const LinearForward& call) {
  if (call.rows == 0) return;
  if (is_thin(call.rows, call.inputs, call.outputs)) return issue_thin(context, call);
  const float one = 1, before = call.add ? 1.0f : 0.0f;
  check(cublasSgemm(context.products, CUBLAS_OP_T, CUBLAS_OP_N, call.outputs, call.rows, call.inputs, &one,
                    call.weights, call.inputs, call.x, or_width(call.x_stride, call.inputs), &before, call.y,
                    or_width(call.y_stride, call.outputs)),
        "a product");
}

void issue(const Context& context, const LinearBackward& call) {
  if (call.rows == 0) return;
  if (is_thin(call.rows, call.inputs, call.outputs)) return issue_thin(context, call);
  const float one = 1, before = call.add ? 1.0f : 0.0f;
  check(cublasSgemm(context.products, CUBLAS_OP_N, CUBLAS_OP_N, call.inputs, call.rows, call.outputs, &one,
                    call.weights, call.inputs, call.d_y, or_width(call.d_y_stride, call.outputs), &before, call.d_x,
                    or_width(call.d_x_stride, call.inputs)),
        "a product");
}

int most_gradient_parts(int rows, int inputs, int outputs) {
  if (rows == 0 || inputs == 0 || outputs == 0) return 1;
  constexpr int tile = 128, processors = 132, shortest = 128;
  const int tiles = ((inputs + tile - 1) / tile) * ((outputs + tile - 1) / tile);
  return std::clamp(std::min(2 * processors / tiles, rows / shortest), 1, 16);
}

namespace {

/// In how many parts the rows are cut: if it can be, so that none are left over, for which another product were needed.
int gradient_parts(int rows, int inputs, int outputs) {
  const int most = most_gradient_parts(rows, inputs, outputs);
  for (int parts = most; 2 * parts > most; --parts)
    if (rows % parts == 0) return parts;
  return most;
}

}  // namespace

void issue(const Context& context, const LinearGradient& call) {
  if (call.rows == 0) return;
  const float one = 1, zero = 0;
  const int d_y_stride = or_width(call.d_y_stride, call.outputs), x_stride = or_width(call.x_stride, call.inputs);
  const int parts = gradient_parts(call.rows, call.inputs, call.outputs);
  const auto multiply = [&](int first, int rows, const float& before, float* to) {
    check(cublasSgemm(context.products, CUBLAS_OP_N, CUBLAS_OP_T, call.inputs, call.outputs, rows, &one,
                      call.x + elements(first, x_stride), x_stride, call.d_y + elements(first, d_y_stride), d_y_stride,
                      &before, to, call.inputs),
          "a weight gradient");
  };
  const int length = call.rows / parts, rest = call.rows - parts * length;
  if (parts == 1) return multiply(0, call.rows, one, call.d_weights);
  const long long size = static_cast<long long>(call.inputs) * call.outputs;
  check(cublasSgemmStridedBatched(context.products, CUBLAS_OP_N, CUBLAS_OP_T, call.inputs, call.outputs, length, &one,
                                  call.x, x_stride, static_cast<long long>(length) * x_stride, call.d_y, d_y_stride,
                                  static_cast<long long>(length) * d_y_stride, &zero, call.parts, call.inputs, size,
                                  parts),
        "a weight gradient");
  SumParts sum;
  sum.count = static_cast<std::size_t>(size);
  sum.parts = parts;
  sum.add = 1;
  sum.from = call.parts;
  sum.to = call.d_weights;
  issue(context, sum);
  if (rest > 0) multiply(parts * length, rest, one, call.d_weights);
}

}  // namespace throughtime::cuda

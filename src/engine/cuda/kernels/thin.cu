#include "engine/cuda/kernels/thin.h"

#include <cstddef>
#include <cstdint>

#include "engine/cuda/kernels/reduce.cuh"
#include "engine/cuda/kernels/turns.cuh"

// `rows`: rows that a thread has registers for. Where there are fewer, it computes the last one again instead of
// branching, and nobody looks. The order of every sum depends on the sizes alone.

namespace throughtime::cuda {
namespace {

int or_width(int stride, int width) { return stride > 0 ? stride : width; }

/// Numbers side by side that one load brings.
template <int width>
struct Numbers {
  float at[width];
};
template <>
struct alignas(16) Numbers<4> {
  float at[4];
};
template <int width>
__device__ __forceinline__ Numbers<width> load(const float* from) {
  return *reinterpret_cast<const Numbers<width>*>(from);
}

constexpr int forward_warps = 8;

/// A warp an output: lane p adds columns p, p + 32, ... (of `width` numbers each), the lanes are added in a tree.
template <int rows, int width>
__global__ void __launch_bounds__(forward_warps* warp_lanes) thin_forward(const LinearForward call) {
  take_turn();
  const int lane = static_cast<int>(threadIdx.x) % warp_lanes;
  const int output = static_cast<int>(blockIdx.x) * forward_warps + static_cast<int>(threadIdx.x) / warp_lanes;
  if (output >= call.outputs) return;
  const float* weights = call.weights + static_cast<std::size_t>(output) * call.inputs;
  float sums[rows] = {};
#pragma unroll(rows <= 4 ? 4 : 1)
  for (int column = lane * width; column < call.inputs; column += warp_lanes * width) {
    const Numbers<width> weight = load<width>(weights + column);
#pragma unroll
    for (int row = 0; row < rows; ++row) {
      const std::size_t at = static_cast<std::size_t>(min(row, call.rows - 1)) * call.x_stride + column;
      const Numbers<width> x = load<width>(call.x + at);
#pragma unroll
      for (int k = 0; k < width; ++k) sums[row] = fmaf(x.at[k], weight.at[k], sums[row]);
    }
  }
#pragma unroll
  for (int row = 0; row < rows; ++row) {
    for (int distance = 1; distance < warp_lanes; distance *= 2)
      sums[row] += __shfl_xor_sync(0xffffffffu, sums[row], distance);
    if (lane != row || row >= call.rows) continue;
    float& y = call.y[static_cast<std::size_t>(row) * call.y_stride + output];
    y = call.add ? y + sums[row] : sums[row];
  }
}

constexpr int backward_columns = 8, backward_threads = 1024, backward_lanes = backward_threads / backward_columns;
constexpr int backward_warps = backward_threads / warp_lanes;

/// Eight columns a block, one sector of memory: lane p adds outputs p, p + 128, ...; the four lanes of a warp are added
/// in a tree, then the warps in order.
template <int rows>
__global__ void __launch_bounds__(backward_threads) thin_backward(const LinearBackward call) {
  __shared__ float of_warp[backward_warps][rows][backward_columns];
  take_turn();
  const int thread = static_cast<int>(threadIdx.x), lane = thread / backward_columns;
  const int first = static_cast<int>(blockIdx.x) * backward_columns, column = first + thread % backward_columns;
  const float* weights = call.weights + min(column, call.inputs - 1);
  float sums[rows] = {};
#pragma unroll(rows <= 8 ? 4 : 2)
  for (int output = lane; output < call.outputs; output += backward_lanes) {
    const float weight = weights[static_cast<std::size_t>(output) * call.inputs];
#pragma unroll
    for (int row = 0; row < rows; ++row) {
      const std::size_t at = static_cast<std::size_t>(min(row, call.rows - 1)) * call.d_y_stride + output;
      sums[row] = fmaf(call.d_y[at], weight, sums[row]);
    }
  }
#pragma unroll
  for (int row = 0; row < rows; ++row) {
    for (int distance = backward_columns; distance < warp_lanes; distance *= 2)
      sums[row] += __shfl_xor_sync(0xffffffffu, sums[row], distance);
    if (thread % warp_lanes < backward_columns) of_warp[thread / warp_lanes][row][thread % warp_lanes] = sums[row];
  }
  __syncthreads();
  const int row = thread / backward_columns;
  if (row >= call.rows || column >= call.inputs) return;
  float* d_x = call.d_x + static_cast<std::size_t>(row) * call.d_x_stride + column;
  float total = call.add ? *d_x : 0.0f;
#pragma unroll
  for (int warp = 0; warp < backward_warps; ++warp) total += of_warp[warp][row][thread % backward_columns];
  *d_x = total;
}

/// Calls with registers for that many rows.
template <class Action>
void with_rows(int rows, Action action) {
  static_assert(most_thin_rows == 16);
  if (rows <= 1) return action.template operator()<1>();
  if (rows <= 2) return action.template operator()<2>();
  if (rows <= 4) return action.template operator()<4>();
  if (rows <= 8) return action.template operator()<8>();
  action.template operator()<16>();
}

bool fours(const LinearForward& call) {
  const auto address = reinterpret_cast<std::uintptr_t>(call.x) | reinterpret_cast<std::uintptr_t>(call.weights);
  return (call.inputs | call.x_stride) % 4 == 0 && address % 16 == 0;
}

}  // namespace

bool is_thin(int rows, int inputs, int outputs) {
  constexpr int always_thin_rows = 4;
  constexpr long too_many_weights = 1 << 20;  // of a matrix that more rows are multiplied by
  return rows <= always_thin_rows || (rows <= most_thin_rows && static_cast<long>(inputs) * outputs < too_many_weights);
}

void issue_thin(const Context& context, const LinearForward& call) {
  LinearForward strided = call;
  strided.x_stride = or_width(call.x_stride, call.inputs);
  strided.y_stride = or_width(call.y_stride, call.outputs);
  const Turn turn(context, (call.outputs + forward_warps - 1) / forward_warps, forward_warps * warp_lanes, 0);
  const char* what = "a product of few rows";
  with_rows(call.rows, [&]<int rows>() {
    fours(strided) ? launch(turn, what, thin_forward<rows, 4>, strided)
                   : launch(turn, what, thin_forward<rows, 1>, strided);
  });
}

void issue_thin(const Context& context, const LinearBackward& call) {
  LinearBackward strided = call;
  strided.d_y_stride = or_width(call.d_y_stride, call.outputs);
  strided.d_x_stride = or_width(call.d_x_stride, call.inputs);
  const Turn turn(context, (call.inputs + backward_columns - 1) / backward_columns, backward_threads, 0);
  with_rows(call.rows, [&]<int rows>() { launch(turn, "few rows back", thin_backward<rows>, strided); });
}

}  // namespace throughtime::cuda

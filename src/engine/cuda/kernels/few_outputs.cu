#include "engine/cuda/kernels/few_outputs.h"

#include <cstddef>

#include "engine/cuda/kernels/reduce.cuh"
#include "engine/cuda/kernels/turns.cuh"

// `most`: outputs that a thread has registers for. Where there are fewer, it computes the last one again instead of
// branching, and nobody looks.

namespace throughtime::cuda {
namespace {

constexpr int row_warps = 4;

/// A warp a row: lane p adds columns p, p + 32, ..., the lanes are added in a tree.
template <int most>
__global__ void __launch_bounds__(row_warps* warp_lanes) few_outputs(const FewOutputs call) {
  take_turn();
  const int row = static_cast<int>(blockIdx.x) * row_warps + static_cast<int>(threadIdx.x) / warp_lanes;
  const int lane = static_cast<int>(threadIdx.x) % warp_lanes;
  if (row >= call.rows) return;
  const float* x = call.x + static_cast<std::size_t>(row) * call.inputs;
  float sums[most] = {};
#pragma unroll 4
  for (int column = lane; column < call.inputs; column += warp_lanes) {
    const float here = x[column];
#pragma unroll
    for (int o = 0; o < most; ++o)
      sums[o] = fmaf(here, call.weights[min(o, call.outputs - 1) * call.inputs + column], sums[o]);
  }
#pragma unroll
  for (int o = 0; o < most; ++o) {
    for (int distance = 1; distance < warp_lanes; distance *= 2)
      sums[o] += __shfl_xor_sync(0xffffffffu, sums[o], distance);
    if (lane == o && o < call.outputs) {
      if (call.bias) sums[o] += call.bias[o];
      if (call.second) sums[o] += call.second[o];
      call.y[static_cast<std::size_t>(row) * call.y_stride + o] = sums[o];
    }
  }
}

constexpr int columns_of_block = 32, lanes = 16;

using Lanes = float[lanes][columns_of_block];

/// The sum over the lanes of this thread's column, in order.
__device__ __forceinline__ float sum_of_lanes(const Lanes& of_lane) {
  float total = 0;
#pragma unroll
  for (int lane = 0; lane < lanes; ++lane) total += of_lane[lane][threadIdx.x];
  return total;
}

/// Biases: an output for each thread of a row, lane y takes rows y, y + lanes, ...
__device__ __forceinline__ void sum_biases(const FewOutputsBackward& call, Lanes& of_lane) {
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  float sum = 0;
  if (x < call.outputs)
#pragma unroll 4
    for (int row = y; row < call.rows; row += lanes)
      sum += call.d_y[static_cast<std::size_t>(row) * call.d_y_stride + x];
  of_lane[y][x] = sum;
  __syncthreads();
  if (y == 0 && x < call.outputs && call.d_bias) call.d_bias[x] += sum_of_lanes(of_lane);
}

/// 32 columns of the inputs a block; its lane y takes rows y, y + lanes, ... The last block sums the biases.
template <int most>
__global__ void __launch_bounds__(columns_of_block* lanes) few_outputs_backward(const FewOutputsBackward call) {
  __shared__ Lanes of_lane[most];
  take_turn();
  if (blockIdx.x + 1 == gridDim.x) return sum_biases(call, of_lane[0]);
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const int column = static_cast<int>(blockIdx.x) * columns_of_block + x;
  const bool here = column < call.inputs;
  float weights[most], sums[most] = {};
#pragma unroll
  for (int o = 0; o < most; ++o) weights[o] = here && o < call.outputs ? call.weights[o * call.inputs + column] : 0.0f;
#pragma unroll 4
  for (int row = y; row < call.rows; row += lanes) {
    const std::size_t at = static_cast<std::size_t>(row) * call.inputs + column;
    const float* d_y = call.d_y + static_cast<std::size_t>(row) * call.d_y_stride;
    const float value = here ? call.x[at] : 0.0f;
    float d_x = call.add && here ? call.d_x[at] : 0.0f;
#pragma unroll
    for (int o = 0; o < most; ++o) {
      const float d = d_y[min(o, call.outputs - 1)];
      sums[o] = fmaf(d, value, sums[o]);
      d_x = fmaf(d, weights[o], d_x);
    }
    if (here) call.d_x[at] = d_x;
  }
  if (!call.d_weights) return;
#pragma unroll
  for (int o = 0; o < most; ++o) of_lane[o][y][x] = sums[o];
  __syncthreads();
  if (here && y < call.outputs) call.d_weights[y * call.inputs + column] += sum_of_lanes(of_lane[y]);
}

/// Calls with the `most` for that many outputs.
template <class Action>
void with_most(int outputs, Action action) {
  static_assert(most_few_outputs == 16 && most_few_outputs <= lanes);
  if (outputs <= 1) return action.template operator()<1>();
  if (outputs <= 4) return action.template operator()<4>();
  action.template operator()<16>();
}

}  // namespace

void issue(const Context& context, const FewOutputs& call) {
  if (call.rows == 0) return;
  const Turn turn(context, (call.rows + row_warps - 1) / row_warps, row_warps * warp_lanes, 0);
  with_most(call.outputs, [&]<int most>() { launch(turn, "a product with few outputs", few_outputs<most>, call); });
}

void issue(const Context& context, const FewOutputsBackward& call) {
  if (call.rows == 0) return;
  const int blocks = (call.inputs + columns_of_block - 1) / columns_of_block + 1;
  const Turn turn(context, blocks, dim3(columns_of_block, lanes), 0);
  with_most(call.outputs, [&]<int most>() { launch(turn, "few outputs back", few_outputs_backward<most>, call); });
}

}  // namespace throughtime::cuda

#include "engine/cuda/kernels/narrow.h"
#include "engine/cuda/kernels/turns.cuh"

#include <algorithm>
#include <cstddef>

namespace throughtime::cuda {
namespace {

constexpr int columns_of_block = 32, lanes = 8;
constexpr int least_rows = 32;           // of a split
constexpr int blocks_for_all = 4 * 132;  // a constant, so that the bits are the same on every chip

/// How the rows are cut depends on the sizes alone.
int splits_of(const NarrowGradient& call) {
  const int across = (call.width + columns_of_block - 1) / columns_of_block;
  return std::max(1, std::min({blocks_for_all / across, narrow_splits, call.rows / least_rows}));
}

/// partial [splits][inputs + 1][width]: of each split the sums of d_y x_0, d_y x_1, ..., d_y. Lane y of a block adds
/// rows y, y + lanes, ... of its split; the lanes are added in order.
template <int inputs>
__global__ void __launch_bounds__(columns_of_block* lanes) sum_split(const NarrowGradient call, int rows_of_split) {
  take_turn();
  __shared__ float of_lane[inputs + 1][lanes][columns_of_block];
  const int column = static_cast<int>(blockIdx.x) * columns_of_block + static_cast<int>(threadIdx.x);
  const int begin = static_cast<int>(blockIdx.y) * rows_of_split, end = min(call.rows, begin + rows_of_split);
  float sum[inputs + 1] = {};
  if (column < call.width) {
#pragma unroll 4
    for (int row = begin + static_cast<int>(threadIdx.y); row < end; row += lanes) {
      const float d = call.d_y[static_cast<std::size_t>(row) * call.width + column];
      for (int k = 0; k < inputs; ++k) sum[k] += d * call.x[static_cast<std::size_t>(row) * inputs + k];
      sum[inputs] += d;
    }
  }
  for (int k = 0; k <= inputs; ++k) of_lane[k][threadIdx.y][threadIdx.x] = sum[k];
  __syncthreads();
  if (column >= call.width) return;
  for (int k = static_cast<int>(threadIdx.y); k <= inputs; k += lanes) {
    float total = 0;
    for (int lane = 0; lane < lanes; ++lane) total += of_lane[k][lane][threadIdx.x];
    call.partial[(static_cast<std::size_t>(blockIdx.y) * (inputs + 1) + k) * call.width + column] = total;
  }
}

/// Adds the splits up in order, a thread for each number.
template <int inputs>
__global__ void add_splits(const NarrowGradient call, int splits) {
  take_turn();
  const int at = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (at >= (inputs + 1) * call.width) return;
  const int k = at / call.width, column = at % call.width;
  float total = 0;
#pragma unroll 8
  for (int split = 0; split < splits; ++split)
    total += call.partial[static_cast<std::size_t>(split) * (inputs + 1) * call.width + at];
  if (k < inputs) {
    call.d_weights[static_cast<std::size_t>(column) * inputs + k] += total;
  } else {
    if (call.d_bias) call.d_bias[column] += total;
    if (call.d_second) call.d_second[column] += total;
  }
}

template <int inputs>
void launch(const Context& context, const NarrowGradient& call) {
  const int splits = splits_of(call), numbers = (inputs + 1) * call.width;
  const dim3 blocks((call.width + columns_of_block - 1) / columns_of_block, splits);
  launch(Turn(context, blocks, dim3(columns_of_block, lanes), 0), "a narrow gradient", sum_split<inputs>, call,
         (call.rows + splits - 1) / splits);
  launch(Turn(context, (numbers + 127) / 128, 128, 0), "a narrow gradient", add_splits<inputs>, call, splits);
}

}  // namespace

void issue(const Context& context, const NarrowGradient& call) {
  if (call.rows == 0 || call.width == 0) return;
  constexpr void (*by_inputs[])(const Context&, const NarrowGradient&) = {launch<1>, launch<2>, launch<3>, launch<4>};
  by_inputs[call.inputs - 1](context, call);
}

}  // namespace throughtime::cuda

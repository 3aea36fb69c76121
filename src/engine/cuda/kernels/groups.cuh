// Kernels that work on the rows of a call, each by a group of lanes: a narrow row by some of a warp, a wide one by a
// block.
#pragma once

#include "engine/cuda/kernels/launch.cuh"
#include "engine/cuda/kernels/reduce.cuh"

namespace throughtime::cuda {

constexpr int group_threads = 256;
constexpr int widest_of_a_warp = 1024;

template <class Call>
__global__ void __launch_bounds__(group_threads) rows_by_warp(const Call call, std::size_t rows, int lanes) {
  take_turn();
  const std::size_t row = (static_cast<std::size_t>(blockIdx.x) * group_threads + threadIdx.x) / lanes;
  if (row < rows) work_on_row(WarpGroup::here(lanes), call, row);
}

template <class Call>
__global__ void __launch_bounds__(group_threads) rows_by_block(const Call call) {
  take_turn();
  work_on_row(BlockGroup::here(), call, blockIdx.x);
}

/// work_on_row(group, call, row) for row = 0 ... rows - 1. How a row is cut depends on its width alone.
template <class Call>
void launch_groups(const Context& context, const Call& call, std::size_t rows, int width, const char* what) {
  if (rows == 0) return;
  if (width > widest_of_a_warp)
    return launch(Turn(context, static_cast<unsigned>(rows), group_threads, 0), what, rows_by_block<Call>, call);
  const int lanes = std::min(warp_lanes, power_of_two_from(width)), rows_of_block = group_threads / lanes;
  const auto blocks = static_cast<unsigned>((rows + rows_of_block - 1) / rows_of_block);
  launch(Turn(context, blocks, group_threads, 0), what, rows_by_warp<Call>, call, rows, lanes);
}

}  // namespace throughtime::cuda

// Kernels that call a body for every element, or for every cell of a matrix, and how many threads they take.
#pragma once

#include <algorithm>
#include <cstddef>

#include "engine/cuda/context.h"
#include "engine/cuda/kernels/turns.cuh"

namespace throughtime::cuda {

constexpr int element_threads = 256;

template <class Call>
__global__ void __launch_bounds__(element_threads) each_element(const Call call, std::size_t count) {
  take_turn();
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * element_threads + threadIdx.x;
  if (i < count) write_element(call, i);
}

/// write_element(call, i) for i = 0 ... count - 1.
template <class Call>
void launch_elements(const Context& context, const Call& call, std::size_t count, const char* what) {
  if (count == 0) return;
  const auto blocks = static_cast<unsigned>((count + element_threads - 1) / element_threads);
  launch(Turn(context, blocks, element_threads, 0), what, each_element<Call>, call, count);
}

constexpr int cells_per_thread = 4;

/// Blocks of blockDim.y rows and of blockDim.x * cells_per_thread columns.
template <class Call>
__global__ void __launch_bounds__(element_threads) each_cell(const Call call, std::size_t rows, int width) {
  take_turn();
  const std::size_t row = static_cast<std::size_t>(blockIdx.x) * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  const int first = static_cast<int>(blockIdx.y * blockDim.x) * cells_per_thread + static_cast<int>(threadIdx.x);
  for (int k = 0; k < cells_per_thread; ++k) {
    const int column = first + k * static_cast<int>(blockDim.x);
    if (column < width) write_cell(call, row, column);
  }
}

constexpr int power_of_two_from(int x) {
  int power = 1;
  while (power < x) power *= 2;
  return power;
}

/// Threads side by side along a row: few are idle, and a warp reads neighbours where the row is long enough.
constexpr int threads_along(int width) {
  if (width <= 32) return power_of_two_from(width);
  return std::min(element_threads, std::max(32, power_of_two_from((width + cells_per_thread - 1) / cells_per_thread)));
}

/// write_cell(call, row, column) for every cell of [rows, width].
template <class Call>
void launch_cells(const Context& context, const Call& call, std::size_t rows, int width, const char* what) {
  if (rows == 0 || width <= 0) return;
  const auto along = static_cast<unsigned>(threads_along(width)), down = element_threads / along;
  const unsigned chunk = along * cells_per_thread;
  const dim3 blocks(static_cast<unsigned>((rows + down - 1) / down),
                    (static_cast<unsigned>(width) + chunk - 1) / chunk);
  launch(Turn(context, blocks, dim3(along, down), 0), what, each_cell<Call>, call, rows, width);
}

}  // namespace throughtime::cuda

// How the persistent recurrence cuts a layer into blocks and threads, and how it is launched.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>

#include "engine/cuda/context.h"
#include "engine/cuda/kernels/turns.cuh"
#include "throughtime/cell.h"

namespace throughtime::cuda {

/// A block holds the gate rows of `units` units in the registers of its product threads; as many blocks as there are
/// units to hold are a cluster, which carries some rows of the batch through all steps. `width`: units of the largest
/// cluster. The recurrent weights of a block are [gates * units, width], product threads hold equal parts of them:
/// - forward some units have some neighbouring threads, each with all their gates (`outputs` of them: the more, the
///   less often h is read) and some columns: FrontLayout in product.cuh;
/// - backward `columns` columns have `back_lanes` neighbouring threads, each with some units' gates.
/// Pointwise work is that of `helpers` more threads. The cluster's rows are two groups, each with half of the helpers:
/// while one is multiplied, the pointwise work of the other is done and its messages are on their way. What the helpers
/// do beside (copies from and to memory) costs no time.
template <int units_, int width_, int threads_, int outputs_, int columns_, int helpers_>
struct Division {
  static constexpr int units = units_, width = width_, threads = threads_, helpers = helpers_;
  static constexpr int outputs = outputs_, columns = columns_;
  static constexpr int back_lanes = threads * columns / width, back_units = units / back_lanes;
  static constexpr bool one_block = units == width;
  static constexpr int block_threads = threads + helpers;
  static constexpr int product_rows = 8 / outputs;  // at once, 1 or 2: as many as registers allow
  // Pointwise thread t of a group has unit t % units of its rows t / units + pass * pass_rows.
  static constexpr int groups = 2, group_threads = helpers / groups;
  static constexpr int most_passes = 4, pass_rows = group_threads / units;
  static constexpr int most_rows = groups * most_passes * pass_rows;
  static constexpr int pairs = groups * most_passes * group_threads;
  static constexpr int meeting_threads = threads + group_threads;  // at a group's barriers
  static_assert(back_units >= 1 && back_lanes <= 32 && pass_rows >= 1);
};

using UpTo32 = Division<32, 32, 64, 4, 4, 64>;
using UpTo64 = Division<64, 64, 128, 4, 4, 128>;
using UpTo128 = Division<64, 128, 256, 8, 8, 128>;
using UpTo128FewRows = Division<32, 128, 128, 4, 4, 64>;  // clusters of four: half the work of a row for each
using UpTo256 = Division<32, 256, 256, 8, 8, 128>;
// Cells with one gate have a fourth of the weights.
using OneGateUpTo128 = Division<128, 128, 256, 4, 4, 256>;
using OneGateUpTo256 = Division<64, 256, 256, 8, 8, 128>;

constexpr int most_whole_hidden = 256;
constexpr int few_rows = 30;  // as many clusters of four fit on an H200; a number of the problem's, not of the device's
constexpr int most_whole_gates = 4;
constexpr int copy_slots = 4;  // steps whose numbers are in shared memory or on their way there

/// Calls with the Division for that shape.
template <int gates, class Action>
auto with_division(int hidden, int batch, Action action) {
  if (hidden <= 32) return action(UpTo32());
  if (hidden <= 64) return action(UpTo64());
  if constexpr (gates == 1)
    return hidden <= 128 ? action(OneGateUpTo128()) : action(OneGateUpTo256());
  else if (hidden <= 128)
    return batch <= few_rows ? action(UpTo128FewRows()) : action(UpTo128());
  else
    return action(UpTo256());
}

/// Whether a cell's steps can run in one kernel at all.
constexpr bool whole_exists(const CellShape& shape) {
  return shape.late_rows == 0 && shape.recurrent_rows > 0 && shape.recurrent_rows <= most_whole_gates;
}

constexpr int rounded_up(int count, int multiple) { return (count + multiple - 1) / multiple * multiple; }

/// The rows of one cluster: as equal as they can be.
struct RowRange {
  int first, count;
};
__host__ __device__ inline RowRange rows_of_cluster(int batch, int cluster, int clusters) {
  const int first = static_cast<int>(static_cast<long long>(batch) * cluster / clusters);
  return {first, static_cast<int>(static_cast<long long>(batch) * (cluster + 1) / clusters) - first};
}
/// The rows of one of its groups, counted from the cluster's first.
__host__ __device__ inline RowRange rows_of_group(int rows, int group) {
  const int first = (rows + 1) / 2;
  return group == 0 ? RowRange{0, first} : RowRange{first, rows - first};
}
/// The most of any cluster.
__host__ __device__ inline int most_rows_of_cluster(int batch, int clusters) {
  return (batch + clusters - 1) / clusters;
}

#if defined(__CUDACC__)

/// How many clusters of that many blocks are on this device at once; 0 where the kernel does not run. `most_bytes`:
/// shared memory with the most rows. Asked once per device: never inside a recording of launches, if whole_fits was
/// called before.
template <auto kernel>
int resident_clusters(int blocks, int threads, std::size_t most_bytes) {
  constexpr int devices = 64, most_blocks = 8, unknown = 0;
  static std::array<std::array<std::atomic<int>, most_blocks + 1>, devices> known{};  // count + 1
  int device = 0, major = 0;
  if (cudaGetDevice(&device) != cudaSuccess || device >= devices) {
    cudaGetLastError();
    return 0;
  }
  std::atomic<int>& entry = known[device][blocks];
  if (entry.load() != unknown) return entry.load() - 1;
  int clusters = 0;
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  if (major >= 9) {
    // So much memory that no two blocks share a processor: small kernels would, and slow each other down.
    const Turn launch(Context(), blocks, threads, std::max<std::size_t>(most_bytes, 120 * 1024), blocks);
    const bool answered = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                               static_cast<int>(launch.config.dynamicSmemBytes)) == cudaSuccess &&
                          cudaOccupancyMaxActiveClusters(&clusters, kernel, &launch.config) == cudaSuccess;
    if (!answered) clusters = 0;
    cudaGetLastError();  // a refusal is an answer, not an error
  }
  entry.store(clusters + 1);
  return clusters;
}

/// Over how many clusters the rows are spread; more than are resident run one after another.
template <class Division>
int clusters_for(int batch, int resident) {
  return std::max(std::min(batch, resident), (batch + Division::most_rows - 1) / Division::most_rows);
}

#endif  // __CUDACC__

}  // namespace throughtime::cuda

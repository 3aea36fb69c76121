// The sums of inputs.h that many threads make together: of all rows, and of the rows of each token.
#include "engine/cuda/kernels/inputs_body.h"
#include "engine/cuda/kernels/launch.cuh"

namespace throughtime::cuda {
namespace {

constexpr int sum_threads = 256;
constexpr int columns_of_block = 32;
constexpr int most_splits = 64;          // SumRows has that much room
constexpr int least_rows = 128;          // of a split; fewer do not repay a second kernel
constexpr int blocks_for_all = 4 * 132;  // that fill a large chip; a constant, so that bits are the same on all

/// The sums of the lanes below each other, in order, in the threads of lane 0.
__device__ float sum_of_lanes(float mine) {
  __shared__ float of_lane[sum_threads];
  of_lane[threadIdx.y * blockDim.x + threadIdx.x] = mine;
  __syncthreads();
  float sum = 0.0f;
  if (threadIdx.y == 0)
    for (unsigned lane = 0; lane < blockDim.y; ++lane) sum += of_lane[lane * blockDim.x + threadIdx.x];
  __syncthreads();
  return sum;
}

/// Split blockIdx.y of the rows, columns of block blockIdx.x: lane y adds rows y, y + lanes, ... in order. `partial`:
/// where the sums of the splits go; null: there is one split.
__global__ void __launch_bounds__(sum_threads) sum_rows(const SumRows call, int rows_of_split, float* partial) {
  take_turn();
  constexpr int batch = 8;
  const int column = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), lanes = static_cast<int>(blockDim.y);
  const int begin = static_cast<int>(blockIdx.y) * rows_of_split, stride = call.stride ? call.stride : call.width;
  const int end = min(call.rows, begin + rows_of_split);
  float sum = 0.0f;
  const float* from = call.from + column;
  for (int row = begin + static_cast<int>(threadIdx.y); row < end; row += batch * lanes) {
    float x[batch];
    for (int k = 0; k < batch; ++k) {
      const int at = row + k * lanes;
      x[k] = column < call.width && at < end ? from[static_cast<std::size_t>(at) * stride] : 0.0f;
    }
    for (int k = 0; k < batch; ++k) sum += x[k];
  }
  sum = sum_of_lanes(sum);
  if (threadIdx.y != 0 || column >= call.width) return;
  if (partial) {
    partial[static_cast<std::size_t>(blockIdx.y) * call.width + column] = sum;
    return;
  }
  call.to[column] += sum;
  if (call.second) call.second[column] += sum;
}

void launch_sum_rows(const Context& context, const SumRows& call, int splits, float* partial) {
  const auto along = static_cast<unsigned>(std::min(columns_of_block, power_of_two_from(call.width)));
  const dim3 blocks((call.width + along - 1) / along, splits), threads(along, sum_threads / along);
  launch(Turn(context, blocks, threads, 0), "sum rows", sum_rows, call, (call.rows + splits - 1) / splits, partial);
}

}  // namespace

void issue(const Context& context, const SumRows& call) {
  if (call.width == 0) return;
  const int across = (call.width + columns_of_block - 1) / columns_of_block;
  const int wanted = std::min((blocks_for_all + across - 1) / across, most_splits);
  const int splits = std::max(1, std::min(wanted, call.rows / least_rows));
  if (splits == 1) return launch_sum_rows(context, call, 1, nullptr);
  launch_sum_rows(context, call, splits, call.partial);
  SumRows rest = call;
  rest.rows = splits;
  rest.stride = 0;
  rest.from = call.partial;
  launch_sum_rows(context, rest, 1, nullptr);
}

namespace {

constexpr int sorted_warps = 16;  // a block: as many segments, or all of them at one that is long
constexpr int long_segment = 16;  // entries from which it is long
constexpr int columns_per_lane = 4;
constexpr int sorted_columns = 32 * columns_per_lane;  // of a block

struct Segment {
  int begin, end, target;
};

struct Columns {
  float sum[columns_per_lane];
};

/// The sums over entries begin, begin + stride, ... of the columns from `first` on, every 32nd, in order.
__device__ Columns sum_entries(const AddSortedRows& call, int begin, int end, int stride, int first) {
  constexpr int batch = 4;
  Columns total = {};
  for (int i = begin; i < end; i += batch * stride) {
    float x[batch][columns_per_lane];
    for (int k = 0; k < batch; ++k) {
      const bool inside = i + k * stride < end;
      const std::size_t row = inside ? static_cast<std::size_t>(call.order[i + k * stride]) * call.stride : 0;
      for (int c = 0; c < columns_per_lane; ++c)
        x[k][c] = inside && first + 32 * c < call.width ? call.rows[row + first + 32 * c] : 0.0f;
    }
    for (int k = 0; k < batch; ++k)
      for (int c = 0; c < columns_per_lane; ++c) total.sum[c] += x[k][c];
  }
  return total;
}

__device__ void add_to_table(const AddSortedRows& call, const MaskPlan<TokenMask>& mask, int target, int first,
                             const Columns& total) {
  const float factor = call.mask.numbers ? token_factor(mask, target) : 1.0f;
  float* row = call.table + static_cast<std::size_t>(target) * call.width;
  for (int c = 0; c < columns_per_lane; ++c)
    if (first + 32 * c < call.width) row[first + 32 * c] += factor * total.sum[c];
}

/// A short segment by a warp, entry by entry. Of a long one every warp of the block takes every 16th entry, and they
/// are added in order: what is added when depends on the segment's length alone. Neighbours in the list, which may all
/// be long, go to different blocks.
__global__ void __launch_bounds__(32 * sorted_warps)
    add_sorted_rows(const AddSortedRows call, const MaskPlan<TokenMask> mask) {
  take_turn();
  __shared__ Segment segments[sorted_warps];
  __shared__ float of_warp[sorted_warps][sorted_columns];
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int count = *call.segments, number = warp * static_cast<int>(gridDim.x) + static_cast<int>(blockIdx.x);
  if (static_cast<int>(blockIdx.x) >= count) return;
  const int first = static_cast<int>(blockIdx.y) * sorted_columns + lane;
  Segment own = {};
  if (number < count) own = {call.begin[number], call.begin[number + 1], call.target[number]};
  if (lane == 0) segments[warp] = own;
  const bool short_one = own.end - own.begin < long_segment;
  if (short_one && own.begin < own.end)
    add_to_table(call, mask, own.target, first, sum_entries(call, own.begin, own.end, 1, first));
  if (__syncthreads_and(short_one)) return;
  for (int w = 0; w < sorted_warps; ++w) {
    const Segment all = segments[w];
    if (all.end - all.begin < long_segment) continue;
    const Columns mine = sum_entries(call, all.begin + warp, all.end, sorted_warps, first);
    for (int c = 0; c < columns_per_lane; ++c) of_warp[warp][lane + 32 * c] = mine.sum[c];
    __syncthreads();
    if (warp == 0) {
      Columns total = {};
      for (int part = 0; part < sorted_warps; ++part)
        for (int c = 0; c < columns_per_lane; ++c) total.sum[c] += of_warp[part][lane + 32 * c];
      add_to_table(call, mask, all.target, first, total);
    }
    __syncthreads();
  }
}

}  // namespace

void issue(const Context& context, const AddSortedRows& call) {
  if (call.entries == 0 || call.width == 0) return;
  const dim3 blocks((call.entries + sorted_warps - 1) / sorted_warps,
                    (call.width + sorted_columns - 1) / sorted_columns);
  launch(Turn(context, blocks, 32 * sorted_warps, 0), "add sorted rows", add_sorted_rows, call,
         make_mask_plan(call.mask));
}

}  // namespace throughtime::cuda

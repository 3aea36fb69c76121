// Where a thread of the persistent recurrence is, in either direction: its block, its rows, its part of the work.
#pragma once

#include <cstddef>

#include "engine/cuda/cells/division.cuh"
#include "engine/cuda/cells/exchange.cuh"
#include "throughtime/window.h"

namespace throughtime::cuda {

constexpr int bell_floats = 8;  // two bells, of 8 bytes, for each of two groups

#if defined(__CUDACC__)

/// `Memory`: the shared memory of a block, in floats.
template <class Call, class Memory, class Division>
struct Place {
  const Call& call;
  float* shared;
  int block, blocks;  // of the cluster
  RowRange rows;      // of the batch, this cluster's
  Memory memory;
  bool helps;            // pointwise work only
  int thread;            // counted among the product threads, or among the pointwise threads of its group
  int group;             // of a pointwise thread
  int local_unit, unit;  // of the pointwise work; `unit` counts over the cluster

  __device__ __forceinline__ Place(const Call& call, float* shared)
      : call(call),
        shared(shared),
        block(Division::one_block ? 0 : static_cast<int>(block_in_cluster())),
        blocks(Division::one_block ? 1 : static_cast<int>(blocks_of_cluster())),
        rows(rows_of_cluster(call.batch, static_cast<int>(blockIdx.x) / blocks, clusters())),
        memory{most_rows_of_cluster(call.batch, clusters()), blocks},
        helps(threadIdx.x >= Division::threads),
        thread(helps ? static_cast<int>(threadIdx.x - Division::threads) % Division::group_threads
                     : static_cast<int>(threadIdx.x)),
        group(helps ? static_cast<int>(threadIdx.x - Division::threads) / Division::group_threads : 0),
        local_unit(thread % Division::units),
        unit(block * Division::units + local_unit) {}

  __device__ __forceinline__ int clusters() const { return static_cast<int>(gridDim.x) / blocks; }
  /// Position in [steps, B] of a row of the cluster.
  __device__ __forceinline__ std::size_t entry(int step, int row) const {
    return static_cast<std::size_t>(step) * call.batch + rows.first + row;
  }
  __device__ __forceinline__ RowRange group_rows(int of_group) const { return rows_of_group(rows.count, of_group); }
  /// The row of the cluster that is a pointwise thread's in `pass`, and whether there is such a row and such a unit.
  __device__ __forceinline__ int pass_row(int pass) const {
    return group_rows(group).first + thread / Division::units + pass * Division::pass_rows;
  }
  __device__ __forceinline__ bool pass_exists(int pass) const {
    return thread / Division::units + pass * Division::pass_rows < group_rows(group).count && unit < call.hidden;
  }
  /// Calls for each row of a pointwise thread that exists.
  template <class Pair, int passes, class Action>
  static __device__ __forceinline__ void for_pairs(Pair (&pairs)[passes], Action action) {
#pragma unroll
    for (int pass = 0; pass < passes; ++pass)
      if (pairs[pass].here) action(pairs[pass], pass);
  }
  __device__ __forceinline__ StepFlag flag(int step, int row) const {
    if (!call.flags || step < 0 || step >= call.steps) return StepFlag::go_on;
    return static_cast<StepFlag>(call.flags[entry(step, row)]);
  }
  /// Number i of what is copied ahead for a pointwise thread's row in `pass`: [slot][i][pair].
  __device__ __forceinline__ float* copied(int step, int i, int pass) const {
    return shared + memory.copies() + ((step % copy_slots) * Memory::copied + i) * Division::pairs +
           (group * Division::most_passes + pass) * Division::group_threads + thread;
  }
  /// The bell of a group's messages, first in the shared memory.
  __device__ __forceinline__ Bell bell(int message, int of_group) const {
    return {shared_address(shared) + (of_group * 2 + (message & 1)) * 8};
  }
  /// By one thread, where there are several blocks: the bells, each with its first phase announced.
  template <class Announce>
  __device__ __forceinline__ void create_bells(Announce announce) const {
    if constexpr (!Division::one_block) {
      if (threadIdx.x != 0) return;
      for (int i = 0; i < 2 * Division::groups; ++i) bell(i % 2, i / 2).create();
      Bell::publish_creation();
      for (int i = 0; i < 2 * Division::groups; ++i) announce(i % 2, i / 2);
    }
  }
  /// All threads of the cluster.
  __device__ __forceinline__ void start_together() const {
    if constexpr (Division::one_block)
      meet<Division::block_threads>(0);
    else
      synchronize_cluster();
  }
  /// No block leaves while another may write to it.
  __device__ __forceinline__ void end_together() const {
    if constexpr (!Division::one_block) synchronize_cluster();
  }
};

#endif  // __CUDACC__

}  // namespace throughtime::cuda

// How the threads of the persistent recurrence hand numbers to each other: copies that run ahead, sums over
// neighbouring lanes, and messages between the blocks of a cluster.
#pragma once

#include <cstdint>

namespace throughtime::cuda {

#if defined(__CUDACC__)

// ---- copies from device memory that run ahead of their use; a thread waits for its own ones only.

__device__ __forceinline__ unsigned shared_address(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}
__device__ __forceinline__ void copy_ahead(float* shared, const float* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared_address(shared)), "l"(from) : "memory");
}
/// Everything asked for since the last call is one group.
__device__ __forceinline__ void end_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }
/// Waits for all groups but the `newest` ones.
template <int newest>
__device__ __forceinline__ void wait_for_groups() {
  asm volatile("cp.async.wait_group %0;" ::"n"(newest) : "memory");
}

// ---- sums over neighbouring lanes.

constexpr int most_splits(int count, int lanes) {
  int splits = 1;
  while (splits < lanes && count % (2 * splits) == 0) splits *= 2;
  return splits;
}

/// Sums each of `count` values over groups of `lanes` neighbouring lanes, always in the same tree: pairs, pairs of
/// pairs, and so on. While their number is even, two lanes share them out, the odd lane keeping those of odd index:
/// at the end lane p of a group holds in values[i] the sum of index i * splits + p % splits, splits = most_splits(...),
/// and the lanes with equal p % splits hold the same.
template <int count, int lanes, int distance = 1>
__device__ __forceinline__ void sum_over_lanes(float* values, int lane) {
  if constexpr (distance < lanes) {
    if constexpr (count % 2 == 0) {
      const bool odd = (lane & distance) != 0;
#pragma unroll
      for (int i = 0; i < count / 2; ++i) {
        const float keep = odd ? values[2 * i + 1] : values[2 * i];
        const float give = odd ? values[2 * i] : values[2 * i + 1];
        values[i] = keep + __shfl_xor_sync(0xffffffffu, give, distance);
      }
      sum_over_lanes<count / 2, lanes, 2 * distance>(values, lane);
    } else {
#pragma unroll
      for (int i = 0; i < count; ++i) values[i] += __shfl_xor_sync(0xffffffffu, values[i], distance);
      sum_over_lanes<count, lanes, 2 * distance>(values, lane);
    }
  }
}

// ---- barriers of a block, by number: some threads wait (`meet`), others may only say that they were there (`arrive`).

template <int threads>
__device__ __forceinline__ void meet(int barrier) {
  asm volatile("barrier.sync %0, %1;" ::"r"(barrier), "n"(threads) : "memory");
}
template <int threads>
__device__ __forceinline__ void arrive(int barrier) {
  asm volatile("barrier.arrive %0, %1;" ::"r"(barrier), "n"(threads) : "memory");
}

// ---- messages between the blocks of a cluster (compute capability 9.0).

__device__ __forceinline__ unsigned block_in_cluster() {
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ __forceinline__ unsigned blocks_of_cluster() {
  unsigned count;
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(count));
  return count;
}
/// All threads of all blocks; what they wrote before is seen by all after.
__device__ __forceinline__ void synchronize_cluster() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}
/// The address, in another block of the cluster, of what is at `address` in this one.
__device__ __forceinline__ unsigned address_in_block(unsigned address, unsigned block) {
  unsigned there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(block));
  return there;
}

/// A mailbox's bell: a phase ends when the announced number of bytes has arrived. Two of them, and two buffers, serve a
/// recurrence: message n goes to buffer n % 2, and its sender knows from message n - 1, which it has received, that
/// message n - 2 was read everywhere.
struct Bell {
  unsigned address;

  __device__ __forceinline__ void create() const {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address) : "memory");
  }
  static __device__ __forceinline__ void publish_creation() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  /// By one thread of the receiving block, once a phase; bytes may already have arrived.
  __device__ __forceinline__ void announce(unsigned bytes) const {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address), "r"(bytes) : "memory");
  }
  /// Until the phase of that parity (0 for the first) has ended.
  __device__ __forceinline__ void wait(unsigned parity) const {
    asm volatile(
        "{\n"
        ".reg .pred done;\n"
        "again:\n"
        "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra again;\n"
        "}" ::"r"(address),
        "r"(parity)
        : "memory");
  }
};

/// Stores a number in the shared memory of a block and rings the bell there. Both addresses from address_in_block.
__device__ __forceinline__ void send(unsigned to, float number, unsigned bell) {
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(to),
               "r"(__float_as_uint(number)), "r"(bell)
               : "memory");
}

#endif  // __CUDACC__

}  // namespace throughtime::cuda

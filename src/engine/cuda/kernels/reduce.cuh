// What lanes find together, always in the same order: butterflies, which leave the same bits in all lanes.
#pragma once

#include "engine/cuda/kernels/group.h"

namespace throughtime::cuda {

constexpr int warp_lanes = 32;

/// A power of two of neighbouring lanes of a warp.
struct WarpGroup {
  static constexpr int batch = 4;
  int lane = 0, lanes = warp_lanes;
  unsigned mask = 0xffffffffu;  // the group's lanes in the warp

  /// The group of this thread, where blockDim.x is a multiple of 32 and of `lanes`.
  static __device__ WarpGroup here(int lanes) {
    const int lane = static_cast<int>(threadIdx.x) & (lanes - 1);
    const int first = (static_cast<int>(threadIdx.x) & (warp_lanes - 1)) - lane;
    const unsigned ones = lanes == warp_lanes ? 0xffffffffu : (1u << lanes) - 1;
    return {lane, lanes, ones << first};
  }
  __device__ double sum(double x) const {
    for (int offset = lanes / 2; offset > 0; offset /= 2) x += __shfl_xor_sync(mask, x, offset);
    return x;
  }
  __device__ float largest(float x) const {
    for (int offset = lanes / 2; offset > 0; offset /= 2) x = fmaxf(x, __shfl_xor_sync(mask, x, offset));
    return x;
  }
  __device__ bool any(bool x) const { return __any_sync(mask, x) != 0; }
  __device__ void meet() const { __syncwarp(mask); }
};

/// All threads of a block of whole warps. Every thread has to take part in every call.
struct BlockGroup {
  static constexpr int batch = 8;
  int lane = 0, lanes = 0;

  static __device__ BlockGroup here() { return {static_cast<int>(threadIdx.x), static_cast<int>(blockDim.x)}; }

  __device__ double sum(double x) const {
    __shared__ double of_warp[warp_lanes];
    const WarpGroup warp = WarpGroup::here(warp_lanes);
    x = warp.sum(x);
    if (warp.lane == 0) of_warp[lane / warp_lanes] = x;
    __syncthreads();
    x = warp.sum(warp.lane < lanes / warp_lanes ? of_warp[warp.lane] : 0.0);
    __syncthreads();  // before the next call writes
    return x;
  }
  __device__ float largest(float x) const {
    __shared__ float of_warp[warp_lanes];
    const WarpGroup warp = WarpGroup::here(warp_lanes);
    x = warp.largest(x);
    if (warp.lane == 0) of_warp[lane / warp_lanes] = x;
    __syncthreads();
    x = warp.largest(of_warp[warp.lane & (lanes / warp_lanes - 1)]);
    __syncthreads();
    return x;
  }
  __device__ bool any(bool x) const { return __syncthreads_or(x) != 0; }
  __device__ void meet() const { __syncthreads(); }
};

}  // namespace throughtime::cuda

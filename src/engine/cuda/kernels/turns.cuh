// Kernels of a stream take turns, but the next one need not be launched first (compute capability 9.0): while one runs,
// the next is already there and waits in its first line. That hides what a launch costs.
#pragma once

#include <cstddef>

#include "engine/cuda/context.h"

namespace throughtime::cuda {

#if defined(__CUDACC__)

/// The first line of every kernel: waits until the one before has ended and all that it wrote can be read. A kernel
/// may do before it what reads nothing but numbers that the one before does not write.
__device__ __forceinline__ void take_turn() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
  // Only now: whoever waits for this kernel may then rely on the end of all before it.
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// The attributes of a launch: it may overlap, and it may be of clusters.
struct Turn {
  cudaLaunchConfig_t config = {};
  cudaLaunchAttribute attributes[2] = {};

  Turn(const Context& context, dim3 blocks, dim3 threads, std::size_t shared_bytes, int cluster_blocks = 0) {
    config.gridDim = blocks;
    config.blockDim = threads;
    config.dynamicSmemBytes = shared_bytes;
    config.stream = context.stream;
    config.attrs = attributes;
    if (cluster_blocks > 0) {
      cudaLaunchAttribute& cluster = attributes[config.numAttrs++];
      cluster.id = cudaLaunchAttributeClusterDimension;
      cluster.val.clusterDim.x = static_cast<unsigned>(cluster_blocks);
      cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    }
    if (context.overlaps) {
      cudaLaunchAttribute& overlap = attributes[config.numAttrs++];
      overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
      overlap.val.programmaticStreamSerializationAllowed = 1;
    }
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
};

/// Launches a kernel whose first line is take_turn(). `what`: of the error's text.
template <class... Parameters, class... Arguments>
void launch(const Turn& turn, const char* what, void (*kernel)(Parameters...), const Arguments&... arguments) {
  check(cudaLaunchKernelEx(&turn.config, kernel, static_cast<Parameters>(arguments)...), what);
}

#endif  // __CUDACC__

}  // namespace throughtime::cuda

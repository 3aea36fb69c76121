#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <mutex>

namespace throughtime::cuda {

/// Where work is issued: one stream per engine, and the handle of its matrix products.
struct Context {
  cudaStream_t stream = nullptr;
  cublasHandle_t products = nullptr;
  bool overlaps = false;  // whether a kernel may be launched before its turn (kernels/turns.cuh)
};

/// Held while a graph is captured, and while memory or handles are made or given back: what another thread allocates in
/// the midst of it can spoil a capture.
std::mutex& device_changes();

/// Bytes of the current device that are left. The environment variable THROUGHTIME_CUDA_MEMORY bounds those of this
/// process.
std::size_t memory_left();

/// Refuses what the device has no room for, with both numbers, after it said so itself.
[[noreturn]] void refuse_memory(std::size_t bytes, const char* what);

/// Throws DeviceFailure with the device's own words: `[cuda] launch: unspecified launch failure`.
void check(cudaError_t error, const char* what);
void check(cublasStatus_t status, const char* what);

}  // namespace throughtime::cuda

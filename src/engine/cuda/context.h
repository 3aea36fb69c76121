#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

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

/// Throws RunFailure with the device's own words: `[cuda] launch: out of memory`.
void check(cudaError_t error, const char* what);
void check(cublasStatus_t status, const char* what);

}  // namespace throughtime::cuda

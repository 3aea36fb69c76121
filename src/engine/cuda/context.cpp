#include "engine/cuda/context.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "engine/cuda/counts.h"
#include "throughtime/error.h"

namespace throughtime::cuda {

std::mutex& device_changes() {
  static std::mutex mutex;
  return mutex;
}

Counts& device_counts() {
  static Counts all;
  return all;
}

std::size_t memory_left() {
  std::size_t left = 0, whole = 0;
  check(cudaMemGetInfo(&left, &whole), "the device's memory");
  if (const char* bound = std::getenv("THROUGHTIME_CUDA_MEMORY"); bound != nullptr && *bound != '\0') {
    const std::uint64_t most = std::strtoull(bound, nullptr, 10);
    left = std::min<std::size_t>(left, most - std::min<std::uint64_t>(most, device_counts().bytes));
  }
  return left;
}

void refuse_memory(std::size_t bytes, const char* what) {
  cudaGetLastError();  // it is an answer, not an error of the device
  constexpr double mebibyte = 1 << 20;
  refuse("cuda", "{}: {:.1f} MiB are needed, {:.1f} MiB of the device are left", what,
         static_cast<double>(bytes) / mebibyte, static_cast<double>(memory_left()) / mebibyte);
}

void check(cudaError_t error, const char* what) {
  if (error == cudaErrorMemoryAllocation) {  // the device is well
    cudaGetLastError();
    refuse("cuda", "{}: {}", what, cudaGetErrorString(error));
  }
  if (error != cudaSuccess) throw DeviceFailure(fmt::format("[cuda] {}: {}", what, cudaGetErrorString(error)));
}

void check(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw DeviceFailure(fmt::format("[cuda] {}: {}", what, cublasGetStatusString(status)));
}

}  // namespace throughtime::cuda

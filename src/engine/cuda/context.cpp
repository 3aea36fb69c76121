#include "engine/cuda/context.h"

#include "throughtime/error.h"

namespace throughtime::cuda {

std::mutex& device_changes() {
  static std::mutex mutex;
  return mutex;
}

void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) fail("cuda", "{}: {}", what, cudaGetErrorString(error));
}

void check(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS) fail("cuda", "{}: {}", what, cublasGetStatusString(status));
}

}  // namespace throughtime::cuda

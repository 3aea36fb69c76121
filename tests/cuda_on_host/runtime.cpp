// The functions of the CUDA runtime and of cuBLAS that the engine calls.
#include <cublas_v2.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "cuda_on_host/device.h"

struct CUgraph_st {
  Work work;
};
struct CUgraphExec_st {
  Work work;
};
struct CUevent_st {};
struct cublasContext {
  cudaStream_t stream = nullptr;
};

namespace {

constexpr std::size_t memory = std::size_t{4} << 30;

template <class T>
cudaError_t make(T** to) {
  *to = new T;
  return cudaSuccess;
}
template <class T>
cudaError_t drop(T* what) {
  delete what;
  return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) { return *count = 1, cudaSuccess; }
cudaError_t cudaGetDevice(int* device) { return *device = 0, cudaSuccess; }
cudaError_t cudaSetDevice(int) { return cudaSuccess; }
cudaError_t cudaDriverGetVersion(int* version) { return *version = CUDART_VERSION, cudaSuccess; }
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr, int) { return *value = 9, cudaSuccess; }
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  std::memset(properties, 0, sizeof(*properties));
  std::strcpy(properties->name, "this host");
  properties->major = 9;
  return cudaSuccess;
}
cudaError_t cudaGetLastError() { return cudaSuccess; }
const char* cudaGetErrorString(cudaError_t) { return "an error of this host"; }

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  *pointer = std::malloc(bytes);
  return *pointer ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaMallocHost(void** pointer, std::size_t bytes) { return cudaMalloc(pointer, bytes); }
cudaError_t cudaFree(void* pointer) { return std::free(pointer), cudaSuccess; }
cudaError_t cudaFreeHost(void* pointer) { return cudaFree(pointer); }
cudaError_t cudaMemset(void* pointer, int value, std::size_t bytes) {
  return std::memset(pointer, value, bytes), cudaSuccess;
}
cudaError_t cudaMemGetInfo(std::size_t* left, std::size_t* whole) { return *left = *whole = memory, cudaSuccess; }
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  return std::memmove(to, from, bytes), cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t) {
  return cudaMemcpy(to, from, bytes, kind);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) { return make(stream); }
cudaError_t cudaStreamDestroy(cudaStream_t stream) { return drop(stream); }
cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) { return make(event); }
cudaError_t cudaEventDestroy(cudaEvent_t event) { return drop(event); }
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaEventQuery(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  stream->captured = new Work;
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  *graph = new CUgraph_st{std::move(*stream->captured)};
  delete stream->captured;
  stream->captured = nullptr;
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* made, cudaGraph_t graph, unsigned long long) {
  *made = new CUgraphExec_st{graph->work};
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) { return drop(graph); }
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) { return drop(graph); }
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t) {
  for (const auto& work : graph->work) work();
  return cudaSuccess;
}

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) { return make(handle), CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) { return drop(handle), CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t, void*, std::size_t) { return CUBLAS_STATUS_SUCCESS; }
const char* cublasGetStatusString(cublasStatus_t) { return "a status of this host"; }

/// C [m, n] = alpha op(A) op(B) + beta C, all columns first, as cuBLAS defines it.
cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t a_op, cublasOperation_t b_op, int m,
                                         int n, int k, const float* alpha, const float* a, int a_stride,
                                         long long a_next, const float* b, int b_stride, long long b_next,
                                         const float* beta, float* c, int c_stride, long long c_next, int batch) {
  const float scale = *alpha, before = *beta;  // as a captured call does, they are read now
  throughtime::cuda::enqueue({handle->stream, handle}, [=] {
    for (int part = 0; part < batch; ++part)
      for (int column = 0; column < n; ++column)
        for (int row = 0; row < m; ++row) {
          double sum = 0;
          for (long long i = 0; i < k; ++i) {
            const float* left =
                a + part * a_next + (a_op == CUBLAS_OP_N ? i * a_stride + row : row * 1LL * a_stride + i);
            const float* right =
                b + part * b_next + (b_op == CUBLAS_OP_N ? column * 1LL * b_stride + i : i * b_stride + column);
            sum += static_cast<double>(*left) * *right;
          }
          float& to = c[part * c_next + column * 1LL * c_stride + row];
          to = static_cast<float>(scale * sum) + (before == 0 ? 0.0f : before * to);
        }
  });
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t a_op, cublasOperation_t b_op, int m, int n,
                              int k, const float* alpha, const float* a, int a_stride, const float* b, int b_stride,
                              const float* beta, float* c, int c_stride) {
  return cublasSgemmStridedBatched(handle, a_op, b_op, m, n, k, alpha, a, a_stride, 0, b, b_stride, 0, beta, c,
                                   c_stride, 0, 1);
}

}  // extern "C"

#include "engine/cuda/stream_executor.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "engine/cuda/counts.h"

namespace throughtime::cuda {

namespace {

constexpr std::size_t workspace_bytes = std::size_t{32} << 20;  // what cuBLAS asks for on sm_90

}  // namespace

StreamExecutor::StreamExecutor() : workspace_(workspace_bytes) {
  if (const char* fault = std::getenv("THROUGHTIME_CUDA_FAULT")) lost_at_ = std::atoll(fault);
  const std::lock_guard lock(device_changes());
  check(cudaStreamCreateWithFlags(&context_.stream, cudaStreamNonBlocking), "a stream");
  int device = 0, major = 0;
  check(cudaGetDevice(&device), "the device");
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), "the device");
  const char* overlap = std::getenv("THROUGHTIME_CUDA_OVERLAP");  // 0: each kernel is launched in its turn
  context_.overlaps = major >= 9 && !(overlap && std::strcmp(overlap, "0") == 0);
  check(cublasCreate(&context_.products), "cuBLAS");
  check(cublasSetStream(context_.products, context_.stream), "cuBLAS");
  check(cublasSetWorkspace(context_.products, workspace_.data(), workspace_.bytes()), "cuBLAS' workspace");
}

StreamExecutor::~StreamExecutor() {
  cudaStreamSynchronize(context_.stream);
  drop_slots();
  const std::lock_guard lock(device_changes());
  for (const cudaGraphExec_t graph : graphs_)
    if (graph) cudaGraphExecDestroy(graph);
  cublasDestroy(context_.products);
  cudaStreamDestroy(context_.stream);
}

void StreamExecutor::drop_slots() {
  for (const Slot& slot : slots_) cudaEventDestroy(slot.uploaded);
  slots_.clear();
}

void StreamExecutor::make_arena(std::size_t bytes, int slots) {
  finish();
  drop_slots();
  arena_ = DeviceArray<std::byte>();
  arena_ = DeviceArray<std::byte>(bytes);
  for (int i = 0; i < slots; ++i) {
    Slot slot{PinnedBytes(bytes), nullptr};
    check(cudaEventCreateWithFlags(&slot.uploaded, cudaEventDisableTiming), "an event");
    slots_.push_back(std::move(slot));
  }
}

void StreamExecutor::upload(int slot, std::size_t bytes) {
  const Slot& from = slots_[static_cast<std::size_t>(slot)];
  check(cudaMemcpyAsync(arena_.data(), from.memory.data(), bytes, cudaMemcpyHostToDevice, context_.stream), "upload");
  check(cudaEventRecord(from.uploaded, context_.stream), "upload");
}

void StreamExecutor::wait_for(int slot) {
  const cudaEvent_t event = slots_[static_cast<std::size_t>(slot)].uploaded;
  const cudaError_t state = cudaEventQuery(event);
  if (state == cudaSuccess) return;
  if (state != cudaErrorNotReady) check(state, "upload");
  ++device_counts().upload_waits;
  check(cudaEventSynchronize(event), "upload");
}

void StreamExecutor::begin_list() {
  ++lists_;
  if (lost_at_ > 0 && lists_ >= lost_at_) check(cudaErrorLaunchFailure, "a list of calls");
}

void StreamExecutor::run(const OperationList& list) {
  begin_list();
  // The first time kernels are loaded, which is a change of the device, too.
  const std::lock_guard lock(device_changes());
  list.run(&context_);
}

int StreamExecutor::capture(const OperationList& list) {
  const std::lock_guard lock(device_changes());
  check(cudaStreamBeginCapture(context_.stream, cudaStreamCaptureModeThreadLocal), "a graph");
  cudaGraph_t graph = nullptr;
  try {
    list.run(&context_);
  } catch (...) {
    cudaStreamEndCapture(context_.stream, &graph);
    if (graph) cudaGraphDestroy(graph);
    throw;
  }
  check(cudaStreamEndCapture(context_.stream, &graph), "a graph");
  cudaGraphExec_t made = nullptr;
  const cudaError_t error = cudaGraphInstantiate(&made, graph, 0);
  cudaGraphDestroy(graph);
  check(error, "a graph");
  const auto free = std::find(graphs_.begin(), graphs_.end(), nullptr);
  const auto index = free - graphs_.begin();
  if (free == graphs_.end())
    graphs_.push_back(made);
  else
    *free = made;
  return static_cast<int>(index);
}

void StreamExecutor::launch(int graph) {
  begin_list();
  check(cudaGraphLaunch(graphs_[static_cast<std::size_t>(graph)], context_.stream), "a graph's launch");
}

void StreamExecutor::drop(int graph) {
  cudaGraphExec_t& dropped = graphs_[static_cast<std::size_t>(graph)];
  check(cudaGraphExecDestroy(dropped), "a graph");
  dropped = nullptr;
}

void StreamExecutor::finish() {
  ++device_counts().waits;
  if (lost_at_ > 0 && lists_ >= lost_at_) check(cudaErrorLaunchFailure, "waiting for the device");
  check(cudaStreamSynchronize(context_.stream), "waiting for the device");
}

}  // namespace throughtime::cuda

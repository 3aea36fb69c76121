#pragma once

#include <vector>

#include "engine/cuda/device_array.h"
#include "engine/recorder/recorder.h"

namespace throughtime::cuda {

/// Carries lists of operations out on a stream of its own, with its own handle and workspace for products: the bits of
/// a run do not depend on what runs beside it.
class StreamExecutor final : public Executor {
 public:
  StreamExecutor();
  ~StreamExecutor() override;
  StreamExecutor(const StreamExecutor&) = delete;

  const Context& context() const { return context_; }

  void make_arena(std::size_t bytes, int slots) override;
  std::byte* slot(int slot) override { return slots_[static_cast<std::size_t>(slot)].memory.data(); }
  std::byte* device_arena() override { return arena_.data(); }
  void upload(int slot, std::size_t bytes) override;
  void wait_for(int slot) override;
  void run(const OperationList& list) override;
  int capture(const OperationList& list) override;
  void launch(int graph) override;
  void drop(int graph) override;
  void finish() override;

 private:
  struct Slot {
    PinnedBytes memory;
    cudaEvent_t uploaded = nullptr;
  };
  void drop_slots();
  /// One more list is handed over. Tests lose the device at the n-th one: THROUGHTIME_CUDA_FAULT=n.
  void begin_list();

  Context context_;
  DeviceArray<std::byte> workspace_;  // of the products
  DeviceArray<std::byte> arena_;
  std::vector<Slot> slots_;
  std::vector<cudaGraphExec_t> graphs_;   // null: dropped, its number is free
  std::int64_t lists_ = 0, lost_at_ = 0;  // 0: it is not lost
};

}  // namespace throughtime::cuda

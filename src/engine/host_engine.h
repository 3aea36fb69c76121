#pragma once

#include <algorithm>
#include <cmath>
#include <typeinfo>
#include <utility>

#include "core/array.h"
#include "core/memory.h"
#include "engine/checks.h"
#include "throughtime/engine.h"
#include "throughtime/error.h"
#include "throughtime/index.h"

namespace throughtime {

/// Moments of an optimizer in the buffers of an engine whose memory is the host's.
template <class Real>
class HostOptimizer final : public OptimizerState {
 public:
  HostOptimizer(Engine& engine, const OptimizerConfig& optimizer, std::size_t size)
      : type(find_optimizer(optimizer.name)), config(optimizer), pointers(elements(type.moments)), engine_(engine) {
    for (int k = 0; k < type.moments; ++k) moments.push_back(engine.allocate(size));
    reset();
  }

  void reset() override {
    step = 0;
    for (const Buffer& moment : moments) engine_.fill(moment, type.first_moment);
  }

  const OptimizerType& type;
  const OptimizerConfig config;
  std::vector<Real*> pointers;  // room for the kernel's argument

 private:
  Engine& engine_;
};

/// What engines that compute in host memory share: buffers of Real and the plain vector operations.
template <class Real>
class HostEngine : public Engine {
 public:
  HostEngine(const Model& model, EngineConfig config) : model_(model), config_(std::move(config)) {}

  const Model& model() const override { return model_; }
  std::size_t number_bytes() const override { return sizeof(Real); }
  std::uint64_t memory_bytes() const override { return available_memory(); }

  Buffer allocate(std::size_t size) override {
    require_buffer_memory(*this, size);
    memory_.push_back(AlignedArray<Real>(size));
    slots_.push_back({memory_.back().data(), size, 0});
    return {static_cast<std::int32_t>(count_++), size};
  }

  std::unique_ptr<OptimizerState> make_optimizer(const OptimizerConfig& config, Buffer target) override {
    numbers(target);
    return std::make_unique<HostOptimizer<Real>>(*this, config, target.size);
  }

  using Engine::read;
  void read(Buffer buffer, std::span<double> values) const override {
    require_size("read", "the buffer", buffer, values.size());
    std::copy_n(numbers(buffer), values.size(), values.begin());
  }
  void write(Buffer buffer, std::span<const double> values) override {
    require_size("write", "the buffer", buffer, values.size());
    std::transform(values.begin(), values.end(), change(buffer), [](double value) { return static_cast<Real>(value); });
  }

  void copy(Buffer from, Buffer to) override {
    require_size("copy", "the target", to, from.size);
    std::copy_n(numbers(from), from.size, change(to));
  }
  void fill(Buffer buffer, double value) override {
    std::fill_n(change(buffer), buffer.size, static_cast<Real>(value));
  }
  void scale(Buffer buffer, double factor) override {
    Real* x = change(buffer);
    for (std::size_t i = 0; i < buffer.size; ++i) x[i] *= static_cast<Real>(factor);
  }
  void axpy(double factor, Buffer x, Buffer y) override {
    require_size("axpy", "y", y, x.size);
    const Real* from = numbers(x);
    Real* to = change(y);
    for (std::size_t i = 0; i < y.size; ++i) to[i] += static_cast<Real>(factor) * from[i];
  }
  void dot(Buffer x, Buffer y, Buffer result) override {
    require_size("dot", "y", y, x.size);
    require_size("dot", "result", result, 1);
    const Real* a = numbers(x);
    const Real* b = numbers(y);
    double sum = 0;
    for (std::size_t i = 0; i < x.size; ++i) sum += static_cast<double>(a[i]) * b[i];
    *change(result) = static_cast<Real>(sum);
  }
  void gather_rows(Buffer table, int width, std::span<const std::int64_t> indices, Buffer rows) override {
    check_rows("gather_rows", table, width, indices, rows);
    const Real* from = numbers(table);
    Real* to = change(rows);
    for (const std::int64_t index : indices) to = std::copy_n(from + index * width, width, to);
  }
  void scatter_add_rows(Buffer rows, int width, std::span<const std::int64_t> indices, Buffer table) override {
    check_rows("scatter_add_rows", table, width, indices, rows);
    const Real* from = numbers(rows);
    Real* to = change(table);
    for (const std::int64_t index : indices)
      for (int column = 0; column < width; ++column) to[index * width + column] += *from++;
  }
  void scatter_rows(Buffer rows, int width, std::span<const std::int64_t> indices, Buffer table) override {
    check_rows("scatter_rows", table, width, indices, rows);
    const Real* from = numbers(rows);
    Real* to = change(table);
    for (const std::int64_t index : indices) {
      std::copy_n(from, width, to + index * width);
      from += width;
    }
  }
  void sum_over_ranks(Buffer buffer) override {
    if (config_.communicator) config_.communicator->all_reduce_sum(std::span<Real>(change(buffer), buffer.size));
  }

 protected:
  /// The numbers of a buffer, to read; refuses a handle that is none or of another engine.
  const Real* numbers(Buffer buffer) const { return slot(buffer).numbers; }
  /// The numbers of a buffer, to change: what was derived from them is out of date afterwards.
  Real* change(Buffer buffer) {
    Slot& found = const_cast<Slot&>(slot(buffer));
    ++found.version;
    return found.numbers;
  }
  /// The same, but null for "none".
  const Real* numbers_or_null(Buffer buffer) const { return buffer ? numbers(buffer) : nullptr; }
  Real* change_or_null(Buffer buffer) { return buffer ? change(buffer) : nullptr; }
  /// Counts the changes of a buffer.
  std::uint64_t version(Buffer buffer) const { return slot(buffer).version; }

  HostOptimizer<Real>& own(OptimizerState& state) const {
    if (typeid(state) != typeid(HostOptimizer<Real>))
      refuse("apply_update", "the optimizer was made by another engine");
    return static_cast<HostOptimizer<Real>&>(state);
  }

  const Model& model_;
  EngineConfig config_;

 private:
  /// A small net looks up some thirty of them in an update: so their size is a power of two, and `count_` is at hand.
  struct alignas(32) Slot {
    Real* numbers = nullptr;
    std::size_t size = 0;
    std::uint64_t version = 0;
  };
  const Slot& slot(Buffer buffer) const {
    const auto index = static_cast<std::uint32_t>(buffer.id);  // "none" is beyond all of them
    if (index >= count_ || slots_[index].size != buffer.size) [[unlikely]]
      refuse(name(), "no buffer with id {} and {} numbers was allocated by this engine", buffer.id, buffer.size);
    return slots_[index];
  }

  std::vector<AlignedArray<Real>> memory_;
  std::vector<Slot> slots_;  // of each buffer, where it is
  std::uint32_t count_ = 0;
};

}  // namespace throughtime

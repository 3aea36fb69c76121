#pragma once

#include <memory>
#include <utility>

#include "throughtime/engine.h"

namespace throughtime {

/// An engine that hands every call on to another one. Override what should be watched: how often a learner asks for
/// something, with what, how long it takes.
class ForwardingEngine : public Engine {
 public:
  explicit ForwardingEngine(std::unique_ptr<Engine> inner) : inner_(std::move(inner)) {}

  const Model& model() const override { return inner_->model(); }
  std::string_view name() const override { return inner_->name(); }
  int threads() const override { return inner_->threads(); }
  std::size_t number_bytes() const override { return inner_->number_bytes(); }
  std::uint64_t memory_bytes() const override { return inner_->memory_bytes(); }
  std::uint64_t held_bytes() const override { return inner_->held_bytes(); }
  void finish() override { inner_->finish(); }
  Buffer allocate(std::size_t size) override { return inner_->allocate(size); }
  std::unique_ptr<Tape> make_tape(const TapeShape& shape) override { return inner_->make_tape(shape); }
  std::unique_ptr<OptimizerState> make_optimizer(const OptimizerConfig& config, Buffer target) override {
    return inner_->make_optimizer(config, target);
  }
  using Engine::read;
  void write(Buffer buffer, std::span<const double> values) override { inner_->write(buffer, values); }
  void read(Buffer buffer, std::span<double> values) const override { inner_->read(buffer, values); }
  void unroll(const UnrollCall& call) override { inner_->unroll(call); }
  void pull_back(const PullBackCall& call) override { inner_->pull_back(call); }
  void apply_update(const UpdateCall& call) override { inner_->apply_update(call); }
  void copy(Buffer from, Buffer to) override { inner_->copy(from, to); }
  void fill(Buffer buffer, double value) override { inner_->fill(buffer, value); }
  void scale(Buffer buffer, double factor) override { inner_->scale(buffer, factor); }
  void axpy(double factor, Buffer x, Buffer y) override { inner_->axpy(factor, x, y); }
  void dot(Buffer x, Buffer y, Buffer result) override { inner_->dot(x, y, result); }
  void gather_rows(Buffer table, int width, std::span<const std::int64_t> indices, Buffer rows) override {
    inner_->gather_rows(table, width, indices, rows);
  }
  void scatter_add_rows(Buffer rows, int width, std::span<const std::int64_t> indices, Buffer table) override {
    inner_->scatter_add_rows(rows, width, indices, table);
  }
  void scatter_rows(Buffer rows, int width, std::span<const std::int64_t> indices, Buffer table) override {
    inner_->scatter_rows(rows, width, indices, table);
  }
  void sum_over_ranks(Buffer buffer) override { inner_->sum_over_ranks(buffer); }

 protected:
  Engine& inner() { return *inner_; }

 private:
  std::unique_ptr<Engine> inner_;
};

}  // namespace throughtime

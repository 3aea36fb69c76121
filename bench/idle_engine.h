#pragma once

#include "src/engine/checks.h"
#include "throughtime/forwarding_engine.h"

namespace throughtime::bench {

/// An engine that refuses what every engine refuses and then computes nothing: what a learner costs the host beside the
/// engine's work. Storage is that of the engine inside.
class IdleEngine final : public ForwardingEngine {
 public:
  using ForwardingEngine::ForwardingEngine;

  void unroll(const UnrollCall& call) override {
    check_unroll(model(), call);
    unrolled_ = call.window.steps;
  }
  void pull_back(const PullBackCall& call) override { check_pull_back(model(), call, unrolled_); }
  void apply_update(const UpdateCall& call) override { check_update(call); }

  void copy(Buffer from, Buffer to) override { require_size("copy", "the target", to, from.size); }
  void fill(Buffer, double) override {}
  void scale(Buffer, double) override {}
  void axpy(double, Buffer x, Buffer y) override { require_size("axpy", "y", y, x.size); }
  void dot(Buffer x, Buffer y, Buffer) override { require_size("dot", "y", y, x.size); }
  void gather_rows(Buffer table, int width, std::span<const std::int64_t> indices, Buffer rows) override {
    check_rows("gather_rows", table, width, indices, rows);
  }
  void scatter_add_rows(Buffer rows, int width, std::span<const std::int64_t> indices, Buffer table) override {
    check_rows("scatter_add_rows", table, width, indices, rows);
  }
  void scatter_rows(Buffer rows, int width, std::span<const std::int64_t> indices, Buffer table) override {
    check_rows("scatter_rows", table, width, indices, rows);
  }

 private:
  int unrolled_ = 0;  // steps of the last window
};

}  // namespace throughtime::bench

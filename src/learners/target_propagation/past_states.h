#pragma once

#include <memory>

#include "throughtime/learner.h"

namespace throughtime {

/// Target propagation at test time: once a block has been scored, all that it shows is past, and the state h before it
/// takes steps against l(h) + lambda/2 |h - h_0|^2, h_0 being what the blocks before it led to. What comes next starts
/// from the end of the block, run again from h.
class PastStates final : public StateRefiner {
 public:
  /// For parts of a block, or of `steps` steps where those are fewer, and exactly `rows` rows.
  PastStates(Engine& engine, const TargetPropagationConfig& config, int steps, int rows);

  int steps() const override { return steps_; }
  void refine(const Window& part, Buffer parameters, Buffer start, Buffer end) override;
  std::size_t bytes() const override { return tape_->bytes() + silent_tape_->bytes(); }

 private:
  Engine& engine_;
  TargetPropagationConfig config_;
  int steps_;
  std::unique_ptr<Tape> tape_, silent_tape_;
  Buffer state_, gradient_;  // [B, S]: h and its gradient
  std::unique_ptr<OptimizerState> optimizer_;
  Window silent_;  // the part without its losses
};

}  // namespace throughtime

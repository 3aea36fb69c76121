#pragma once

#include <memory>

#include "throughtime/engine.h"
#include "throughtime/learner_config.h"

namespace throughtime {

/// Target propagation at test time: once a block has been scored, all that it shows is past, and the state h before it
/// takes steps against l(h) + lambda/2 |h - h_0|^2, h_0 being what the blocks before it led to. What comes next starts
/// from the end of the block, run again from h.
class PastStates {
 public:
  /// For parts of at most `steps` steps and exactly `rows` rows.
  PastStates(Engine& engine, const TargetPropagationConfig& config, int steps, int rows);

  /// `start` [B, S]: the state before the part; `end` [B, S] becomes the state after it.
  void refine(const Window& part, Buffer parameters, Buffer start, Buffer end);
  std::size_t bytes() const { return tape_->bytes() + silent_tape_->bytes(); }

 private:
  Engine& engine_;
  TargetPropagationConfig config_;
  std::unique_ptr<Tape> tape_, silent_tape_;
  Buffer state_, gradient_;  // [B, S]: h and its gradient
  std::unique_ptr<OptimizerState> optimizer_;
  Window silent_;  // the part without its losses
};

}  // namespace throughtime

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "learners/fpp/state_cells.h"
#include "learners/fpp/transitions.h"

namespace throughtime {

/// s_t = f_W(s_{t-1}, o_t) for the newest transition of all streams. s_{t-1} is read from its cell, which updates may
/// have moved, or is a running state that none of them touches.
class OnlineStep {
 public:
  /// The buffer and its cells must outlive it.
  OnlineStep(Engine& engine, FppFeed feed, const Transitions& transitions, StateCells& cells);

  /// After the transition was appended. Puts s_t into its cells; adds the weighted losses and right predictions.
  void run(Buffer parameters, Buffer loss_sum, Buffer correct_sum);
  /// [B]: loss weights of the newest step.
  std::span<const float> weights() const { return window_.weight; }
  /// [B, S]: s_t as it was predicted.
  Buffer state() const { return state_; }
  std::size_t activation_bytes() const { return tape_->activation_bytes(); }

 private:
  void aim(std::int64_t t);

  Engine& engine_;
  FppFeed feed_;
  const Transitions& transitions_;
  StateCells& cells_;
  std::unique_ptr<Tape> tape_;
  Buffer state_;                      // [B, S]
  Window window_;                     // [1, B]
  std::vector<std::uint8_t> begins_;  // [B]: rows whose sequence begins at this step
};

}  // namespace throughtime

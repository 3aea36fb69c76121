#pragma once

#include <memory>
#include <vector>

#include "learners/target_propagation/objective.h"

namespace throughtime {

/// The update rule of states that are variables.
OptimizerConfig state_rule(const TargetPropagationConfig& config);

/// The free states H: a table [N + 1, R, S] of what enters each block, how it is filled for a stretch, and their
/// descent.
class FreeStates {
 public:
  FreeStates(Engine& engine, const TargetPropagationConfig& config, Blocks& blocks);

  /// h_0 is the carried state [R, S]; the rest comes from `init`. A table that persists is filled by the first stretch.
  void begin(Buffer parameters, Buffer carried, BlockObjective& objective);
  /// Moves `carried` over the whole stretch, which has no loss.
  void pass(Buffer parameters, Buffer carried);
  /// One step of the optimizer against dL/dH, which is in gradient().
  void descend(double gradient_scale);

  Buffer table() const { return table_; }
  Buffer gradient() const { return gradient_; }
  std::size_t activation_bytes() const { return chain_->activation_bytes(); }
  void archive(Archive& archive);

 private:
  void fill_chain(Buffer parameters, Buffer carried);
  void put_border(int j, Buffer states);

  Engine& engine_;
  TargetPropagationConfig config_;
  Blocks& blocks_;
  int width_;                    // S
  std::unique_ptr<Tape> chain_;  // of a run through the blocks of a shard, one after the other
  Buffer table_, gradient_;      // H and dL/dH
  Buffer handed_;                // [shard blocks, R, S]: states that a run hands out
  Buffer running_, zeros_;       // [R, S]
  std::vector<int> handed_steps_;
  std::vector<std::int64_t> handed_rows_;
  std::unique_ptr<OptimizerState> optimizer_;
  Window part_;
  bool filled_ = false;  // a table that persists
};

}  // namespace throughtime

#pragma once

#include <memory>

#include "learners/tbptt/plan.h"
#include "learners/tbptt/state_keeper.h"

namespace throughtime {

/// Sums of the losses of windows, and of the weights of right predictions; none: nobody asked.
struct LossSums {
  Buffer loss, correct, penalties = {};
};

/// Sums of the loss weights behind a gradient.
struct LossWeights {
  double own = 0;  // of the window's own losses: what the gradient is divided by; 0: it has none
  double all = 0;  // with the losses ahead
};

/// The gradients of truncated BPTT, one window after the other: BPTT(steps - 1, losses) times its number of losses.
class TruncatedGradient {
 public:
  /// `longest`: the largest lengths of a window, which the tape is made for.
  TruncatedGradient(std::string_view speaker, Trainee& trainee, const StretchShape& shape, const Lengths& longest,
                    StateKeeper::Ring ring);

  void begin(const Window& stretch) { states_.begin(stretch); }
  /// The plan of the stretch that was begun.
  WindowPlan plan(const Window& stretch, const Lengths& lengths, const Chunks& chunks) const {
    return {lengths, chunks, stretch.steps, states_.history()};
  }
  /// Writes the summed gradient of a window of the plan into the trainee's and adds its losses to the sums. A window
  /// without a loss has none: nothing is done, and the states move on when a later window needs one.
  LossWeights compute(const Window& stretch, const WindowPlan& plan, TruncatedWindow window, const LossSums& sums);
  void finish(const Window& stretch, const WindowPlan& plan) { states_.finish(stretch, plan.earliest_start()); }

  StateKeeper& states() { return states_; }
  const StateKeeper& states() const { return states_; }
  std::size_t activation_bytes() const { return tape_->activation_bytes() + states_.activation_bytes(); }

 private:
  void pull_back(int cells);

  std::string_view speaker_;
  Trainee& trainee_;
  std::unique_ptr<Tape> tape_;
  Buffer cotangent_;  // [B, S]: of the losses ahead of a window
  Window part_;
  StateKeeper states_;
};

}  // namespace throughtime

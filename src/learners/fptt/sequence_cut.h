#pragma once

#include <string_view>

#include "throughtime/learner.h"

namespace throughtime {

/// How a sequence of T steps is cut: K windows of omega = floor(T / K) steps; what is left over is one more window, or
/// belongs to the last.
class SequenceCut {
 public:
  /// Refuses K and lengths that sequences of shape.steps steps do not have.
  SequenceCut(std::string_view speaker, const LearnerConfig& config, const StretchShape& shape);

  /// K': windows of a sequence of `steps` steps, the remainder's included.
  int count(int steps) const;
  int begin(int steps, int window) const { return window * omega(steps); }
  int end(int steps, int window) const { return window + 1 == count(steps) ? steps : begin(steps, window + 1); }

  /// The longest window of any sequence of at most `steps` steps.
  int longest(int steps) const;
  /// No sequence of at most `steps` steps has more windows.
  int most(int steps) const { return windows_ > 0 ? windows_ + 1 : (steps + length_ - 1) / length_; }
  /// K as it was given, or K' of a sequence of `steps` steps.
  int windows(int steps) const { return windows_ > 0 ? windows_ : count(steps); }

 private:
  int omega(int steps) const;

  int windows_, length_;
  bool absorb_;
};

}  // namespace throughtime

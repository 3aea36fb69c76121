#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "tasks/series/standardisation.h"

namespace throughtime {

/// What the changes that a model predicts are added to: the level of their column at the step, at horizon 0 that of the
/// step before (at the first step there is none: its own). Steps come one after the other.
class ChangeBases {
 public:
  /// `columns`: names of the numbers of a step, its inputs and what comes beside them. `horizons`: the targets are
  /// those of the first one, then those of the second, and so on.
  ChangeBases(const Standardisation& scales, const std::vector<int>& horizons, const std::vector<std::string>& columns);

  /// Whether a target is a change, and its column is among those of a step.
  bool knows(std::size_t target) const { return targets_[target].column != absent; }
  /// A new sequence begins.
  void reset() { begun_ = false; }
  /// Takes a step, and returns what each target's prediction is added to: 0 where nothing is. [targets]
  std::span<const double> take(std::span<const double> inputs, std::span<const double> beside);

 private:
  static constexpr std::size_t absent = static_cast<std::size_t>(-1);
  struct Target {
    std::size_t column = absent;
    bool of_step_before = false;
    double level = 0;  // of the step that was taken last
  };

  std::vector<Target> targets_;
  std::vector<double> bases_;
  bool begun_ = false;
};

}  // namespace throughtime

#pragma once

#include <cstdint>

#include "throughtime/learners/fpp.h"

namespace throughtime {

/// What one online step does: M updates on trajectories of T steps.
struct FppPlan {
  int steps = 1;    // T
  int updates = 1;  // M
};

/// T, M and lambda over time. A run has five phases q = 0 ... 4; what comes later belongs to the last.
class FppSchedule {
 public:
  explicit FppSchedule(const FppConfig& config) : config_(config) {}

  int phase(std::int64_t step) const;
  /// Decay-FPP: (T / 2^q, 2^q), at last (1, T); or T - 2 q and 1 + 2 q.
  FppPlan decayed(int phase) const;
  /// Random-FPP: probability of one T-step update; else there are T one-step updates.
  double chance(int phase) const;
  /// Of online step number `step` (0, 1, ...); `coin` is uniform in [0, 1) and looked at by Random-FPP alone.
  FppPlan plan(std::int64_t step, double coin) const;
  double lambda(std::int64_t step) const;
  /// The most updates of one online step.
  int most_updates() const;

 private:
  FppConfig config_;
};

}  // namespace throughtime

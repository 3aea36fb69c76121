#pragma once

#include <cstdint>
#include <vector>

#include "learners/fpp/trajectory_draws.h"

namespace throughtime {

/// How well a fixed buffer is learned: the mean loss over all its trajectories of T steps, from the stored states.
/// Reads back: it belongs between steps.
class BufferProbe {
 public:
  /// `rows` trajectories at a time; what it looks at must outlive it.
  BufferProbe(Engine& engine, int steps, int rows, const Transitions& transitions, const StateCells& cells,
              const TrajectoryDraws& draws);

  /// NaN where no step of the buffer has a loss. Works on the tape of the updates.
  double mean_loss(Buffer parameters, Tape& tape);

 private:
  void add(std::int64_t end, int stream, float weight);
  void unroll(Buffer parameters, Tape& tape);
  void clear();

  Engine& engine_;
  const Transitions& transitions_;
  const StateCells& cells_;
  const TrajectoryDraws& draws_;
  Window window_;                   // [T, R]
  std::vector<std::int64_t> from_;  // [R]: cells of the first states
  int filled_ = 0;                  // rows of the window in use
  Buffer starts_;                   // [R, S]
  Buffer sum_;                      // [1]
};

}  // namespace throughtime

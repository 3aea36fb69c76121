#pragma once

#include <cstdint>
#include <string>

#include "throughtime/learner_config.h"

namespace throughtime {

/// Steps of a window of truncated BPTT, how many of its last ones carry a loss, and by how many it moves on.
struct Lengths {
  int steps, losses, stride;
  int ahead = 0;  // further steps whose losses flow into the window
};

/// Of a preset at truncation K; refuses a name that is none.
Lengths preset_lengths(const std::string& preset, int k);
/// What a configuration of tbptt says, by itself or by its preset; refuses what cannot be.
Lengths window_lengths(const LearnerConfig& config);

/// The adaptive form with its first K, for rows of `row_steps` steps (0: endless). Refuses estimates that cannot be.
LearnerConfig adaptive_config(LearnerConfig config, std::int64_t row_steps);
/// Those of the largest K that it may choose.
Lengths longest_lengths(const LearnerConfig& adaptive);

}  // namespace throughtime

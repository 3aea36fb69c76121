#pragma once

#include <string_view>

#include "throughtime/learner_config.h"

namespace throughtime {

/// Steps of a window of truncated BPTT, how many of its last ones carry a loss, and by how many it moves on.
struct Lengths {
  int steps, losses, stride;
  int ahead = 0;  // further steps whose losses flow into the window
};

inline constexpr int truncation_limit = 500'000'000;  // 3K + 1 steps, a window and a stride, can be counted

/// Of a preset at truncation K; refuses custom, which has no K.
Lengths preset_lengths(TbpttPreset preset, int k);
/// What a configuration says, by itself or by its preset; refuses what cannot be.
Lengths window_lengths(const TbpttConfig& config);

/// What the rate of a window with truncation K is multiplied by.
double rate_factor(RateScaling scaling, int k);

/// Refuses windows that need steps which a stream has not brought yet.
void require_nothing_ahead(std::string_view speaker, TbpttPreset preset, const Lengths& lengths);

}  // namespace throughtime

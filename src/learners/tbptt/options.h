#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "throughtime/learner_config.h"
#include "throughtime/options.h"

namespace throughtime {

/// Of the option `preset`; each method adds what `custom` means to it.
inline constexpr char preset_help[] =
    "sets steps, losses and stride from K, the truncation. plain: K, K, K. paper: 2K+1, K, K. ref: 2K-1, K, K. "
    "original: K, 1, 1. double-tf: 2K-1 for all three. buffer: as plain, and a window also gets the gradient of the "
    "K-1 losses after it. custom: ";

/// What fixed and adaptive truncation share besides their lengths.
template <class Config>
void describe_windows(Config& config, OptionList& list) {
  list.add("chunk", config.chunk,
           "cut each sequence of a batch into chunks of this many steps; no window reaches back into an earlier chunk; "
           "0: off",
           at_least(0));
  list.add("ref_stream", config.ref_stream,
           "with chunk: start windows from the same outdated states as the released code of adaptive TBPTT");
  list.add("rate_scaling", config.rate_scaling,
           "multiply the learning rate by the square root of K (sqrt) or by K (linear), also for a window with fewer "
           "losses. K is the truncation; preset = custom: losses");
  list.add("clip_by_losses", config.clip_by_losses,
           "divide optimizer.clip by the number of losses of a window, as the released code of adaptive TBPTT does");
}

/// Advice where the rate is to grow with K, but the optimizer's steps do not grow with the gradient.
std::vector<std::string> rate_notes(std::string_view learner, RateScaling scaling, const OptimizerConfig& optimizer);

}  // namespace throughtime

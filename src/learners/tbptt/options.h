#pragma once

#include "throughtime/learner_config.h"
#include "throughtime/options.h"

namespace throughtime {

inline constexpr char preset_help[] =
    "steps/losses/stride from truncation K: paper 2K+1/K/K, ref 2K-1/K/K, plain K/K/K, original K/1/1, double-tf "
    "(2K-1)/(2K-1)/(2K-1), buffer K/K/K and the next K-1 losses flow in";

/// What fixed and adaptive truncation share besides their lengths.
template <class Config>
void describe_windows(Config& config, OptionList& list) {
  list.add("chunk", config.chunk, "windows do not look back over multiples of this many steps of a stretch; 0: off",
           at_least(0));
  list.add("ref_stream", config.ref_stream,
           "with chunk: begin windows with the wrong states that the released code takes there");
  list.add("rate_scaling", config.rate_scaling,
           "the rate times sqrt(K) or K, the truncation (custom: losses), whatever a window has");
  list.add("clip_by_losses", config.clip_by_losses,
           "optimizer.clip divided by the losses of a window, as the released code of adaptive TBPTT");
}

}  // namespace throughtime

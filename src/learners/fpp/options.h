#pragma once

#include <string>

#include "throughtime/learner_config.h"

namespace throughtime {

/// Refuses options that cannot work, in the name of the learner that has them.
void check_fpp(const std::string& speaker, const FppConfig& config);

/// What an update asks of the options, compared once: with the smallest nets a comparison of names is felt.
struct FppChoices {
  explicit FppChoices(const FppConfig& config)
      : sequential(config.order == "sequential"),
        writes_each(config.write_back == "each"),
        reads_buffer(config.feed == "buffer"),
        flips(config.variant == "random"),
        blocks(config.batch == "blocks"),
        any_end(config.ends == "all"),
        only_newest(config.sample == "newest"),
        mean_penalty(config.penalty == "mean"),
        batch_mean(config.state_gradient == "batch_mean"),
        on_weights(config.penalise == "both" || config.penalise == "weights"),
        on_states(config.penalise == "both" || config.penalise == "states") {}
  bool sequential, writes_each, reads_buffer, flips, blocks, any_end, only_newest, mean_penalty, batch_mean;
  bool on_weights, on_states;  // who feels the penalty
};

}  // namespace throughtime

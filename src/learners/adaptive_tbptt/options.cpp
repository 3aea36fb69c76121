#include "learners/adaptive_tbptt/options.h"

#include <algorithm>

#include "learners/adaptive_tbptt/estimator.h"
#include "learners/support.h"
#include "learners/tbptt/options.h"
#include "learners/tbptt/plan.h"
#include "learners/tbptt/state_ring.h"
#include "throughtime/error.h"

namespace throughtime {
namespace {

/// Refuses what a stream and a stretch refuse alike.
void check_lengths(const AdaptiveTbpttConfig& config) {
  if (config.preset == TbpttPreset::custom)
    refuse("adaptive_tbptt",
           "the preset 'custom' has no K to choose; take paper, ref, plain, original, double-tf or buffer");
  require_range("adaptive_tbptt", "truncation (K_0; 0: shortest)", config.truncation, 0, truncation_limit);
  require_range("adaptive_tbptt", "longest (K_max)", config.estimate.longest, 1, truncation_limit);
}

}  // namespace

void describe(EstimateConfig& config, OptionList& list) {
  list.add("delta", config.delta,
           "estimates: the relative bias that the gradient may have; the shortest truncation below it is chosen",
           {.low = 0, .high = 1, .open_low = true, .open_high = true});
  list.add("shortest", config.shortest, "estimates: K_min, the shortest truncation that may be chosen",
           between(1, truncation_limit));
  list.add("longest", config.longest, "estimates: K_max, the longest truncation that may be chosen",
           between(1, truncation_limit));
  list.add("lags", config.lags,
           "estimates: R, the largest lag that is measured, at least 2; 0: 100, or fewer if a row of the data is too "
           "short for burn_in and lags",
           at_least(0));
  list.add("tail", config.tail,
           "estimates: tau; the decay beta is fitted to the lags from tau to R; 0: 0.9 R, rounded down", at_least(0));
  list.add("positions", config.positions,
           "estimates: S, how many random places in the training data are measured; 0: as many as train.batch",
           between(0, 65536));
  list.add("burn_in", config.burn_in,
           "estimates: steps that bring the state from zero to a usual value before the lags begin", between(0, 1e6));
  list.add("estimate_every", config.every,
           "estimates: updates from one estimate to the next; 0: one estimate per epoch", at_least(0));
  list.add("logged_estimates", config.logged,
           "how many estimates are made each time for the log alone, with their 95 % range; 0: none",
           between(0, 10000));
  list.add("decay", config.decay,
           "estimates: how the decay beta is found: by regression (Eq. 22), as the largest slope (max, Eq. 21) or as a "
           "quantile of the slopes");
  list.add("quantile", config.quantile, "decay = quantile: alpha; beta comes from the 1 - alpha quantile of the slopes",
           between(0, 1));
  list.add("norm", config.norm,
           "estimates: how the size of dL/dh is measured. euclidean: its norm; per_layer: the sum of the layers' "
           "norms; weighted: each unit counts by the size of its dh/dW");
  list.add("gradient_size", config.gradient_size,
           "estimates: how the size C_k of the gradient is found. norms: from mean norms; vectors: from the norm of "
           "summed mean vectors; exact: exactly, for states of at most 256 numbers");
  list.add("estimate_dropout", config.dropout, "estimates: keep dropout on while gradients are measured");
  list.add("variants", config.variants,
           "estimates: what to do as the released code does, where it differs from the paper (docs/adaptive-tbptt.md)");
}

void describe(AdaptiveTbpttConfig& config, OptionList& list) {
  list.add("preset", config.preset, std::string(preset_help) + "not allowed here, because it has no K");
  list.add("truncation", config.truncation,
           "K_0, the truncation before the first estimate, if estimate_first = false; 0: shortest",
           between(0, truncation_limit));
  describe_windows(config, list);
  describe(config.estimate, list);
  list.add("repeats", config.estimate.repeats,
           "how many estimates decide on K together; K is the mean of their answers, rounded down", between(1, 1000));
  list.add("estimate_first", config.estimate.first,
           "true: estimate before the first update (Algorithm 1); false: begin with `truncation`");
}

void check_learner(const AdaptiveTbpttConfig& config, const Model& model, const StretchShape& shape) {
  check_shape(shape);
  check_lengths(config);
  check_chunks("adaptive_tbptt", {config.chunk, config.ref_stream});
  check_estimates(config.estimate, model, shape);
}

std::vector<std::string> learner_notes(const AdaptiveTbpttConfig& config, const StretchShape&,
                                       const OptimizerConfig& optimizer) {
  return rate_notes("adaptive_tbptt", config.rate_scaling, optimizer);
}

StreamNeeds stream_needs(const AdaptiveTbpttConfig& config) {
  check_lengths(config);
  decay_options(with_fitting_lags(config.estimate, 0));
  const Lengths longest = longest_lengths(config);
  require_nothing_ahead("adaptive_tbptt", config.preset, longest);
  return {longest.stride, std::max(longest.steps + StateRing::spacing, stream_past(config.estimate))};
}

EstimateSettings estimate_settings(const AdaptiveTbpttConfig& config) { return {config.estimate, 0}; }

int first_truncation(const AdaptiveTbpttConfig& config) {
  return config.truncation > 0 ? config.truncation : config.estimate.shortest;
}

int largest_truncation(const AdaptiveTbpttConfig& config) {
  return std::max(config.estimate.longest, first_truncation(config));
}

Lengths longest_lengths(const AdaptiveTbpttConfig& config) {
  return preset_lengths(config.preset, largest_truncation(config));
}

}  // namespace throughtime

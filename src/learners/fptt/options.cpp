#include "throughtime/options.h"
#include "learners/fptt/intermediate_losses.h"
#include "learners/support.h"
#include "throughtime/error.h"

namespace throughtime {

void describe(FpttConfig& config, OptionList& list) {
  describe_cut(config.windows, config.window_length, config.remainder, list);
  list.add("form", config.form, "running estimate lambda, Algorithm 2 to the letter, or no regulariser");
  list.add("alpha", config.alpha, "strength of the regulariser; positive unless form = ogd", at_least(0));
  list.add("alpha_growth", config.alpha_growth, "factor of alpha after each epoch", above(0));
  list.add("alpha_most", config.alpha_most, "bound of a growing alpha; 0: none", at_least(0));
  list.add("averaging", config.averaging, "b, weight of W in its average", between(0, 1));
  list.add("penalty", config.penalty, "lambda form: m, multiple of alpha in the gradient", at_least(0));
  list.add("kappa", config.kappa, "gradient form: weight of the last gradient", at_least(0));
  list.add("inner_iterations", config.inner_iterations, "steps of W on each window", at_least(1));
  list.add("inner_state", config.inner_state,
           "inner iterations restart at the window's first state, or go on from its last");
  list.add("take_average", config.take_average, "W <- its average at the end of an epoch");
  list.add("reset_multiplier", config.reset_multiplier, "lambda <- 0 at the end of an epoch");
  list.add("carry", config.carry, "a stream goes on from the state of the windows, or of a rerun with the new weights");
  list.add("masks", config.masks, "locked dropout masks are drawn per window or sequence");
  list.add("rate_by_windows", config.rate_by_windows,
           "the rate is divided by twice the number of windows of the sequence");
  list.add("rate_by_length", config.rate_by_length,
           "the rate is multiplied by the sequence's share of the longest one");
  describe_intermediate(config.terminal, list);
}

void check_learner(const FpttConfig& config, const Model& model, const StretchShape& shape) {
  check_shape(shape);
  if (config.form != FpttForm::ogd && !(config.alpha > 0))
    refuse("fptt", "alpha must be positive, for it divides, got {}; form = ogd is without", config.alpha);
  if (!(config.alpha_growth > 0)) refuse("fptt", "alpha_growth must be positive, got {}", config.alpha_growth);
  if (!(config.alpha_most >= 0))
    refuse("fptt", "alpha_most must be 0 (no bound) or positive, got {}", config.alpha_most);
  require_range("fptt", "averaging", config.averaging, 0.0, 1.0);
  require_range("fptt", "inner_iterations", config.inner_iterations, 1, 1'000'000);
  const SequenceCut cut("fptt", {config.windows, config.window_length, config.remainder}, shape);
  check_intermediate("fptt", config.terminal, LossSpan::window, model, shape, cut);
}

StreamNeeds stream_needs(const FpttConfig& config) {
  if (config.window_length < 1)
    refuse("fptt", "a stream has no length that windows (K) could divide; give window_length instead");
  return {config.window_length, 0};
}

}  // namespace throughtime

#include "throughtime/options.h"

#include <fmt/format.h>

#include "learners/fptt/intermediate_losses.h"
#include "learners/fptt/window_choice.h"
#include "learners/support.h"
#include "throughtime/error.h"

namespace throughtime {

void describe(FpttConfig& config, OptionList& list) {
  describe_cut(config.windows, config.window_length, config.remainder, list);
  list.add("window", config.window,
           "fixed: windows have the length that is given. adaptive: their length is the truncation that keeps the "
           "relative bias of the gradient below `delta`, between `shortest` and `longest`");
  list.add("form", config.form,
           "the regulariser. lambda: with a running estimate; gradient: Algorithm 2 to the letter; ogd: none");
  list.add("alpha", config.alpha, "strength of the regulariser; positive unless form = ogd", at_least(0));
  list.add("alpha_growth", config.alpha_growth, "alpha is multiplied by this after each epoch", above(0));
  list.add("alpha_most", config.alpha_most, "alpha grows no further than this; 0: no bound", at_least(0));
  list.add("averaging", config.averaging, "b, the weight of the newest W in the running average of W", between(0, 1));
  list.add("penalty", config.penalty,
           "form = lambda: m; alpha is multiplied by it where the regulariser enters the gradient", at_least(0));
  list.add("kappa", config.kappa, "form = gradient: weight of the gradient of the window before", at_least(0));
  list.add("inner_iterations", config.inner_iterations, "updates of W on each window", between(1, 1e6));
  list.add(
      "inner_state", config.inner_state,
      "inner_iterations above 1: further updates on a window restart at its first state, or continue from its last");
  list.add("take_average", config.take_average,
           "replace the weights W by their running average at the end of each epoch");
  list.add("reset_multiplier", config.reset_multiplier,
           "set lambda to 0 at the end of each epoch; form = gradient: the gradient of the window before");
  list.add("carry", config.carry,
           "where the next batch of a stream starts. windows: from the state that the windows left; rerun: from that "
           "of one more forward pass, with the new weights");
  list.add(
      "masks", config.masks,
      "of weights, of tokens and, with model.dropout_per_sequence, of activations: draw new ones for each window, or "
      "for each sequence");
  list.add("rate_by_windows", config.rate_by_windows,
           "divide the learning rate by twice the number of windows of the sequence");
  list.add("rate_by_length", config.rate_by_length,
           "multiply the learning rate by the sequence's length, divided by the longest one (by the usual one, where "
           "lengths are drawn)");
  describe_intermediate(config.terminal, list);
  describe(config.estimate, list);
  list.add("repeats", config.estimate.repeats,
           "window = adaptive: how many estimates decide on the length together; it is the mean of their answers, "
           "rounded down",
           between(1, 1000));
  list.add("estimate_first", config.estimate.first,
           "window = adaptive: true: estimate before the first update; false: begin with `window_length`");
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
  check_window_choice(config, model, shape);
  const SequenceCut cut("fptt", cut_rule(config, shape), shape);
  check_intermediate("fptt", config.terminal, LossSpan::window, model, shape, cut);
}

namespace {

// Where runs of ours with Adam were worse than without a regulariser, and where none of them had learned
// (docs/fptt.md).
constexpr double large_alpha = 0.5;
constexpr int long_window = 50;

}  // namespace

std::vector<std::string> learner_notes(const FpttConfig& config, const StretchShape& shape,
                                       const OptimizerConfig& optimizer) {
  std::vector<std::string> notes;
  const bool regularised = config.form != FpttForm::ogd;
  if (regularised && config.alpha >= large_alpha && find_optimizer(optimizer.name).scale_free)
    notes.push_back(fmt::format(
        "advice: learner.fptt.alpha = {} is large for {}; 0.01, or form = \"ogd\", learned faster (docs/fptt.md)",
        config.alpha, optimizer.name));
  const int longest = SequenceCut("fptt", cut_rule(config, shape), shape).longest();
  if (shape.terminal && longest >= long_window)
    notes.push_back(
        fmt::format("advice: windows of {} steps are long where the target comes at the end; shorter ones learned "
                    "faster (docs/fptt.md)",
                    longest));
  return notes;
}

StreamNeeds stream_needs(const FpttConfig& config) {
  if (config.window == WindowRule::adaptive) {
    decay_options(with_fitting_lags(config.estimate, 0));
    return {std::max(config.estimate.longest, config.window_length), stream_past(config.estimate)};
  }
  if (config.window_length < 1)
    refuse("fptt", "a stream has no length that windows (K) could divide; give window_length instead");
  return {config.window_length, 0};
}

}  // namespace throughtime

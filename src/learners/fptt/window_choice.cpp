#include "learners/fptt/window_choice.h"

#include <algorithm>

#include "learners/support.h"
#include "throughtime/error.h"

namespace throughtime {
namespace {

/// With no window longer than a sequence, and as many lags as a sequence has after the burn-in, where they are open and
/// one sequence is looked at.
EstimateConfig fitting(const FpttConfig& config, const StretchShape& shape) {
  EstimateConfig estimate = with_fitting_lags(config.estimate, shape.terminal ? shape.steps : shape.row_steps);
  estimate.longest = std::min(estimate.longest, shape.steps);
  return estimate;
}

/// Without a target before the end, all places are the ends of the rows at hand.
void check_one_sequence(const EstimateConfig& estimate, const StretchShape& shape) {
  if (estimate.burn_in + estimate.lags > shape.steps)
    refuse("fptt", "burn_in and lags must be {} steps (the sequence) at most together, got {} and {}", shape.steps,
           estimate.burn_in, estimate.lags);
  if (estimate.positions != 0 && estimate.positions != shape.batch)
    refuse("fptt", "positions must be the batch ({}) or 0 where each sequence has one target at its end, got {}",
           shape.batch, estimate.positions);
  if (estimate.repeats != 1 || estimate.logged != 0)
    refuse("fptt",
           "repeats must be 1 and logged_estimates 0 where each sequence has one target at its end (the places are the "
           "batch at hand), got {} and {}",
           estimate.repeats, estimate.logged);
}

}  // namespace

void check_window_choice(const FpttConfig& config, const Model& model, const StretchShape& shape) {
  if (config.window == WindowRule::fixed) {
    if (config.estimate != EstimateConfig{})
      refuse("fptt", "delta, shortest, longest and the other options of estimates need window = adaptive");
    return;
  }
  if (config.windows != 0)
    refuse("fptt", "window = adaptive chooses the length of windows; windows (K) must be 0, got {}", config.windows);
  if (config.estimate.shortest > shape.steps)
    refuse("fptt", "shortest must be between 1 and the sequence length ({}), got {}", shape.steps,
           config.estimate.shortest);
  const PriorKind q = config.terminal.q;
  if (q != PriorKind::automatic && q != PriorKind::uniform)
    refuse("fptt",
           "window = adaptive cuts each epoch in another way, so Q cannot come from windows before; q must be "
           "auto or uniform");
  const EstimateConfig estimate = fitting(config, shape);
  if (shape.terminal) {
    check_one_sequence(estimate, shape);
    decay_options(estimate);
  } else {
    check_estimates(estimate, model, shape);
  }
}

CutRule cut_rule(const FpttConfig& config, const StretchShape& shape) {
  if (config.window == WindowRule::fixed) return {config.windows, config.window_length, config.remainder};
  const EstimateConfig estimate = fitting(config, shape);
  const int first = config.window_length > 0 ? config.window_length : estimate.shortest;
  return {0, first, config.remainder, std::min(estimate.shortest, first), std::max(estimate.longest, first)};
}

/// The estimator asks for places when it is made, too; then there is no stretch, and it gets none.
StretchShape WindowChoice::with_places(StretchShape shape, WindowChoice& choice) {
  if (!shape.terminal) return shape;
  shape.row_steps = shape.steps;
  shape.positions = [&choice](std::uint64_t, int, int steps) -> const Window& { return choice.end_of_stretch(steps); };
  return shape;
}

WindowChoice::WindowChoice(Engine& engine, const FpttConfig& config, const StretchShape& shape)
    : clock_(config.estimate.every, config.estimate.first),
      estimator_(engine, fitting(config, shape), with_places(shape, *this)) {
  if (!shape.terminal) return;
  const EstimateConfig estimate = fitting(config, shape);
  reserve(place_, estimate.burn_in + estimate.lags, shape.batch);
}

const Window& WindowChoice::end_of_stretch(int steps) {
  if (stretch_ == nullptr || stretch_->steps < steps) return none_;
  slice(*stretch_, stretch_->steps - steps, steps, place_);
  return place_;
}

void WindowChoice::look_at(const Window& stretch, std::int64_t updates, Buffer parameters, SequenceCut& cut) {
  stretch_ = &stretch;
  if (clock_.is_due(updates) && estimator_.ready()) {
    cut.set_window_length(estimator_.choose(parameters));
    estimator_.log(parameters, cut.window_length());
    clock_.restart(updates);
  }
  stretch_ = nullptr;
  rows_ += stretch.steps;
}

void WindowChoice::archive(Archive& archive, SequenceCut& cut) {
  const Archive::Scope scope(archive, "window");
  cut.archive(archive);
  archive.integer("rows", rows_);
  clock_.archive(archive);
  estimator_.archive(archive);
}

}  // namespace throughtime

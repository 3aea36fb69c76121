#include "learners/tbptt/truncated_gradient.h"

#include <algorithm>
#include <numeric>

#include "learners/support.h"

namespace throughtime {
namespace {

/// The weights [steps, B] of steps [first, end).
std::span<const float> weights_of(const Window& stretch, int first, int end) {
  return std::span(stretch.weight).subspan(elements(first, stretch.batch), elements(end - first, stretch.batch));
}

}  // namespace

TruncatedGradient::TruncatedGradient(std::string_view speaker, Trainee& trainee, const StretchShape& shape,
                                     const Lengths& longest, StateKeeper::Ring ring)
    : speaker_(speaker), trainee_(trainee), states_(speaker, trainee, shape, longest, ring) {
  Engine& engine = trainee.engine;
  tape_ = engine.make_tape({.steps = longest.steps + longest.ahead,
                            .batch = shape.batch,
                            .keep = Keep::gradient,
                            .losses = longest.losses + longest.ahead});
  if (longest.ahead > 0) cotangent_ = engine.allocate(elements(shape.batch, engine.model().state_size()));
  reserve(part_, longest.steps + longest.ahead, shape.batch);
}

LossWeights TruncatedGradient::compute(const Window& stretch, const WindowPlan& plan, TruncatedWindow window,
                                       const LossSums& sums) {
  window.first = states_.reach(window.first);
  const double own = sum_of_weights(speaker_, weights_of(stretch, window.first_loss, window.end));
  if (own == 0) return {};
  states_.move_to(stretch, window.first);
  states_.cut(stretch, window.first, window.end + window.ahead - window.first, part_);
  std::fill_n(part_.weight.begin(), elements(window.first_loss - window.first, part_.batch), 0.0f);

  const Starts next = plan.starts_after(window);
  states_.hand_out(stretch, window.first, window.end, next.all());
  trainee_.engine.unroll({.window = part_,
                          .parameters = trainee_.parameters,
                          .tape = *tape_,
                          .initial_state = states_.state(),
                          .loss_sum = sums.loss,
                          .correct_sum = sums.correct,
                          .penalties = sums.penalties,
                          .states = states_.handed(),
                          .state_steps = states_.handed_steps()});
  states_.keep(window.first, next.all());
  pull_back(window.end - window.first);
  return {.own = own, .all = std::accumulate(part_.weight.begin(), part_.weight.end(), 0.0)};
}

/// The gradient of the first `cells` cells; the losses of the steps after them flow in through the state.
void TruncatedGradient::pull_back(int cells) {
  const bool ahead = cells < part_.steps;
  if (ahead)
    trainee_.engine.pull_back({.tape = *tape_,
                               .window = part_,
                               .parameters = trainee_.parameters,
                               .first = cells,
                               .initial_cotangent = cotangent_});
  trainee_.engine.pull_back({.tape = *tape_,
                             .window = part_,
                             .parameters = trainee_.parameters,
                             .last = cells,
                             .gradient = trainee_.gradient,
                             .end_cotangent = ahead ? cotangent_ : Buffer()});
}

}  // namespace throughtime

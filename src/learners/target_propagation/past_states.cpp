#include "learners/target_propagation/past_states.h"

#include <algorithm>
#include <numeric>

#include "learners/target_propagation/states.h"
#include "throughtime/index.h"

namespace throughtime {

PastStates::PastStates(Engine& engine, const TargetPropagationConfig& config, int steps, int rows)
    : engine_(engine), config_(config), steps_(std::min(config.block, steps)) {
  tape_ = engine.make_tape({.steps = steps_, .batch = rows, .keep = Keep::state});
  silent_tape_ = engine.make_tape({.steps = steps_, .batch = rows, .keep = Keep::nothing});
  const std::size_t states = elements(rows, engine.model().state_size());
  state_ = engine.allocate(states);
  gradient_ = engine.allocate(states);
  optimizer_ = engine.make_optimizer(state_rule(config), state_);
}

void PastStates::refine(const Window& part, Buffer parameters, Buffer start, Buffer end) {
  const double weights = std::accumulate(part.weight.begin(), part.weight.end(), 0.0);
  if (weights == 0) return;
  const bool mean = config_.loss_scale == LossScale::mean;
  const double lambda = mean ? config_.lambda * weights / part.batch : config_.lambda;
  optimizer_->reset();
  engine_.copy(start, state_);
  for (int step = 0; step < config_.test_steps; ++step) {
    engine_.unroll(
        {.window = part, .parameters = parameters, .tape = *tape_, .training = false, .initial_state = state_});
    engine_.pull_back({.tape = *tape_, .window = part, .parameters = parameters, .initial_cotangent = gradient_});
    engine_.axpy(lambda, state_, gradient_);
    engine_.axpy(-lambda, start, gradient_);
    engine_.apply_update({.target = state_,
                          .gradient = gradient_,
                          .optimizer = *optimizer_,
                          .rate = config_.state_rate,
                          .gradient_scale = mean ? 1 / weights : 1,
                          .clip = {.norm = config_.state_clip}});
  }
  silent_ = part;
  std::fill(silent_.weight.begin(), silent_.weight.end(), 0.0f);
  engine_.unroll({.window = silent_,
                  .parameters = parameters,
                  .tape = *silent_tape_,
                  .training = false,
                  .initial_state = state_,
                  .final_state = end});
}

std::unique_ptr<StateRefiner> make_refiner(const TargetPropagationConfig& config, Engine& engine, int steps, int rows) {
  if (config.test_steps == 0) return nullptr;
  return std::make_unique<PastStates>(engine, config, steps, rows);
}

}  // namespace throughtime

#include "support/engine_run.h"

#include <numeric>

namespace throughtime::testing {

EngineRun::EngineRun(const Problem& problem, const EngineConfig& config, Keep keep)
    : problem_(problem),
      window_(&problem.window),
      engine_(make_engine(*problem.model, config)),
      tape_(engine_->make_tape({problem.window.steps, problem.window.batch, keep})),
      parameters_(engine_->allocate(problem.parameters.size())) {
  set_parameters(problem.parameters);
}

std::size_t EngineRun::state_numbers() const { return rows() * static_cast<std::size_t>(problem_.model->state_size()); }

Unrolled EngineRun::unroll(const std::vector<double>& initial_state) {
  const auto steps = static_cast<std::size_t>(window_->steps);
  std::vector<int> state_steps(steps + 1);
  std::iota(state_steps.begin(), state_steps.end(), 0);
  const bool has_targets = window_->targets.layout != TargetLayout::none;
  UnrollCall call{.window = *window_, .parameters = parameters_, .tape = *tape_};
  call.training = training_;
  if (!initial_state.empty()) {
    call.initial_state = engine_->allocate(initial_state.size());
    engine_->write(call.initial_state, initial_state);
  }
  call.final_state = engine_->allocate(state_numbers());
  if (has_targets) {
    call.losses = engine_->allocate(steps * rows());
    call.loss_sum = engine_->allocate(1);
    call.penalties = engine_->allocate(2);
  }
  call.predictions = engine_->allocate(steps * rows() * static_cast<std::size_t>(problem_.model->outputs()));
  call.states = engine_->allocate((steps + 1) * state_numbers());
  call.state_steps = state_steps;
  engine_->unroll(call);
  Unrolled result;
  if (has_targets) {
    result.losses = engine_->read(call.losses);
    result.loss_sum = engine_->read(call.loss_sum)[0];
    result.penalties = engine_->read(call.penalties);
  }
  result.final_state = engine_->read(call.final_state);
  result.predictions = engine_->read(call.predictions);
  result.states = engine_->read(call.states);
  return result;
}

PulledBack EngineRun::pull_back(const PullBackSpec& spec) {
  const int last = spec.last == -1 ? window_->steps : spec.last;
  const auto taps = static_cast<std::size_t>(last - spec.first + 1);
  PullBackCall call{.tape = *tape_, .window = *window_, .parameters = parameters_};
  call.first = spec.first;
  call.last = spec.last;
  call.losses = spec.losses;
  if (spec.gradient) call.gradient = engine_->allocate(problem_.parameters.size());
  if (!spec.add_to.empty()) {
    call.add = true;
    engine_->write(call.gradient, spec.add_to);
  } else if (spec.gradient) {
    engine_->fill(call.gradient, 1e3);  // must be overwritten
  }
  const auto buffer_of = [this](const std::vector<double>& values) {
    const Buffer buffer = engine_->allocate(values.size());
    engine_->write(buffer, values);
    return buffer;
  };
  if (!spec.end_cotangent.empty()) call.end_cotangent = buffer_of(spec.end_cotangent);
  if (!spec.step_cotangents.empty()) call.step_cotangents = buffer_of(spec.step_cotangents);
  call.initial_cotangent = engine_->allocate(state_numbers());
  if (spec.taps) {
    call.tap_norms = engine_->allocate(taps * rows());
    call.tap_vectors = engine_->allocate(taps * state_numbers());
  }
  engine_->pull_back(call);
  PulledBack result;
  if (spec.gradient) result.gradient = engine_->read(call.gradient);
  result.initial_cotangent = engine_->read(call.initial_cotangent);
  if (!spec.taps) return result;
  result.tap_norms = engine_->read(call.tap_norms);
  result.tap_vectors = engine_->read(call.tap_vectors);
  return result;
}

double objective(const Unrolled& unrolled, const PullBackSpec& spec) {
  double sum = spec.losses ? unrolled.loss_sum + unrolled.penalties[0] + unrolled.penalties[1] : 0.0;
  for (std::size_t i = 0; i < spec.end_cotangent.size(); ++i) sum += spec.end_cotangent[i] * unrolled.final_state[i];
  const std::size_t after_first = unrolled.final_state.size();  // states[0] is the initial state
  for (std::size_t i = 0; i < spec.step_cotangents.size(); ++i)
    sum += spec.step_cotangents[i] * unrolled.states[after_first + i];
  return sum;
}

}  // namespace throughtime::testing

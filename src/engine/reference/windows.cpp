#include <algorithm>

#include "engine/checks.h"
#include "engine/reference/engine_class.h"
#include "engine/reference/passes.h"
#include "engine/reference/reference_engine.h"
#include "throughtime/error.h"
#include "throughtime/index.h"

namespace throughtime {
namespace reference {
namespace {

ReferenceTape& own_tape(std::string_view speaker, Tape& tape, const Model& model) {
  auto* own = dynamic_cast<ReferenceTape*>(&tape);
  if (!own || &own->model != &model) refuse(speaker, "the tape was made by another engine");
  return *own;
}

}  // namespace

std::unique_ptr<Tape> ReferenceEngine::make_tape(const TapeShape& shape) {
  check_tape_shape(shape);
  require_tape_memory(*this, shape);
  return std::make_unique<ReferenceTape>(model_, shape);
}

void ReferenceEngine::unroll(const UnrollCall& call) {
  check_unroll(model_, call);
  ReferenceTape& tape = own_tape("unroll", call.tape, model_);
  const std::size_t size = elements(call.window.batch, model_.state_size());
  const UnrollOutputs outputs{change_or_null(call.losses),
                              change_or_null(call.loss_sum),
                              change_or_null(call.correct_sum),
                              change_or_null(call.penalties),
                              change_or_null(call.predictions),
                              change_or_null(call.states),
                              call.state_steps};
  const double* initial = numbers_or_null(call.initial_state);
  double* final = change_or_null(call.final_state);
  if (initial)
    std::copy_n(initial, size, tape.state(0, 0));
  else
    std::fill_n(tape.state(0, 0), size, 0.0);
  tape.unrolled = call.window.steps;
  tape.training = call.training;
  run_forward({model_, call.window, tape, numbers(call.parameters)}, outputs);
  if (final) std::copy_n(tape.state(call.window.steps, 0), size, final);
}

void ReferenceEngine::pull_back(const PullBackCall& call) {
  ReferenceTape& tape = own_tape("pull_back", call.tape, model_);
  PullBackArguments arguments;
  arguments.first = call.first;
  arguments.last = check_pull_back(model_, call, tape.unrolled);
  arguments.losses = call.losses;
  arguments.gradient = change_or_null(call.gradient);
  arguments.end_cotangent = numbers_or_null(call.end_cotangent);
  arguments.step_cotangents = numbers_or_null(call.step_cotangents);
  arguments.initial_cotangent = change_or_null(call.initial_cotangent);
  arguments.tap_norms = change_or_null(call.tap_norms);
  arguments.tap_vectors = change_or_null(call.tap_vectors);
  const double* parameters = numbers(call.parameters);
  if (call.gradient && !call.add) fill(call.gradient, 0.0);
  run_backward({model_, call.window, tape, parameters}, arguments);
}

}  // namespace reference

std::unique_ptr<Engine> make_reference_engine(const Model& model, const EngineConfig& config) {
  return std::make_unique<reference::ReferenceEngine>(model, config);
}

}  // namespace throughtime

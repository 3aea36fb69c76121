#include "engine/checks.h"

#include <cmath>

#include "core/memory.h"
#include "core/scan.h"
#include "engine/targets.h"
#include "throughtime/error.h"
#include "throughtime/index.h"

namespace throughtime {
namespace {

/// Sizes of a window's buffers.
struct Sizes {
  Sizes(const Model& model, const Window& window)
      : rows(elements(window.batch)),
        steps(elements(window.steps)),
        states(rows * elements(model.state_size())),
        outputs(rows * elements(model.outputs())) {}
  std::size_t rows, steps, states, outputs;
};

void check_tape(std::string_view speaker, const Tape& tape, const Window& window) {
  if (window.batch != tape.shape().batch)
    refuse(speaker, "the window has {} rows, its tape was made for {}", window.batch, tape.shape().batch);
  if (window.steps > tape.shape().steps)
    refuse(speaker, "the window has {} steps, its tape holds at most {}", window.steps, tape.shape().steps);
}

/// Steps where any row has a loss, against what the tape has room for.
void check_loss_steps(const TapeShape& shape, const Window& window) {
  if (shape.losses == 0 || shape.losses >= window.steps || shape.keep == Keep::nothing) return;
  int steps = 0;
  if (window.batch == 1)
    for (const float weight : window.weight) steps += weight != 0.0f ? 1 : 0;
  else
    for (int step = 0; step < window.steps; ++step) steps += has_nonzero(weights_at(window, step)) ? 1 : 0;
  if (steps > shape.losses)
    refuse("unroll", "{} steps of the window carry a loss, its tape was made for {} at most", steps, shape.losses);
}

void check_state_steps(const UnrollCall& call) {
  int before = -1;
  for (const int step : call.state_steps) {
    require_range("unroll", "state_steps", step, 0, call.window.steps);
    if (step <= before) refuse("unroll", "state_steps must ascend, got {} after {}", step, before);
    before = step;
  }
  if (!call.states && !call.state_steps.empty()) refuse("unroll", "state_steps are given but no buffer for the states");
}

}  // namespace

void refuse_size(std::string_view speaker, std::string_view what, Buffer buffer, std::size_t size) {
  refuse(speaker, "{} must have {} numbers, got {}", what, size, buffer.size);
}

void refuse_less(std::string_view speaker, std::string_view what, Buffer buffer, std::size_t size) {
  refuse(speaker, "{} must have at least {} numbers, got {}", what, size, buffer.size);
}

void check_tape_shape(const TapeShape& shape) {
  if (shape.steps < 1) refuse("tape", "steps must be at least 1, got {}", shape.steps);
  if (shape.batch < 1) refuse("tape", "batch must be at least 1, got {}", shape.batch);
  if (shape.losses < 0) refuse("tape", "losses must be 0 (every step) or positive, got {}", shape.losses);
}

void require_tape_memory(const Engine& engine, const TapeShape& shape) {
  const Model& model = engine.model();
  // What grows with the window; workspaces come on top of it.
  const double steps = shape.keep == Keep::nothing ? 1 : shape.steps;
  double numbers = model.layers().front().inputs * steps;
  for (const Layer& layer : model.layers())
    numbers += layer.hidden * (layer.cell->shape.states * (steps + 1) + layer.cell->shape.saved * steps);
  require_memory("tape", fmt::format("a tape of {} steps and {} rows", shape.steps, shape.batch),
                 numbers * shape.batch * static_cast<double>(engine.number_bytes()),
                 [&] { return engine.memory_bytes(); });
}

void require_buffer_memory(const Engine& engine, std::size_t size) {
  require_memory("engine", fmt::format("a buffer of {} numbers", size),
                 static_cast<double>(size) * static_cast<double>(engine.number_bytes()),
                 [&] { return engine.memory_bytes(); });
}

void check_unroll(const Model& model, const UnrollCall& call) {
  const Window& window = call.window;
  if (!call.checked) validate(window);
  check_tape("unroll", call.tape, window);
  check_loss_steps(call.tape.shape(), window);
  const Sizes sizes(model, window);
  require_size("unroll", "parameters", call.parameters, model.parameters().size());
  if (call.penalties) require_size("unroll", "penalties", call.penalties, 2);
  if (call.initial_state) require_size("unroll", "initial_state", call.initial_state, sizes.states);
  if (call.final_state) require_size("unroll", "final_state", call.final_state, sizes.states);
  if (call.losses) require_at_least("unroll", "losses", call.losses, sizes.steps * sizes.rows);
  if (call.loss_sum) require_size("unroll", "loss_sum", call.loss_sum, 1);
  if (call.correct_sum) require_size("unroll", "correct_sum", call.correct_sum, 1);
  if (call.predictions) require_at_least("unroll", "predictions", call.predictions, sizes.steps * sizes.outputs);
  check_state_steps(call);
  if (call.states) require_at_least("unroll", "states", call.states, call.state_steps.size() * sizes.states);
  if (call.checked) return;
  check_inputs(model, window);
  // The head looks at targets that are there, also where nobody reads the loss.
  const bool meets_targets = window.targets.layout != TargetLayout::none;
  if (meets_targets || call.losses || call.loss_sum || call.correct_sum) check_targets(model, window, 0, window.steps);
}

int check_pull_back(const Model& model, const PullBackCall& call, int unrolled) {
  const Window& window = call.window;
  const Keep keep = call.tape.shape().keep;
  if (keep == Keep::nothing) refuse("pull_back", "the tape keeps nothing; make it with Keep::state or Keep::gradient");
  if (call.gradient && keep != Keep::gradient)
    refuse("pull_back", "a parameter gradient needs a tape made with Keep::gradient, this one keeps states only");
  if (unrolled == 0) refuse("pull_back", "nothing has been unrolled on this tape yet");
  check_tape("pull_back", call.tape, window);
  if (window.steps != unrolled)
    refuse("pull_back", "the window has {} steps, the one unrolled on this tape had {}", window.steps, unrolled);
  const int last = call.last == -1 ? window.steps : call.last;
  require_range("pull_back", "last", last, 1, window.steps);
  require_range("pull_back", "first", call.first, 0, last - 1);

  const Sizes sizes(model, window);
  const std::size_t taps = elements(last - call.first) + 1;
  require_size("pull_back", "parameters", call.parameters, model.parameters().size());
  if (call.gradient) require_size("pull_back", "gradient", call.gradient, model.parameters().size());
  if (call.end_cotangent) require_size("pull_back", "end_cotangent", call.end_cotangent, sizes.states);
  if (call.initial_cotangent) require_size("pull_back", "initial_cotangent", call.initial_cotangent, sizes.states);
  if (call.step_cotangents)
    require_at_least("pull_back", "step_cotangents", call.step_cotangents, sizes.steps * sizes.states);
  if (call.tap_norms) require_at_least("pull_back", "tap_norms", call.tap_norms, taps * sizes.rows);
  if (call.tap_vectors) require_at_least("pull_back", "tap_vectors", call.tap_vectors, taps * sizes.states);
  if (call.losses && !call.checked) check_targets(model, window, call.first, last);
  return last;
}

void check_update(const UpdateCall& call) {
  require_size("apply_update", "target", call.target, call.target.size);
  require_size("apply_update", "gradient", call.gradient, call.target.size);
  if (call.norm) require_size("apply_update", "norm", call.norm, 1);
  for (const Buffer& moment : call.optimizer.moments)
    require_size("apply_update", "a moment of the optimizer", moment, call.target.size);
  if (const DynamicRegulariser* terms = call.regulariser) {
    require_size("apply_update", "the regulariser's average", terms->average, call.target.size);
    require_size("apply_update", "the regulariser's multiplier", terms->multiplier, call.target.size);
    if (terms->diagnostics) require_size("apply_update", "the regulariser's diagnostics", terms->diagnostics, 3);
    if (!(terms->alpha > 0) || !std::isfinite(terms->alpha))
      refuse("apply_update", "alpha must be positive, for it divides, got {}", terms->alpha);
  }
  if (!std::isfinite(call.rate)) refuse("apply_update", "rate must be a finite number, got {}", call.rate);
  if (!std::isfinite(call.gradient_scale))
    refuse("apply_update", "gradient_scale must be a finite number, got {}", call.gradient_scale);
  if (!(call.clip.value >= 0) || !(call.clip.norm >= 0))
    refuse("apply_update", "clip bounds must be 0 (off) or positive, got value {} and norm {}", call.clip.value,
           call.clip.norm);
}

void refuse_rows(std::string_view speaker, Buffer table, int width, std::span<const std::int64_t> indices,
                 Buffer rows) {
  if (width < 1) refuse(speaker, "width must be at least 1, got {}", width);
  const auto columns = elements(width);
  if (!table || table.size % columns != 0)
    refuse(speaker, "the table's size must be a multiple of the width {}, got {}", width, table.size);
  require_at_least(speaker, "rows", rows, indices.size() * columns);
  for (const std::int64_t index : indices)
    if (index < 0 || elements(index) >= table.size / columns)
      refuse(speaker, "row index {} is outside the table of {} rows", index, table.size / columns);
}

}  // namespace throughtime

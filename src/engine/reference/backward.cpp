#include <algorithm>
#include <cmath>

#include "engine/reference/linear.h"
#include "engine/reference/passes.h"
#include "engine/targets.h"
#include "throughtime/index.h"

namespace throughtime::reference {
namespace {

/// One layer, one row, pointwise: d_after [states, H] -> gate cotangents in the workspace and, in d_before, dL/d(state
/// before) with every path through the recurrent products.
void pull_back_step(const Pass& pass, std::size_t k, int step, int row, const double* d_after, double* d_before) {
  const Layer& layer = pass.model.layers()[k];
  const CellShape& shape = layer.cell->shape;
  Workspace& work = pass.tape.work;
  const int hidden = layer.hidden;
  const int early_rows = (shape.recurrent_rows - shape.late_rows) * hidden;
  const double* weights = work.effective[k].data();

  PointwiseBackward<double> call;
  call.rows = 1;
  call.units = hidden;
  call.options = &layer.options;
  call.saved = pass.tape.saved(step, row, k);
  call.state = pass.state_before(step, row) + layer.state_offset;
  call.next = pass.tape.state(step + 1, row) + layer.state_offset;
  call.saved_plane = call.state_plane = call.next_plane = call.d_plane = call.d_block = elements(hidden);
  call.d_next = d_after;
  call.d_state = d_before;
  call.d_gated = work.d_gated.data();
  call.d_input = work.d_input_gates.data();
  call.d_recurrent = shape.joint ? nullptr : work.d_recurrent_gates.data();
  layer.cell->reference.backward(call);
  if (shape.late_rows > 0) {
    std::fill_n(work.d_gated.data(), hidden, 0.0);
    add_transposed(shape.late_rows * hidden, hidden, weights + elements(early_rows, hidden),
                   work.d_recurrent_gates.data() + early_rows, work.d_gated.data());
    layer.cell->reference.backward_early(call);
  }
  if (shape.joint) std::copy_n(work.d_input_gates.data(), early_rows, work.d_recurrent_gates.data());
  add_transposed(early_rows, hidden, weights, work.d_recurrent_gates.data(), d_before);
}

/// Adds what the gate cotangents in the workspace mean for the layer's parameters.
void add_layer_gradient(const Pass& pass, std::size_t k, int step, int row, double* gradient) {
  const Layer& layer = pass.model.layers()[k];
  const CellShape& shape = layer.cell->shape;
  Workspace& work = pass.tape.work;
  const int hidden = layer.hidden;
  const int input_rows = shape.input_rows * hidden;
  const int early_rows = (shape.recurrent_rows - shape.late_rows) * hidden;
  const double* d_input = work.d_input_gates.data();
  const double* d_recurrent = work.d_recurrent_gates.data();
  double* d_weights = work.d_effective[k].data();

  add_outer(input_rows, layer.inputs, d_input, pass.tape.inputs(step, row, k),
            pass.block_of(gradient, layer.weight_ih));
  if (layer.bias_ih >= 0) add(input_rows, d_input, pass.block_of(gradient, layer.bias_ih));
  add_outer(early_rows, hidden, d_recurrent, pass.state_before(step, row) + layer.state_offset, d_weights);
  if (shape.late_rows > 0)
    add_outer(shape.late_rows * hidden, hidden, d_recurrent + early_rows,
              pass.tape.saved(step, row, k) + shape.gated * hidden, d_weights + elements(early_rows, hidden));
  if (layer.bias_hh >= 0) add(shape.recurrent_rows * hidden, d_recurrent, pass.block_of(gradient, layer.bias_hh));
}

/// From dL/d(input of the first layer) in work.d_inputs to the encoder and the embedding.
void add_input_gradient(const Pass& pass, int step, int row, double* gradient) {
  const Model& model = pass.model;
  const InputConfig& input = model.config().input;
  Workspace& work = pass.tape.work;
  if (model.encoder_weight < 0 && model.embedding < 0) return;
  mask_input(pass, step, row, work.d_inputs.data());
  if (model.encoder_weight >= 0) {
    gather_input(pass, step, row);
    add_outer(model.inputs(), model.raw_inputs(), work.d_inputs.data(), work.raw_input.data(),
              pass.block_of(gradient, model.encoder_weight));
    if (model.encoder_bias >= 0) add(model.inputs(), work.d_inputs.data(), pass.block_of(gradient, model.encoder_bias));
    std::fill(work.d_raw_input.begin(), work.d_raw_input.end(), 0.0);
    add_transposed(model.inputs(), model.raw_inputs(), pass.block(model.encoder_weight), work.d_inputs.data(),
                   work.d_raw_input.data());
  } else {
    std::copy_n(work.d_inputs.data(), model.raw_inputs(), work.d_raw_input.data());
  }
  const Place place = place_at(pass.window, step, row);
  if (model.embedding < 0 || place.padding) return;
  mask_token(pass, place.token(), work.d_raw_input.data());
  add(input.embedding, work.d_raw_input.data(),
      pass.block_of(gradient, model.embedding) + elements(place.token(), input.embedding));
}

/// One step of one row: d_state [S], dL/d(state after), becomes dL/d(state before).
void pull_back_row(const Pass& pass, int step, int row, double* d_state, double* gradient) {
  if (pass.window.holds_at(step, row)) return;
  const std::vector<Layer>& layers = pass.model.layers();
  Workspace& work = pass.tape.work;
  for (std::size_t k = layers.size(); k-- > 0;) {
    const Layer& layer = layers[k];
    pull_back_step(pass, k, step, row, d_state + layer.state_offset, work.d_before.data() + layer.state_offset);
    if (gradient) add_layer_gradient(pass, k, step, row, gradient);
    if (k == 0 && !gradient) break;
    std::fill_n(work.d_inputs.data(), layer.inputs, 0.0);
    add_transposed(layer.cell->shape.input_rows * layer.hidden, layer.inputs, pass.block(layer.weight_ih),
                   work.d_input_gates.data(), work.d_inputs.data());
    if (k > 0) {
      mask_between(pass, step, row, static_cast<int>(k), work.d_inputs.data());
      add(layer.inputs, work.d_inputs.data(), d_state + layers[k - 1].state_offset);
    } else {
      add_input_gradient(pass, step, row, gradient);
    }
  }
  if (pass.window.resets_at(step, row)) std::fill(work.d_before.begin(), work.d_before.end(), 0.0);
  std::copy(work.d_before.begin(), work.d_before.end(), d_state);
}

/// Norm and vector of one row's cotangent, entry `tap` of the part.
void write_tap(const Pass& pass, const PullBackArguments& arguments, int tap, int row, const double* d_state) {
  const auto size = elements(pass.model.state_size());
  const std::size_t entry = elements(tap, pass.window.batch) + elements(row);
  if (arguments.tap_vectors) std::copy_n(d_state, size, arguments.tap_vectors + entry * size);
  if (!arguments.tap_norms) return;
  double squares = 0;
  for (std::size_t i = 0; i < size; ++i) squares += d_state[i] * d_state[i];
  arguments.tap_norms[entry] = std::sqrt(squares);
}

/// Brings the gradient of the effective recurrent matrices back to the raw parameters, through their masks where the
/// window has them.
void add_recurrent_gradient(const Pass& pass, double* gradient) {
  for (std::size_t k = 0; k < pass.model.layers().size(); ++k) {
    const Layer& layer = pass.model.layers()[k];
    const std::vector<double>& d_effective = pass.tape.work.d_effective[k];
    double* d_block = pass.block_of(gradient, layer.weight_hh);
    const bool drops = d_block && pass.drops_weights();
    double* d_raw = drops ? pass.tape.work.raw_weights.data() : d_block;
    const std::vector<double>& mask = pass.tape.work.recurrent_mask[k];
    if (drops) std::fill_n(d_raw, mask.size(), 0.0);
    if (layer.cell->reference_map.adjoint)
      layer.cell->reference_map.adjoint(layer.options, layer.hidden, d_effective.data(), d_raw);
    else if (d_raw)
      add(static_cast<int>(d_effective.size()), d_effective.data(), d_raw);
    if (!drops) continue;
    for (std::size_t i = 0; i < mask.size(); ++i) d_block[i] += mask[i] * d_raw[i];
  }
}

}  // namespace

void run_backward(const Pass& pass, const PullBackArguments& arguments) {
  const Window& window = pass.window;
  const auto size = elements(pass.model.state_size());
  const std::size_t top = elements(pass.model.layers().back().state_offset);
  Workspace& work = pass.tape.work;
  make_effective_weights(pass);
  scale_differences(pass);
  for (auto& matrix : work.d_effective) std::fill(matrix.begin(), matrix.end(), 0.0);
  if (arguments.end_cotangent)
    std::copy_n(arguments.end_cotangent, work.d_state.size(), work.d_state.data());
  else
    std::fill(work.d_state.begin(), work.d_state.end(), 0.0);

  for (int step = arguments.last - 1; step >= arguments.first; --step) {
    for (int row = 0; row < window.batch; ++row) {
      double* d_state = work.d_state.data() + elements(row, size);
      const std::size_t entry = elements(step, window.batch) + elements(row);
      if (arguments.step_cotangents) add(pass.model.state_size(), arguments.step_cotangents + entry * size, d_state);
      if (arguments.losses && window.weight_at(step, row) != 0)
        head_backward(pass, step, row, d_state + top, arguments.gradient);
      if (arguments.losses) add_slowness_after(pass, step, row, d_state + top);
      write_tap(pass, arguments, step + 1 - arguments.first, row, d_state);
      pull_back_row(pass, step, row, d_state, arguments.gradient);
      if (arguments.losses) add_slowness_before(pass, step, row, d_state + top);
      if (step == arguments.first) write_tap(pass, arguments, 0, row, d_state);
    }
  }
  if (arguments.gradient) add_recurrent_gradient(pass, arguments.gradient);
  if (arguments.initial_cotangent) std::copy(work.d_state.begin(), work.d_state.end(), arguments.initial_cotangent);
}

}  // namespace throughtime::reference

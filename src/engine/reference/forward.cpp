#include <algorithm>

#include "engine/dropout.h"
#include "engine/reference/linear.h"
#include "engine/reference/passes.h"
#include "engine/targets.h"
#include "throughtime/index.h"

namespace throughtime::reference {
namespace {

void apply_mask(const Pass& pass, const DropoutSite& site, int step, int row, int width, double* values,
                bool always = false) {
  if (!(pass.tape.training || always) || !site.active()) return;
  const std::span mask(pass.tape.work.mask.data(), elements(width));
  write_mask(site, pass.window.mask_key, mask_step_at(pass.model.config().dropout, pass.window, step),
             pass.window.mask_row + row, mask);
  for (int i = 0; i < width; ++i) values[i] *= mask[i];
}

/// Input of the first layer: raw input, encoder, dropout.
void make_first_input(const Pass& pass, int step, int row, double* x) {
  const Model& model = pass.model;
  gather_input(pass, step, row);
  const std::vector<double>& raw = pass.tape.work.raw_input;
  if (model.encoder_weight >= 0)
    affine(model.inputs(), model.raw_inputs(), pass.block(model.encoder_weight), raw.data(),
           pass.block(model.encoder_bias), x);
  else
    std::copy(raw.begin(), raw.end(), x);
  mask_input(pass, step, row, x);
}

/// One layer, one row: x [D] and the state before -> the state after and the saved numbers.
void step_layer(const Pass& pass, std::size_t k, const double* x, const double* before, double* after, double* saved) {
  const Layer& layer = pass.model.layers()[k];
  const CellShape& shape = layer.cell->shape;
  Workspace& work = pass.tape.work;
  const int hidden = layer.hidden;
  const int early_rows = (shape.recurrent_rows - shape.late_rows) * hidden;
  const double* weights = work.effective[k].data();
  const double* recurrent_bias = pass.block(layer.bias_hh);
  double* input = work.input_gates.data();
  double* recurrent = work.recurrent_gates.data();

  affine(shape.input_rows * hidden, layer.inputs, pass.block(layer.weight_ih), x, pass.block(layer.bias_ih), input);
  affine(early_rows, hidden, weights, before, recurrent_bias, recurrent);
  if (shape.joint) add(early_rows, recurrent, input);

  PointwiseForward<double> call;
  call.rows = 1;
  call.units = hidden;
  call.options = &layer.options;
  call.input = input;
  call.recurrent = shape.joint ? nullptr : recurrent;
  call.input_block = call.recurrent_block = elements(hidden);
  call.state = before;
  call.next = after;
  call.saved = saved;
  call.state_plane = call.next_plane = call.saved_plane = elements(hidden);
  if (shape.late_rows > 0) {
    layer.cell->reference.forward_early(call);
    affine(shape.late_rows * hidden, hidden, weights + elements(early_rows, hidden), saved + shape.gated * hidden,
           recurrent_bias ? recurrent_bias + early_rows : nullptr, recurrent + early_rows);
  }
  layer.cell->reference.forward(call);
}

void step_row(const Pass& pass, int step, int row) {
  const std::vector<Layer>& layers = pass.model.layers();
  const double* before = pass.state_before(step, row);
  double* after = pass.tape.state(step + 1, row);
  if (pass.window.holds_at(step, row)) {
    std::copy_n(before, pass.model.state_size(), after);
    return;
  }
  for (std::size_t k = 0; k < layers.size(); ++k) {
    double* x = pass.tape.inputs(step, row, k);
    if (k == 0) {
      make_first_input(pass, step, row, x);
    } else {
      std::copy_n(after + layers[k - 1].state_offset, layers[k].inputs, x);
      mask_between(pass, step, row, static_cast<int>(k), x);
    }
    step_layer(pass, k, x, before + layers[k].state_offset, after + layers[k].state_offset,
               pass.tape.saved(step, row, k));
  }
}

/// What is wanted of one row whose outputs are in the workspace.
struct HeadAnswer {
  double loss = 0;
  bool right = false;  // the likeliest output is the label's
};

/// Loss of the row and whether it is right, and its predictions into work.outputs where they are wanted.
HeadAnswer answer_of(const Pass& pass, int step, int row, bool with_loss, bool with_predictions) {
  const HeadKernels<double>& kernels = pass.model.head().reference;
  const int width = pass.model.outputs();
  const double weight = pass.window.weight_at(step, row);
  std::vector<double>& z = pass.tape.work.outputs;
  RowTarget<double> target;
  if (with_loss) target = row_target(pass.model, pass.window, step, row, pass.tape.work.target.data());
  HeadAnswer answer;
  std::int32_t likeliest = 0;
  if (pass.model.head_layers().any()) {
    const LayeredRow<double> own = layered_row(pass);
    if (with_predictions) kernels.layered.predict(own, z.data());
    if (with_loss) answer.loss = kernels.layered.loss(own, target, weight, false, &likeliest);
  } else {
    likeliest = static_cast<std::int32_t>(std::max_element(z.begin(), z.end()) - z.begin());
    if (with_loss) answer.loss = kernels.loss(width, z.data(), target, weight, nullptr);
    if (with_predictions) kernels.predict(width, z.data());
  }
  answer.right = target.label >= 0 && likeliest == target.label;
  return answer;
}

/// Loss and predictions of one row; zeros where the weight is 0.
void evaluate_head(const Pass& pass, int step, int row, const UnrollOutputs& out) {
  const int width = pass.model.outputs();
  const std::size_t entry = elements(step, pass.window.batch) + elements(row);
  const double weight = pass.window.weight_at(step, row);
  const bool wants_loss = out.losses || out.loss_sum || out.correct_sum;
  HeadAnswer answer;
  if (weight != 0) {
    head_forward(pass, step, row);
    answer = answer_of(pass, step, row, wants_loss, out.predictions != nullptr);
  }
  if (out.correct_sum && answer.right) *out.correct_sum += weight;
  if (out.losses) out.losses[entry] = answer.loss;
  if (out.loss_sum) *out.loss_sum += weight * answer.loss;
  if (!out.predictions) return;
  double* predictions = out.predictions + entry * elements(width);
  if (weight != 0)
    std::copy_n(pass.tape.work.outputs.data(), width, predictions);
  else
    std::fill_n(predictions, width, 0.0);
}

/// Copies the states after `step` steps if they are the next ones asked for.
void hand_out_states(const Pass& pass, int step, const UnrollOutputs& out, std::size_t& handed_out) {
  if (handed_out == out.state_steps.size() || out.state_steps[handed_out] != step) return;
  const std::size_t size = elements(pass.window.batch, pass.model.state_size());
  std::copy_n(pass.tape.state(step, 0), size, out.states + handed_out * size);
  ++handed_out;
}

}  // namespace

namespace {

/// The raw recurrent weights of layer k, or what the mask of this window leaves of them.
const double* recurrent_weights(const Pass& pass, std::size_t k) {
  const double* raw = pass.block(pass.model.layers()[k].weight_hh);
  if (!raw || !pass.drops_weights()) return raw;
  std::vector<double>& mask = pass.tape.work.recurrent_mask[k];
  std::vector<double>& left = pass.tape.work.raw_weights;
  write_recurrent_mask(pass.model.config().dropout, static_cast<int>(k), pass.window.mask_key, std::span(mask));
  for (std::size_t i = 0; i < mask.size(); ++i) left[i] = raw[i] * mask[i];
  return left.data();
}

}  // namespace

void make_effective_weights(const Pass& pass) {
  for (std::size_t k = 0; k < pass.model.layers().size(); ++k) {
    const Layer& layer = pass.model.layers()[k];
    std::vector<double>& effective = pass.tape.work.effective[k];
    const double* raw = recurrent_weights(pass, k);
    if (layer.cell->reference_map.apply)
      layer.cell->reference_map.apply(layer.options, layer.hidden, raw, effective.data());
    else if (raw)
      std::copy_n(raw, effective.size(), effective.data());
  }
}

namespace {

/// A row of the embedding, or what its mask leaves of it.
void copy_row(const Pass& pass, std::int32_t token, double* to) {
  const int width = pass.model.config().input.embedding;
  std::copy_n(pass.block(pass.model.embedding) + elements(token, width), width, to);
  mask_token(pass, token, to);
}

}  // namespace

void gather_input(const Pass& pass, int step, int row) {
  const InputConfig& input = pass.model.config().input;
  std::vector<double>& raw = pass.tape.work.raw_input;
  std::fill(raw.begin(), raw.end(), 0.0);
  const Place place = place_at(pass.window, step, row);
  if (place.padding) return;
  if (input.vocabulary > 0 && input.tokens == TokenInput::one_hot) raw[place.token()] = 1.0;
  if (input.vocabulary > 0 && input.tokens == TokenInput::embedding) copy_row(pass, place.token(), raw.data());
  if (input.reals > 0) std::copy_n(place.reals(), input.reals, raw.end() - input.reals);
}

void mask_token(const Pass& pass, std::int32_t token, double* values) {
  const DropoutSite site = embedding_dropout(pass.model.config().dropout);
  if (!pass.tape.training || !site.active()) return;
  const double factor = token_factor(site, pass.window.mask_key, token);
  for (int i = 0; i < pass.model.config().input.embedding; ++i) values[i] *= factor;
}

void mask_input(const Pass& pass, int step, int row, double* values) {
  apply_mask(pass, input_dropout(pass.model.config().dropout), step, row, pass.model.inputs(), values);
}

void mask_between(const Pass& pass, int step, int row, int layer, double* values) {
  const int width = pass.model.layers()[layer].inputs;
  apply_mask(pass, between_dropout(pass.model.config().dropout, layer), step, row, width, values);
}

void mask_output(const Pass& pass, int step, int row, double* values) {
  apply_mask(pass, output_dropout(pass.model.config().dropout), step, row, pass.model.top_hidden(), values);
}

void mask_logits(const Pass& pass, int step, int row, double* values) {
  const DropoutConfig& dropout = pass.model.config().dropout;
  apply_mask(pass, logits_dropout(dropout), step, row, pass.model.linear_outputs(), values, dropout.logits_always);
}

void mask_latent(const Pass& pass, int step, int row, double* values) {
  const HeadLayers& layers = pass.model.head_layers();
  apply_mask(pass, latent_dropout(pass.model.config().dropout), step, row, layers.branches * layers.width, values);
}

void run_forward(const Pass& pass, const UnrollOutputs& out) {
  make_effective_weights(pass);
  scale_differences(pass);
  std::size_t handed_out = 0;
  hand_out_states(pass, 0, out, handed_out);
  for (int step = 0; step < pass.window.steps; ++step) {
    for (int row = 0; row < pass.window.batch; ++row) {
      step_row(pass, step, row);
      if (out.losses || out.loss_sum || out.correct_sum || out.predictions) evaluate_head(pass, step, row, out);
      if (out.penalties) add_penalties(pass, step, row, out.penalties);
    }
    hand_out_states(pass, step + 1, out, handed_out);
  }
}

}  // namespace throughtime::reference

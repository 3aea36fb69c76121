#include "engine/cpu/few_rows/row_window.h"

#include <algorithm>
#include <cstring>

#include "engine/targets.h"
#include "throughtime/index.h"

namespace throughtime::cpu {

namespace {

// What is small enough that the way there costs as much as the arithmetic.
constexpr int kMostUnits = 128;
constexpr int kMostOutputs = 128;

/// What the short way knows nothing of: masks, penalties, layers beside the recurrent ones and the head.
bool has_extras(const Model& model) {
  const DropoutConfig& dropout = model.config().dropout;
  const bool drops = dropout.input > 0 || dropout.between > 0 || dropout.output > 0 || dropout.logits > 0 ||
                     dropout.recurrent > 0 || dropout.embedding > 0;
  return drops || model.config().penalties.any() || model.embedding >= 0 || model.encoder_weight >= 0 ||
         model.config().head.hidden > 0 || model.head_layers().any();
}

}  // namespace

bool has_small_layers(const Model& model, const std::vector<RowKernels>& rows) {
  if (has_extras(model) || model.outputs() > kMostOutputs || model.inputs() > kMostUnits) return false;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const Layer& layer = model.layers()[k];
    if (!rows[k].forward || !rows[k].backward || layer.hidden > kMostUnits || layer.cell->fast_map.apply) return false;
  }
  return true;
}

RowWindow::RowWindow(const Model& model, const std::vector<RowKernels>& rows, SingleRows choice)
    : fits_(choice == SingleRows::in_one_piece && has_small_layers(model, rows)) {}

bool RowWindow::all_go_on(const Window& window) {
  return std::ranges::all_of(window.flags, [](StepFlag flag) { return flag == StepFlag::go_on; });
}

// ---------------------------------------------------------------- forth

void RowWindow::unroll(const Context& context, const UnrollArrays& call, Slice& slice) const {
  const int steps = call.window.steps;
  const bool keeps = call.keep != Keep::nothing;
  load_state(context, call.initial_state, slice);
  slice.loss = 0;
  slice.correct = 0;
  slice.penalties[0] = slice.penalties[1] = 0;
  slice.head_rows = 0;
  if (keeps) assign_loss_slots(call.window, slice);
  gather_inputs(context, call.window, call.training, slice, slice.all(), 0, steps, 0);
  for (std::size_t k = 0; k < slice.layers.size(); ++k) unroll_row(context, slice, k, steps, 0, 0, keeps, false);
  run_head(context, call, slice);
  for (std::size_t i = 0; i < call.state_steps.size() && call.states; ++i)
    store_state(context, slice, call.state_steps[i], call.states + i * elements(context.model.state_size()));
  if (call.final_state) store_state(context, slice, steps, call.final_state);
}

void RowWindow::run_head(const Context& context, const UnrollArrays& call, Slice& slice) const {
  const bool targets = call.window.targets.layout != TargetLayout::none;
  if (!targets && !call.predictions) return;
  for (int step = 0; step < call.window.steps; ++step)
    if (call.window.weight[elements(step)] != 0.0f) look_at(context, call, slice, step);
}

/// Outputs, prediction and loss of a step; what goes back from it, and what its gradient is made of, stays in the
/// slice.
void RowWindow::look_at(const Context& context, const UnrollArrays& call, Slice& slice, int step) const {
  const Model& model = context.model;
  const auto at = [&](int block) { return context.parameters + model.parameters().block(block).offset; };
  const std::size_t width = slice.layers.back().hidden, row = elements(slice.head_rows);
  const int outputs = model.outputs(), hidden = model.top_hidden();
  const float* h = slice.state(static_cast<int>(slice.layers.size()) - 1, 0, step + 1);
  float* z = slice.head.outputs.data() + row * (padded(elements(outputs)) + kSkew);
  context.row_products.outputs(model.linear_outputs(), hidden, h, at(model.head_weight), at(model.head_bias), z);
  if (model.head_constants >= 0)
    std::copy_n(at(model.head_constants), model.head().constants, z + model.linear_outputs());
  if (call.predictions) {
    float* prediction = call.predictions + elements(step, outputs);
    std::copy_n(z, outputs, prediction);
    context.head.predict(outputs, prediction);
  }
  if (call.window.targets.layout == TargetLayout::none) return;
  const RowTarget<float> target = row_target(model, call.window, step, 0);
  const float weight = call.window.weight[elements(step)];
  if (call.correct && std::max_element(z, z + outputs) - z == target.label) slice.correct += weight;
  const bool back = call.keep != Keep::nothing;
  const double loss = context.head.loss(outputs, z, target, weight, back ? z : nullptr);
  if (call.losses) call.losses[step] = static_cast<float>(loss);
  slice.loss += weight * loss;
  if (!back) return;
  context.row_products.send_back(model.linear_outputs(), hidden, z, at(model.head_weight), slice.sent_back(step, 0));
  std::memcpy(slice.head.hidden.data() + row * width, h, width * sizeof(float));
  ++slice.head_rows;
}

// ---------------------------------------------------------------- back

void RowWindow::pull_back(const Context& context, const PullBackArrays& call, float* gradient, Slice& slice) const {
  for (std::size_t k = slice.layers.size(); k-- > 0;) {
    pull_back_layer(context, call, slice, k);
    if (gradient)
      add_layer_gradient(context, k, {.steps = call.window.steps, .add = call.add},
                         slice.state(static_cast<int>(k), 0, 0), layer_input(slice, k, 0), slice, gradient);
  }
  if (gradient) add_head_gradient(context, call, slice, gradient);
}

/// Cotangents of the gates of all steps, from those that enter at the end, from the head or from the layer above; what
/// the layer below gets of them.
void RowWindow::pull_back_layer(const Context& context, const PullBackArrays& call, Slice& slice, std::size_t k) const {
  const Layer& layer = context.model.layers()[k];
  const std::size_t hidden = slice.layers[k].hidden;
  const int tensors = layer.cell->shape.states, steps = call.window.steps;
  LayerWork& work = slice.work[k];
  const auto place = [&](int tensor) { return elements(layer.state_offset) + elements(tensor, layer.hidden); };
  std::memset(work.cotangent.data(), 0, work.cotangent.bytes());
  for (int tensor = 0; tensor < tensors && call.end_cotangent; ++tensor)
    std::copy_n(call.end_cotangent + place(tensor), layer.hidden, work.cotangent.data() + tensor * hidden);
  const RowStrides strides = row_strides(layer, slice.layers[k]);
  RowEntering entering;
  if (k + 1 < slice.layers.size())
    entering = {slice.d_below.data(), nullptr};
  else if (call.losses && slice.head_rows > 0)
    entering = {slice.d_top.data(), slice.loss_slot.data()};
  pull_back_row(context, slice, k, 0, steps, 0, strides, false, entering);
  for (int tensor = 0; tensor < tensors && call.initial_cotangent; ++tensor)
    std::copy_n(work.cotangent.data() + tensor * hidden, layer.hidden, call.initial_cotangent + place(tensor));
  if (k > 0)
    multiply_panels(context.products, steps, work.d_input.data(), strides.d_input, context.packed.layers[k].input_back,
                    slice.d_below.data(), slice.layers[k].inputs, false);
}

void RowWindow::add_head_gradient(const Context& context, const PullBackArrays& call, const Slice& slice,
                                  float* gradient) const {
  const Model& model = context.model;
  const auto at = [&](int block) { return gradient + model.parameters().block(block).offset; };
  const int losses = call.losses ? slice.head_rows : 0;  // none: zeros, or what is there stays
  const std::size_t stride = padded(elements(model.outputs())) + kSkew;
  context.row_products.weight_gradient({.steps = losses,
                                        .rows = model.linear_outputs(),
                                        .columns = model.top_hidden(),
                                        .d = slice.head.outputs.data(),
                                        .d_stride = stride,
                                        .x = slice.head.hidden.data(),
                                        .x_stride = slice.layers.back().hidden,
                                        .gradient = at(model.head_weight),
                                        .add = call.add});
  RowGateGradient bias{.steps = losses, .groups = 1, .rows = model.linear_outputs(), .d = slice.head.outputs.data()};
  bias.d_stride = stride;
  bias.bias = at(model.head_bias);
  bias.add = call.add;
  context.row_products.gate_gradient(bias);
  if (model.head_constants < 0) return;
  bias.rows = model.head().constants;
  bias.d += model.linear_outputs();
  bias.bias = at(model.head_constants);
  context.row_products.gate_gradient(bias);
}

}  // namespace throughtime::cpu

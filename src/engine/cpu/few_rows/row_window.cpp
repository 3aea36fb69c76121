#include "engine/cpu/few_rows/row_window.h"

#include <algorithm>
#include <cstring>
#include <span>

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

void RowWindow::unroll(const Context& context, const UnrollArrays& call, Slice& slice, RowPlan& plan) {
  const int steps = call.window.steps;
  const bool keeps = call.keep != Keep::nothing;
  plan.aim(context, slice, steps, keeps);
  for (const RowPlan::Tensor& tensor : plan.tensors)
    if (call.initial_state)
      context.products.copy_rows(false, 1, tensor.size, call.initial_state + tensor.at, 0, tensor.before, 0);
    else
      std::fill_n(tensor.before, tensor.size, 0.0f);
  slice.loss = 0;
  slice.correct = 0;
  slice.penalties[0] = slice.penalties[1] = 0;
  slice.head_rows = 0;
  if (keeps) assign_loss_slots(call.window, slice);
  gather(call.window, plan.input);
  for (std::size_t k = 0; k < plan.layers.size(); ++k) context.rows[k].forward(plan.layers[k].forth);
  run_head(context, call, slice, plan.head);
  for (std::size_t i = 0; i < call.state_steps.size() && call.states; ++i)
    store_state(context, slice, call.state_steps[i], call.states + i * elements(context.model.state_size()));
  if (!call.final_state) return;
  for (const RowPlan::Tensor& tensor : plan.tensors)
    context.products.copy_rows(false, 1, tensor.size, tensor.after, 0, call.final_state + tensor.at, 0);
}

/// A one-hot token, then reals, of each step; zero outside of the source.
void RowWindow::gather(const Window& window, const RowPlan::Input& input) {
  const Place first = place_at(window, 0, 0);
  const Source& source = *first.source;
  const std::int64_t index = first.index, steps = window.steps;
  const std::int64_t begin = std::clamp<std::int64_t>(-index, 0, steps);
  const std::int64_t end = std::clamp(static_cast<std::int64_t>(source.steps) - index, begin, steps);
  if (input.vocabulary > 0 || end - begin < steps)
    std::memset(input.to, 0, elements(steps) * input.stride * sizeof(float));
  if (input.vocabulary > 0) {
    const std::int32_t* tokens = source.tokens.data();
    for (std::int64_t l = begin; l < end; ++l)
      input.to[elements(l) * input.stride + elements(tokens[index + l])] = 1.0f;
  }
  if (input.reals == 0 || begin == end) return;
  const float* reals = source.values.data() + (index + begin) * input.reals;
  float* to = input.to + elements(begin) * input.stride + input.vocabulary;
  for (std::int64_t l = begin; l < end; ++l, reals += input.reals, to += input.stride)
    if (input.reals == 1)
      *to = *reals;
    else
      std::copy_n(reals, input.reals, to);
}

void RowWindow::run_head(const Context& context, const UnrollArrays& call, Slice& slice, const RowPlan::Head& head) {
  const bool targets = call.window.targets.layout != TargetLayout::none;
  if (!targets && !call.predictions) return;
  for (int step = 0; step < call.window.steps; ++step)
    if (call.window.weight[elements(step)] != 0.0f) look_at(context, call, slice, head, step);
}

/// Outputs, prediction and loss of a step; what goes back from it, and what its gradient is made of, stays in the
/// slice.
void RowWindow::look_at(const Context& context, const UnrollArrays& call, Slice& slice, const RowPlan::Head& head,
                        int step) {
  const std::size_t row = elements(slice.head_rows);
  const float* h = slice.state(static_cast<int>(slice.layers.size()) - 1, 0, step + 1);
  float* z = head.z + row * head.stride;
  context.row_products.outputs(head.linear, head.hidden, h, head.weight, head.bias, z);
  if (head.constants) std::copy_n(head.constants, head.outputs - head.linear, z + head.linear);
  if (call.predictions) {
    float* prediction = call.predictions + elements(step, head.outputs);
    std::copy_n(z, head.outputs, prediction);
    context.head.predict(head.outputs, prediction);
  }
  if (call.window.targets.layout == TargetLayout::none) return;
  const RowTarget<float> target = row_target(context.model, call.window, step, 0);
  const float weight = call.window.weight[elements(step)];
  if (call.correct && std::max_element(z, z + head.outputs) - z == target.label) slice.correct += weight;
  const bool back = call.keep != Keep::nothing;
  const double loss = context.head.loss(head.outputs, z, target, weight, back ? z : nullptr);
  if (call.losses) call.losses[step] = static_cast<float>(loss);
  slice.loss += weight * loss;
  if (!back) return;
  context.row_products.send_back(head.linear, head.hidden, z, head.weight, slice.sent_back(step, 0));
  std::memcpy(head.features + row * head.width, h, head.width * sizeof(float));
  ++slice.head_rows;
}

// ---------------------------------------------------------------- back

void RowWindow::pull_back(const Context& context, const PullBackArrays& call, float* gradient, Slice& slice,
                          RowPlan& plan) {
  if (gradient) plan.aim_gradient(context, slice, gradient, call.add);
  for (std::size_t k = plan.layers.size(); k-- > 0;) {
    pull_back_layer(context, call, slice, plan, k);
    if (gradient) plan.layers[k].gradient.run(context.row_products);
  }
  if (gradient) add_head_gradient(context, call.losses ? slice.head_rows : 0, plan.head);
}

/// Cotangents of the gates of all steps, from those that enter at the end, from the head or from the layer above; what
/// the layer below gets of them.
void RowWindow::pull_back_layer(const Context& context, const PullBackArrays& call, Slice& slice, RowPlan& plan,
                                std::size_t k) {
  RowPlan::RowLayer& layer = plan.layers[k];
  const std::span<const RowPlan::Tensor> tensors(plan.tensors.data() + layer.first_tensor,
                                                 plan.tensors.data() + layer.last_tensor);
  std::memset(layer.back.cotangent, 0, layer.cotangents * sizeof(float));
  for (const RowPlan::Tensor& tensor : tensors)
    if (call.end_cotangent)
      context.products.copy_rows(false, 1, tensor.size, call.end_cotangent + tensor.at, 0, tensor.cotangent, 0);
  const bool enters = k + 1 < plan.layers.size() || (call.losses && slice.head_rows > 0);
  const float* entering = enters ? layer.entering : nullptr;
  if (layer.back.entering != entering) layer.back.entering = entering;  // what was just written is slow to read
  context.rows[k].backward(layer.back);
  for (const RowPlan::Tensor& tensor : tensors)
    if (call.initial_cotangent)
      context.products.copy_rows(false, 1, tensor.size, tensor.cotangent, 0, call.initial_cotangent + tensor.at, 0);
  if (k > 0)
    multiply_panels(context.products, layer.back.steps, layer.back.d_input, layer.back.d_input_stride,
                    context.packed.layers[k].input_back, slice.d_below.data(), slice.layers[k].inputs, false);
}

/// `losses` 0: zeros, or what is there stays.
void RowWindow::add_head_gradient(const Context& context, int losses, RowPlan::Head& head) {
  if (head.weight_gradient.steps != losses)
    head.weight_gradient.steps = head.bias_gradient.steps = head.constant_gradient.steps = losses;
  context.row_products.weight_gradient(head.weight_gradient);
  context.row_products.gate_gradient(head.bias_gradient);
  if (head.constants) context.row_products.gate_gradient(head.constant_gradient);
}

}  // namespace throughtime::cpu

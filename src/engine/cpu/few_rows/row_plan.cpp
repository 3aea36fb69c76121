#include "engine/cpu/few_rows/row_plan.h"

#include "engine/cpu/passes.h"
#include "throughtime/index.h"

namespace throughtime::cpu {

RowPlan::RowPlan(const Model& model) : layers(model.layers().size()) {
  for (std::size_t k = 0; k < layers.size(); ++k) {
    const Layer& layer = model.layers()[k];
    layers[k].first_tensor = static_cast<int>(tensors.size());
    for (int tensor = 0; tensor < layer.cell->shape.states; ++tensor)
      tensors.push_back(
          {.at = elements(layer.state_offset) + elements(tensor, layer.hidden), .size = elements(layer.hidden)});
    layers[k].last_tensor = static_cast<int>(tensors.size());
  }
  input.vocabulary = model.config().input.vocabulary;
  input.reals = model.config().input.reals;
  head.outputs = model.outputs();
  head.linear = model.linear_outputs();
  head.hidden = model.top_hidden();
  head.stride = padded(elements(model.outputs())) + kSkew;
}

const float* RowPlan::parameters_of(const Context& context) { return context.parameters; }

void RowPlan::make(const Context& context, Slice& slice, int steps, bool back) {
  parameters_ = context.parameters;
  steps_ = steps;
  gradient_ = nullptr;
  input.to = slice.layers.front().input.data();
  input.stride = slice.layers.front().inputs;
  for (std::size_t k = 0; k < layers.size(); ++k) {
    const int index = static_cast<int>(k);
    const std::size_t hidden = slice.layers[k].hidden;
    RowLayer& layer = layers[k];
    layer.forth = steps_forth(context, slice, k, steps, 0, 0, back, false);
    layer.cotangents = elements(layer.last_tensor - layer.first_tensor) * hidden;
    for (int i = 0; i < layer.last_tensor - layer.first_tensor; ++i) {
      Tensor& tensor = tensors[elements(layer.first_tensor + i)];
      tensor.before = slice.state(index, i, 0);
      tensor.after = slice.state(index, i, steps);
      tensor.cotangent = back ? slice.work[k].cotangent.data() + i * hidden : nullptr;
    }
    if (!back) continue;
    const bool top = k + 1 == layers.size();
    layer.back =
        steps_back(context, slice, k, 0, steps, 0, row_strides(context.model.layers()[k], slice.layers[k]), false);
    layer.entering = top ? slice.d_top.data() : slice.d_below.data();
    layer.back.entering_slot = top ? slice.loss_slot.data() : nullptr;
  }
  make_head(context, slice);
}

void RowPlan::make_head(const Context& context, Slice& slice) {
  const Model& model = context.model;
  const auto at = [&](int block) { return context.parameters + model.parameters().block(block).offset; };
  head.weight = at(model.head_weight);
  head.bias = at(model.head_bias);
  head.constants = model.head_constants < 0 ? nullptr : at(model.head_constants);
  head.z = slice.head.outputs.data();
  head.features = slice.head.hidden.data();
  head.width = slice.layers.back().hidden;
}

void RowPlan::make_gradient(const Context& context, Slice& slice, float* gradient, bool add) {
  const Model& model = context.model;
  gradient_ = gradient;
  add_ = add;
  for (std::size_t k = 0; k < layers.size(); ++k)
    layers[k].gradient =
        layer_gradient(context, k, {.steps = steps_, .add = add}, slice.state(static_cast<int>(k), 0, 0),
                       layer_input(slice, k, 0), slice, gradient);
  const auto at = [&](int block) { return gradient + model.parameters().block(block).offset; };
  head.weight_gradient = {.rows = head.linear,
                          .columns = head.hidden,
                          .d = head.z,
                          .d_stride = head.stride,
                          .x = head.features,
                          .x_stride = head.width,
                          .gradient = at(model.head_weight),
                          .add = add};
  head.bias_gradient = {.groups = 1, .rows = head.linear, .d = head.z, .d_stride = head.stride};
  head.bias_gradient.bias = at(model.head_bias);
  head.bias_gradient.add = add;
  if (!head.constants) return;
  head.constant_gradient = head.bias_gradient;
  head.constant_gradient.rows = model.head().constants;
  head.constant_gradient.d += head.linear;
  head.constant_gradient.bias = at(model.head_constants);
}

}  // namespace throughtime::cpu

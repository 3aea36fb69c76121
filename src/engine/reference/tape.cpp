#include "engine/reference/tape.h"

#include <algorithm>

#include "throughtime/index.h"

namespace throughtime::reference {
namespace {

std::vector<std::size_t> saved_offsets(const Model& model) {
  std::vector<std::size_t> offsets = {0};
  for (const Layer& layer : model.layers())
    offsets.push_back(offsets.back() + elements(layer.cell->shape.saved, layer.hidden));
  return offsets;
}

std::vector<std::size_t> input_offsets(const Model& model) {
  std::vector<std::size_t> offsets = {0};
  for (const Layer& layer : model.layers()) offsets.push_back(offsets.back() + elements(layer.inputs));
  return offsets;
}

}  // namespace

Workspace::Workspace(const Model& model, int batch) {
  int input_width = model.inputs(), input_rows = 0, recurrent_rows = 0, hidden = 0;
  for (const Layer& layer : model.layers()) {
    const CellShape& shape = layer.cell->shape;
    const std::size_t matrix = elements(shape.recurrent_rows, layer.hidden) * layer.hidden;
    effective.emplace_back(matrix);
    d_effective.emplace_back(matrix);
    const bool drops = model.config().dropout.recurrent > 0 && layer.weight_hh >= 0;
    recurrent_mask.emplace_back(drops ? model.parameters().block(layer.weight_hh).size() : 0);
    if (raw_weights.size() < recurrent_mask.back().size()) raw_weights.resize(recurrent_mask.back().size());
    input_width = std::max(input_width, layer.inputs);
    input_rows = std::max(input_rows, shape.input_rows * layer.hidden);
    recurrent_rows = std::max(recurrent_rows, shape.recurrent_rows * layer.hidden);
    hidden = std::max(hidden, layer.hidden);
  }
  const auto size = [](int n) { return elements(n); };
  const HeadLayers& head = model.head_layers();
  if (head.any()) {
    for (const HeadLayers::Linear& linear : head.linear) own.emplace_back(size(linear.outputs));
    branch_inputs.resize(elements(head.branches, head.width));
    branch_outputs.resize(elements(head.branches, model.outputs()));
    head_scratch.resize(LayeredKernels<double>::scratch_per_branch * size(head.branches));
  }
  zero_state.resize(size(model.state_size()));
  for (auto* vector : {&raw_input, &d_raw_input}) vector->resize(size(model.raw_inputs()));
  mask.resize(std::max(size(std::max({input_width, hidden, model.outputs()})), branch_inputs.size()));
  for (auto* vector : {&input_gates, &d_input_gates}) vector->resize(size(input_rows));
  for (auto* vector : {&recurrent_gates, &d_recurrent_gates}) vector->resize(size(recurrent_rows));
  d_gated.resize(size(hidden));
  d_inputs.resize(size(input_width));
  for (auto* vector : {&features, &d_features}) vector->resize(size(model.top_hidden()));
  for (auto* vector : {&inner, &d_inner}) vector->resize(size(model.config().head.hidden));
  for (auto* vector : {&outputs, &d_outputs, &target}) vector->resize(size(model.outputs()));
  d_state.resize(size(batch) * size(model.state_size()));
  d_before.resize(size(model.state_size()));
  difference_scale.resize(size(batch));
}

std::size_t Workspace::bytes() const {
  std::size_t numbers = 0;
  for (const auto& matrix : effective) numbers += 2 * matrix.size();
  for (const auto& mask : recurrent_mask) numbers += mask.size();
  for (const auto& outputs_of_layer : own) numbers += outputs_of_layer.size();
  for (const auto* vector :
       {&raw_weights,   &zero_state,      &raw_input,         &d_raw_input,   &mask,           &input_gates,
        &d_input_gates, &recurrent_gates, &d_recurrent_gates, &d_gated,       &d_inputs,       &features,
        &d_features,    &inner,           &d_inner,           &outputs,       &d_outputs,      &target,
        &d_state,       &d_before,        &difference_scale,  &branch_inputs, &branch_outputs, &head_scratch})
    numbers += vector->size();
  return numbers * sizeof(double);
}

ReferenceTape::ReferenceTape(const Model& model, const TapeShape& shape)
    : Tape(shape),
      model(model),
      work(model, shape.batch),
      saved_offset_(saved_offsets(model)),
      input_offset_(input_offsets(model)),
      states_(shape.keep == Keep::nothing ? 2 : shape.steps + 1, shape.batch, elements(model.state_size())),
      saved_(shape.keep == Keep::nothing ? 1 : shape.steps, shape.batch, saved_offset_.back()),
      inputs_(shape.keep == Keep::gradient ? shape.steps : 1, shape.batch, input_offset_.back()) {}

std::size_t ReferenceTape::activation_bytes() const {
  switch (shape().keep) {
    case Keep::nothing:
      return 0;
    case Keep::state:
      return states_.bytes() + saved_.bytes();
    case Keep::gradient:
      return states_.bytes() + saved_.bytes() + inputs_.bytes();
  }
  return 0;
}

std::size_t ReferenceTape::bytes() const { return states_.bytes() + saved_.bytes() + inputs_.bytes() + work.bytes(); }

}  // namespace throughtime::reference

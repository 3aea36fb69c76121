#include "engine/cpu/passes.h"
#include "throughtime/index.h"

namespace throughtime::cpu {

RowLayerGradient layer_gradient(const Context& context, std::size_t k, RowSpan span, const float* before,
                                const float* input, const Slice& slice, float* gradient) {
  const Model& model = context.model;
  const Layer& layer = model.layers()[k];
  const CellShape& shape = layer.cell->shape;
  const LayerTape& tape = slice.layers[k];
  const LayerWork& work = slice.work[k];
  const auto at = [&](int block) { return block < 0 ? nullptr : gradient + model.parameters().block(block).offset; };
  const RowStrides strides = row_strides(layer, tape);
  const RowGateGradient nothing{.steps = span.steps, .rows = layer.hidden, .block = tape.hidden, .add = span.add};

  RowLayerGradient calls;
  RowGateGradient& gates = calls.gates;
  gates = nothing;
  gates.groups = shape.input_rows;
  gates.d = work.d_input.data();
  gates.d_stride = strides.d_input;
  gates.bias = at(layer.bias_ih);
  gates.another = shape.joint ? at(layer.bias_hh) : nullptr;  // a joint cell's two biases receive the same
  if (narrow(layer.inputs)) {
    gates.inputs = layer.inputs;
    gates.x = input;
    gates.x_stride = tape.inputs;
    gates.weights = at(layer.weight_ih);
  } else {
    calls.input = {.steps = span.steps,
                   .groups = shape.input_rows,
                   .rows = layer.hidden,
                   .columns = layer.inputs,
                   .d = work.d_input.data(),
                   .d_stride = strides.d_input,
                   .block = tape.hidden,
                   .x = input,
                   .x_stride = tape.inputs,
                   .gradient = at(layer.weight_ih),
                   .add = span.add};
  }
  if (shape.recurrent_rows == 0) return calls;
  calls.recurrent = {.steps = span.steps,
                     .groups = shape.recurrent_rows,
                     .rows = layer.hidden,
                     .columns = layer.hidden,
                     .d = shape.joint ? work.d_input.data() : work.d_recurrent.data(),
                     .d_stride = strides.d_recurrent,
                     .block = tape.hidden,
                     .x = before,
                     .x_stride = tape.hidden,
                     .gradient = at(layer.weight_hh),
                     .add = span.add};
  if (shape.joint || layer.bias_hh < 0) return calls;
  calls.recurrent_gates = nothing;
  calls.recurrent_gates.groups = shape.recurrent_rows;
  calls.recurrent_gates.d = calls.recurrent.d;
  calls.recurrent_gates.d_stride = strides.d_recurrent;
  calls.recurrent_gates.bias = at(layer.bias_hh);
  return calls;
}

}  // namespace throughtime::cpu

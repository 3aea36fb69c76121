#include "engine/cpu/passes.h"
#include "throughtime/index.h"

namespace throughtime::cpu {

namespace {

/// Gradients of weights [groups * H, columns] whose rows' cotangents are `call.d`: group by group, or all at once where
/// no padding lies between groups.
void add_groups(const RowProducts& products, RowWeightGradient call, int groups, std::size_t block) {
  const int hidden = call.rows;
  const bool joined = block == elements(hidden);
  if (joined) call.rows = groups * hidden;
  for (int group = 0; group < (joined ? 1 : groups); ++group) {
    products.weight_gradient(call);
    call.d += block;
    call.gradient += elements(hidden, call.columns);
  }
}

}  // namespace

void add_layer_gradient(const Context& context, std::size_t k, RowSpan span, const float* before, const float* input,
                        const Slice& slice, float* gradient) {
  const Model& model = context.model;
  const Layer& layer = model.layers()[k];
  const CellShape& shape = layer.cell->shape;
  const LayerTape& tape = slice.layers[k];
  const LayerWork& work = slice.work[k];
  const auto at = [&](int block) { return block < 0 ? nullptr : gradient + model.parameters().block(block).offset; };
  const RowStrides strides = row_strides(layer, tape);
  const bool few = narrow(layer.inputs);

  RowGateGradient gates{.steps = span.steps, .groups = shape.input_rows, .rows = layer.hidden};
  gates.d = work.d_input.data();
  gates.d_stride = strides.d_input;
  gates.block = tape.hidden;
  gates.bias = at(layer.bias_ih);
  gates.another = shape.joint ? at(layer.bias_hh) : nullptr;  // a joint cell's two biases receive the same
  gates.add = span.add;
  if (few)
    gates.inputs = layer.inputs, gates.x = input, gates.x_stride = tape.inputs, gates.weights = at(layer.weight_ih);
  context.row_products.gate_gradient(gates);

  RowWeightGradient weights{.steps = span.steps, .rows = layer.hidden, .add = span.add};
  if (!few) {
    weights.columns = layer.inputs;
    weights.d = work.d_input.data();
    weights.d_stride = strides.d_input;
    weights.x = input;
    weights.x_stride = tape.inputs;
    weights.gradient = at(layer.weight_ih);
    add_groups(context.row_products, weights, shape.input_rows, tape.hidden);
  }
  if (shape.recurrent_rows == 0) return;
  const float* d_recurrent = shape.joint ? work.d_input.data() : work.d_recurrent.data();
  weights.columns = layer.hidden;
  weights.d = d_recurrent;
  weights.d_stride = strides.d_recurrent;
  weights.x = before;
  weights.x_stride = tape.hidden;
  weights.gradient = at(layer.weight_hh);
  add_groups(context.row_products, weights, shape.recurrent_rows, tape.hidden);
  if (shape.joint || layer.bias_hh < 0) return;
  gates = {.steps = span.steps, .groups = shape.recurrent_rows, .rows = layer.hidden, .d = d_recurrent};
  gates.d_stride = strides.d_recurrent;
  gates.block = tape.hidden;
  gates.bias = at(layer.bias_hh);
  gates.add = span.add;
  context.row_products.gate_gradient(gates);
}

}  // namespace throughtime::cpu

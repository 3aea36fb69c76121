#include "engine/cpu/passes.h"
#include "throughtime/index.h"

namespace throughtime::cpu {

bool runs_alone(const Context& context, const Slice& slice, std::size_t k) {
  return slice.rows == 1 && context.rows[k].forward;
}

void unroll_row(const Context& context, Slice& slice, std::size_t k, int steps, int slot, int saved_slot, bool keeps,
                bool reset) {
  const Layer& layer = context.model.layers()[k];
  const PackedLayer& packed = context.packed.layers[k];
  LayerTape& tape = slice.layers[k];
  RowForward call;
  call.steps = steps;
  call.inputs = layer.inputs;
  call.hidden = layer.hidden;
  call.units = static_cast<int>(tape.hidden);
  call.panel_units = packed.input.units(0);
  call.options = &layer.options;
  call.input = layer_input(slice, k, slot);
  call.input_stride = tape.inputs;
  call.input_weights = packed.input.panel(0);
  call.recurrent_weights = packed.recurrent.panel(0);
  call.input_bias = packed.input_bias.data();
  call.recurrent_bias = packed.recurrent_bias.data();
  call.before = reset ? slice.work[k].state.data() : nullptr;
  call.states = slice.state(static_cast<int>(k), 0, slot);
  call.state_plane = tape.state_plane;
  call.saved = tape.saved.data() + elements(saved_slot, tape.hidden);
  call.saved_plane = tape.saved_plane;
  call.saved_step = keeps ? tape.hidden : 0;
  context.rows[k].forward(call);
}

RowStrides row_strides(const Layer& layer, const LayerTape& tape) {
  const CellShape& shape = layer.cell->shape;
  const std::size_t input = shape.input_rows * tape.hidden + kSkew;
  return {input, shape.joint ? input : shape.recurrent_rows * tape.hidden + kSkew};
}

void pull_back_row(const Context& context, Slice& slice, std::size_t k, int first, int last, int chunk_step,
                   RowStrides strides, bool reset, RowEntering entering) {
  const Layer& layer = context.model.layers()[k];
  const BackwardPanels& panels = context.packed.layers[k].recurrent_back;
  LayerTape& tape = slice.layers[k];
  LayerWork& work = slice.work[k];
  RowBackward call;
  call.steps = last - first;
  call.hidden = layer.hidden;
  call.units = static_cast<int>(tape.hidden);
  call.panel_columns = kPanel;
  call.options = &layer.options;
  call.weights = panels.panel(0);
  call.before = reset ? work.state.data() : nullptr;
  call.states = slice.state(static_cast<int>(k), 0, first);
  call.state_plane = tape.state_plane;
  call.saved = tape.saved.data() + elements(first, tape.hidden);
  call.saved_plane = tape.saved_plane;
  call.saved_step = tape.hidden;
  call.cotangent = work.cotangent.data();
  call.entering = entering.numbers;
  call.entering_slot = entering.slot;
  call.d_input = work.d_input.data() + elements(chunk_step, strides.d_input);
  call.d_recurrent = work.d_recurrent.data() + elements(chunk_step, strides.d_recurrent);
  call.d_input_stride = strides.d_input;
  call.d_recurrent_stride = strides.d_recurrent;
  context.rows[k].backward(call);
}

}  // namespace throughtime::cpu

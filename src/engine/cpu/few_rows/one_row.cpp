#include "engine/cpu/passes.h"
#include "throughtime/index.h"

namespace throughtime::cpu {

bool runs_alone(const Context& context, const Slice& slice, std::size_t k) {
  return slice.rows == 1 && context.rows[k].forward;
}

RowForward steps_forth(const Context& context, Slice& slice, std::size_t k, int steps, int slot, int saved_slot,
                       bool keeps, bool reset, UnitRange units) {
  const Layer& layer = context.model.layers()[k];
  const PackedLayer& packed = context.packed.layers[k];
  LayerTape& tape = slice.layers[k];
  // Named one by one: clearing the whole first costs as much as a step of a small net.
  return {.steps = steps,
          .inputs = layer.inputs,
          .hidden = layer.hidden,
          .units = static_cast<int>(tape.hidden),
          .panel_units = packed.input.units(0),
          .first_unit = units.first,
          .last_unit = units.last,
          .options = &layer.options,
          .input = layer_input(slice, k, slot),
          .input_stride = tape.inputs,
          .input_weights = packed.input.panel(0),
          .recurrent_weights = packed.recurrent.panel(0),
          .input_bias = packed.input_bias.data(),
          .recurrent_bias = packed.recurrent_bias.data(),
          .before = reset ? slice.work[k].state.data() : nullptr,
          .states = slice.state(static_cast<int>(k), 0, slot),
          .saved = tape.saved.data() + elements(saved_slot, tape.hidden),
          .state_plane = tape.state_plane,
          .saved_plane = tape.saved_plane,
          .saved_step = keeps ? tape.hidden : 0};
}

RowStrides row_strides(const Layer& layer, const LayerTape& tape) {
  const CellShape& shape = layer.cell->shape;
  const std::size_t input = shape.input_rows * tape.hidden + kSkew;
  return {input, shape.joint ? input : shape.recurrent_rows * tape.hidden + kSkew};
}

RowBackward steps_back(const Context& context, Slice& slice, std::size_t k, int first, int last, int chunk_step,
                       RowStrides strides, bool reset, RowBackPart part) {
  const Layer& layer = context.model.layers()[k];
  const BackwardPanels& panels = context.packed.layers[k].recurrent_back;
  LayerTape& tape = slice.layers[k];
  LayerWork& work = slice.work[k];
  return {.steps = last - first,
          .hidden = layer.hidden,
          .units = static_cast<int>(tape.hidden),
          .panel_columns = kPanel,
          .first_unit = part.units.first,
          .last_unit = part.units.last,
          .gates = part.gates,
          .products = part.products,
          .options = &layer.options,
          .weights = panels.panel(0),
          .before = reset ? work.state.data() : nullptr,
          .states = slice.state(static_cast<int>(k), 0, first),
          .saved = tape.saved.data() + elements(first, tape.hidden),
          .state_plane = tape.state_plane,
          .saved_plane = tape.saved_plane,
          .saved_step = tape.hidden,
          .cotangent = work.cotangent.data(),
          .d_input = work.d_input.data() + elements(chunk_step, strides.d_input),
          .d_recurrent = work.d_recurrent.data() + elements(chunk_step, strides.d_recurrent),
          .d_input_stride = strides.d_input,
          .d_recurrent_stride = strides.d_recurrent};
}

}  // namespace throughtime::cpu

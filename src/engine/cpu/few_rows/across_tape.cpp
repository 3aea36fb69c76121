#include "engine/cpu/few_rows/across_tape.h"

#include <algorithm>

#include "engine/cpu/products.h"
#include "throughtime/index.h"

namespace throughtime::cpu {

AcrossTape::AcrossTape(const Model& model, const TapeShape& shape) {
  const std::size_t steps = elements(shape.steps), outs = elements(model.outputs());
  const bool back = shape.keep != Keep::nothing;
  blocks = static_cast<int>((elements(shape.batch) + kAcross - 1) / kAcross);
  const std::size_t of_step = elements(blocks) * kAcross;  // of one number of a unit
  std::size_t widest = 0;
  for (const Layer& layer : model.layers()) {
    const CellShape& cell = layer.cell->shape;
    AcrossLayer own;
    own.width = elements(layer.hidden) * kAcross;
    own.step = elements(layer.hidden) * of_step;
    own.state_plane = (steps + 1) * own.step;
    own.saved_plane = steps * own.step;
    own.states = AlignedArray<float>(cell.states * own.state_plane);
    own.saved = AlignedArray<float>(cell.saved * own.saved_plane);
    if (back) {
      own.cotangent = AlignedArray<float>(cell.states * own.step);
      own.d_input = AlignedArray<float>(cell.input_rows * steps * own.step);
      if (!cell.joint) own.d_recurrent = AlignedArray<float>(cell.recurrent_rows * steps * own.step);
    }
    if (!layers.empty()) widest = std::max(widest, elements(layer.inputs));
    layers.push_back(std::move(own));
  }
  input = AlignedArray<float>(steps * elements(model.inputs()) * of_step);
  outputs = AlignedArray<float>(outs * kAcross);
  rows = AlignedArray<float>(kAcross * padded(outs));
  loss_slot.resize(steps);
  if (!back) return;
  const std::size_t most = shape.losses == 0 ? steps : elements(std::min(shape.losses, shape.steps));
  d_below = AlignedArray<float>(steps * widest * of_step);
  features = AlignedArray<float>(most * layers.back().step);
  d_top = AlignedArray<float>(most * layers.back().step);
  d_outputs = AlignedArray<float>(most * outs * of_step);
}

std::size_t AcrossTape::bytes() const {
  std::size_t sum = 0;
  for (const AlignedArray<float>* array : {&input, &d_below, &outputs, &rows, &features, &d_top, &d_outputs})
    sum += array->bytes();
  for (const AcrossLayer& layer : layers)
    for (const AlignedArray<float>* array :
         {&layer.states, &layer.saved, &layer.cotangent, &layer.d_input, &layer.d_recurrent})
      sum += array->bytes();
  return sum;
}

}  // namespace throughtime::cpu

#include "engine/cuda/tape.h"

#include <algorithm>

#include "engine/checks.h"
#include "engine/cuda/kernels/heads.h"
#include "engine/cuda/kernels/narrow.h"
#include "engine/cuda/products.h"
#include "engine/dropout.h"
#include "throughtime/error.h"

namespace throughtime::cuda {
namespace {

constexpr std::size_t gates_in_cache = std::size_t{8} << 20;  // numbers of a piece's gates: half of an H200's L2
constexpr std::size_t most_outputs = std::size_t{64} << 20;   // numbers of the head's outputs at a time

/// Widths that decide how large the workspaces are.
struct Widths {
  explicit Widths(const Model& model) {
    for (const Layer& layer : model.layers()) {
      const CellShape& shape = layer.cell->shape;
      input_gates = std::max(input_gates, shape.input_rows * layer.hidden);
      recurrent_gates = std::max(recurrent_gates, shape.recurrent_rows * layer.hidden);
      if (!shape.joint) apart_gates = std::max(apart_gates, shape.recurrent_rows * layer.hidden);
      if (shape.late_rows > 0) gated = std::max(gated, layer.hidden);
      hidden = std::max(hidden, layer.hidden);
      inputs = std::max(inputs, layer.inputs);
    }
    widest = std::max({input_gates, recurrent_gates, inputs, model.outputs(), model.config().head.hidden});
    for (const HeadLayers::Linear& own : model.head_layers().linear) widest = std::max(widest, own.outputs);
  }
  int input_gates = 0, recurrent_gates = 0, apart_gates = 0, gated = 0, hidden = 0, inputs = 0, widest = 0;
};

int piece_of(const Model& model, const TapeShape& shape) {
  const Widths widths(model);
  const std::size_t step = elements(shape.batch, std::max(widths.input_gates, widths.inputs));
  const auto steps = static_cast<int>(std::min<std::size_t>(gates_in_cache / step, 1024));
  return std::clamp(steps, std::min(16, shape.steps), shape.steps);
}

/// Rows of a chunk that goes through the head: the more outputs a row has (those of all its branches), the fewer.
int rows_of_head(const Model& model, const TapeShape& shape) {
  const std::size_t steps = shape.losses > 0 ? elements(std::min(shape.losses, shape.steps)) : elements(shape.steps);
  const std::size_t outputs = elements(model.head_layers().branches, model.outputs());
  const std::size_t most = std::max<std::size_t>(1, most_outputs / outputs);
  return static_cast<int>(std::min(steps * elements(shape.batch), most));
}

/// Room for the parts of every product of weights' gradients.
std::size_t parts_size(const Model& model, int rows, int head_rows) {
  std::size_t most = 0;
  const auto add = [&](int n, int inputs, int outputs) {
    const int parts = most_gradient_parts(n, inputs, outputs);
    if (parts > 1) most = std::max(most, elements(parts, inputs, outputs));
  };
  for (const Layer& layer : model.layers()) {
    add(rows, layer.inputs, layer.cell->shape.input_rows * layer.hidden);
    add(rows, layer.hidden, layer.cell->shape.recurrent_rows * layer.hidden);
  }
  if (model.encoder_weight >= 0) add(rows, model.raw_inputs(), model.inputs());
  const int hidden = model.config().head.hidden;
  if (hidden > 0) add(head_rows, model.top_hidden(), hidden);
  for (const HeadLayers::Linear& own : model.head_layers().linear) add(head_rows, model.top_hidden(), own.outputs);
  add(head_rows * model.head_layers().branches, model.last_width(), model.linear_outputs());
  return most;
}

int slots_of(const TapeShape& shape, int piece) { return shape.keep == Keep::nothing ? piece : shape.steps; }

LayerTape make_layer(const Model& model, std::size_t k, const TapeShape& shape, int slots) {
  const Layer& layer = model.layers()[k];
  const CellShape& cell = layer.cell->shape;
  LayerTape tape;
  tape.state_plane = elements(slots + 1, shape.batch, layer.hidden);
  tape.saved_plane = elements(slots, shape.batch, layer.hidden);
  tape.states = DeviceArray<float>(elements(cell.states) * tape.state_plane);
  // A gated state is read by the late product even where nothing is kept.
  if (shape.keep != Keep::nothing || cell.late_rows > 0)
    tape.saved = DeviceArray<float>(elements(cell.saved) * tape.saved_plane);
  const bool own_inputs = k == 0 || between_dropout(model.config().dropout, static_cast<int>(k)).active();
  if (own_inputs) tape.inputs = DeviceArray<float>(elements(slots, shape.batch, layer.inputs));
  if (shape.keep != Keep::nothing) tape.carry = DeviceArray<float>(elements(cell.states, shape.batch, layer.hidden));
  if (layer.cell->raw_shape) {
    const std::size_t matrix = elements(cell.recurrent_rows * layer.hidden, layer.hidden);
    tape.effective = DeviceArray<float>(matrix);
    if (shape.keep == Keep::gradient) tape.d_effective = DeviceArray<float>(matrix);
  }
  if (recurrent_dropout(model.config().dropout, static_cast<int>(k)).active() && layer.weight_hh >= 0) {
    const std::size_t block = model.parameters().block(layer.weight_hh).size();
    tape.dropped = DeviceArray<float>(block);
    if (shape.keep == Keep::gradient) tape.d_dropped = DeviceArray<float>(block);
  }
  return tape;
}

PieceSpace make_space(const Model& model, const TapeShape& shape, int piece, int head_rows) {
  const Widths widths(model);
  const bool back = shape.keep != Keep::nothing, gradient = shape.keep == Keep::gradient;
  const auto per_place = [&](int width) { return DeviceArray<float>(elements(piece, shape.batch, width)); };
  PieceSpace space;
  space.input_gates = per_place(widths.input_gates);
  space.products = DeviceArray<float>(elements(shape.batch, widths.recurrent_gates));
  if (model.config().penalties.slowness > 0) space.differences = per_place(1);
  if (!back) return space;
  if (widths.apart_gates > 0) space.recurrent_gates = per_place(widths.apart_gates);
  if (widths.gated > 0) space.gated = DeviceArray<float>(elements(shape.batch, widths.gated));
  space.d_inputs = per_place(widths.inputs);
  if (!gradient) return space;
  if (model.encoder_weight >= 0) space.d_raw = per_place(model.raw_inputs());
  space.before = per_place(widths.hidden);
  space.parts = DeviceArray<float>(parts_size(model, piece * shape.batch, head_rows));
  space.columns = DeviceArray<float>(elements((most_narrow_inputs + 1) * 65, widths.widest));
  return space;
}

BranchSpace make_branches(const Model& model, const TapeShape& shape, int rows) {
  const HeadLayers& own = model.head_layers();
  BranchSpace space;
  if (!own.any()) return space;
  for (const HeadLayers::Linear& linear : own.linear) space.y.emplace_back(elements(rows, linear.outputs));
  space.x = DeviceArray<float>(elements(rows, own.branches, own.width));
  if (shape.keep != Keep::nothing) space.d_x = DeviceArray<float>(space.x.size());
  space.numbers = DeviceArray<double>(elements(rows, own.branches, branch_numbers));
  space.mixed = DeviceArray<float>(elements(rows, model.outputs()));
  return space;
}

HeadSpace make_head(const Model& model, const TapeShape& shape) {
  HeadSpace head;
  head.rows = rows_of_head(model, shape);
  const auto rows = [&](int width) { return DeviceArray<float>(elements(head.rows, width)); };
  head.features = rows(model.top_hidden());
  head.inner = rows(model.config().head.hidden);
  head.outputs = rows(model.head_layers().branches * model.outputs());
  head.losses = rows(1);
  head.correct = rows(1);
  head.branches = make_branches(model, shape, head.rows);
  if (shape.keep == Keep::nothing) return head;
  head.d_features = rows(model.top_hidden());
  head.d_inner = rows(model.config().head.hidden);
  return head;
}

TapeShape checked(const Model& model, const TapeShape& shape) {
  check_tape_shape(shape);
  const std::size_t left = memory_left();
  const double wanted = tape_bytes(model, shape);
  constexpr double mebibyte = 1 << 20;
  if (wanted > static_cast<double>(left))
    refuse("tape", "a tape of {} steps and {} rows takes {:.0f} MiB of the device, {:.0f} MiB are left", shape.steps,
           shape.batch, wanted / mebibyte, static_cast<double>(left) / mebibyte);
  return shape;
}

}  // namespace

double tape_bytes(const Model& model, const TapeShape& shape) {
  const int piece = piece_of(model, shape);
  const double slots = slots_of(shape, piece), batch = shape.batch;
  const bool back = shape.keep != Keep::nothing;
  double numbers = slots * batch * (model.inputs() + model.top_hidden());
  const Widths widths(model);
  for (const Layer& layer : model.layers()) {
    const CellShape& cell = layer.cell->shape;
    numbers += batch * layer.hidden * (cell.states * (slots + 2) + (back ? cell.saved * slots : 0));
  }
  numbers += piece * batch * (widths.input_gates + widths.apart_gates + widths.inputs + widths.hidden);
  const double head_rows = rows_of_head(model, shape);
  const HeadLayers& own = model.head_layers();
  numbers += head_rows * (static_cast<double>(own.branches) * model.outputs() + 2.0 * model.top_hidden() +
                          2.0 * model.config().head.hidden);
  if (own.any()) {
    double of_row = model.outputs() + 2.0 * own.branches * (own.width + branch_numbers);  // a double is two floats
    for (const HeadLayers::Linear& linear : own.linear) of_row += linear.outputs;
    numbers += head_rows * of_row;
  }
  return numbers * sizeof(float);
}

CudaTape::CudaTape(const Model& model, const TapeShape& shape)
    : Tape(checked(model, shape)), model(model), piece_(piece_of(model, shape)) {
  const int slots = slots_of(shape, piece_);
  for (std::size_t k = 0; k < model.layers().size(); ++k) layers.push_back(make_layer(model, k, shape, slots));
  if (model.encoder_weight >= 0) raw = DeviceArray<float>(elements(slots, shape.batch, model.raw_inputs()));
  if (shape.keep != Keep::nothing) d_outputs = DeviceArray<float>(elements(slots, shape.batch, model.top_hidden()));
  head = make_head(model, shape);
  space = make_space(model, shape, piece_, head.rows);
  kept_places.reserve(elements(head.rows));
}

float* CudaTape::tap_space() {
  if (taps_.size() == 0) taps_ = DeviceArray<float>(elements(shape().steps + 1, shape().batch, model.state_size()));
  return taps_.data();
}

std::size_t CudaTape::activation_bytes() const {
  if (shape().keep == Keep::nothing) return 0;
  std::size_t bytes = raw.bytes() + d_outputs.bytes();
  for (const LayerTape& layer : layers) bytes += layer.states.bytes() + layer.saved.bytes() + layer.inputs.bytes();
  return bytes;
}

std::size_t CudaTape::bytes() const {
  std::size_t bytes = raw.bytes() + d_outputs.bytes() + taps_.bytes();
  for (const LayerTape& layer : layers)
    for (const DeviceArray<float>* array : {&layer.states, &layer.saved, &layer.inputs, &layer.carry, &layer.effective,
                                            &layer.d_effective, &layer.dropped, &layer.d_dropped})
      bytes += array->bytes();
  for (const DeviceArray<float>* array :
       {&space.input_gates, &space.recurrent_gates, &space.products,  &space.gated,       &space.d_inputs,
        &space.d_raw,       &space.before,          &space.parts,     &space.columns,     &space.differences,
        &head.features,     &head.d_features,       &head.inner,      &head.d_inner,      &head.outputs,
        &head.losses,       &head.correct,          &head.branches.x, &head.branches.d_x, &head.branches.mixed})
    bytes += array->bytes();
  for (const DeviceArray<float>& y : head.branches.y) bytes += y.bytes();
  return bytes + head.branches.numbers.bytes();
}

}  // namespace throughtime::cuda

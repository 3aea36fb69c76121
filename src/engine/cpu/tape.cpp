#include "engine/cpu/tape.h"
#include "throughtime/index.h"

#include <algorithm>

namespace throughtime::cpu {

namespace {

/// How many slices a batch is cut into: a matter of the batch alone, so that bits do not depend on threads. Small
/// batches stay whole: they would lose more by the hand-over than they gain.
int slice_count(int batch, bool whole) {
  if (batch <= 8 || whole) return 1;
  return std::min(batch, 2 * ((batch + 2 * kSliceRows - 1) / (2 * kSliceRows)));
}

/// Whether numbers of a row are multiplied by a mask.
bool masks_rows(const DropoutConfig& dropout) {
  return dropout.input > 0 || dropout.between > 0 || dropout.output > 0 || dropout.logits > 0 || dropout.latent > 0;
}

}  // namespace

bool few_rows(const Model& model, const TapeShape& shape) {
  if (shape.batch < 2 || shape.batch > kSliceRows) return false;
  std::size_t products = 0;  // of a row and a step forth
  for (const Layer& layer : model.layers())
    products += elements(layer.cell->shape.input_rows, layer.hidden, layer.inputs) +
                elements(layer.cell->shape.recurrent_rows, layer.hidden, layer.hidden);
  return products * elements(shape.batch, shape.steps) <= kFewProducts;
}

CpuTape::CpuTape(const Model& model, const PackedModel& packed, const TapeShape& shape, int threads, bool few)
    : Tape(shape), is_few(few) {
  const bool gradient = shape.keep == Keep::gradient, back = shape.keep != Keep::nothing;
  const int count_of_slices = slice_count(shape.batch, few);
  const std::size_t raw = padded(model.raw_inputs());
  slices.resize(elements(count_of_slices));
  int first = 0;
  for (int i = 0; i < count_of_slices; ++i) {
    Slice& slice = slices[i];
    slice.first = first;
    slice.rows = (shape.batch - first + count_of_slices - i - 1) / (count_of_slices - i);
    first += slice.rows;
    slice.chunk = std::clamp(kChunkRows / slice.rows, 1, shape.steps);
    slice.kept = back ? shape.steps : slice.chunk;

    const std::size_t rows = slice.rows, kept_rows = rows * slice.kept, chunk_rows = rows * slice.chunk;
    if (packed.encoder.outputs > 0) slice.raw = Array(kept_rows * raw);
    for (std::size_t k = 0; k < model.layers().size(); ++k) add_layer(model, slice, k);

    std::size_t widest = std::max({raw, padded(model.top_hidden()), padded(model.outputs())});
    for (const Layer& layer : model.layers()) widest = std::max(widest, padded(layer.inputs));
    const HeadLayers& own = model.head_layers();
    const bool masks_latent = model.config().dropout.latent > 0;
    slice.mask_stride = padded(std::max(widest, masks_latent ? elements(own.branches, own.width) : 0));
    slice.mask = Array(slice.mask_stride * elements(masks_rows(model.config().dropout) ? threads : 1));
    const std::size_t head_rows = std::min<std::size_t>(chunk_rows, kChunkRows);
    if (model.config().penalties.slowness > 0) slice.slowness.resize(elements(slice.rows));
    HeadWork& head = slice.head;
    head.hidden = Array(head_rows * padded(model.top_hidden()));
    if (own.any())
      add_head_layers(model, slice, head_rows, threads);
    else
      head.outputs = Array(head_rows * (padded(model.outputs()) + kSkew));
    if (packed.head_inner.outputs > 0) head.inner = Array(head_rows * (padded(packed.head_inner.outputs) + kSkew));
    head.step.resize(head_rows);
    head.row.resize(head_rows);
    head.loss.resize(head_rows);
    head.right.resize(head_rows);
    if (back) {
      const int losses = shape.losses == 0 ? shape.steps : std::min(shape.losses, shape.steps);
      slice.d_top = Array(losses * rows * padded(model.top_hidden()));
      slice.loss_slot.resize(elements(shape.steps));
      slice.d_below = Array(chunk_rows * widest);
      head.d_hidden = Array(head_rows * padded(model.top_hidden()));
      if (packed.head_inner.outputs > 0) head.d_inner = Array(head_rows * (padded(packed.head_inner.outputs) + kSkew));
    }
    if (gradient) {
      if (model.embedding >= 0) slice.d_raw = Array(kept_rows * raw);
      if (packed.encoder.outputs > 0) slice.encoder_gradient = LinearGradient(packed.encoder);
      if (packed.head_inner.outputs > 0) slice.head_inner_gradient = LinearGradient(packed.head_inner);
      for (const PackedLinear& linear : packed.head_layers) slice.head_layer_gradients.emplace_back(linear);
      slice.head_gradient = LinearGradient(packed.head, model.head().constants);
    }
    count(slice);
  }
}

void CpuTape::add_across(const Model& model) {
  across = std::make_unique<AcrossTape>(model, shape());
  activation_bytes_ += across->bytes();
  bytes_ += across->bytes();
}

void CpuTape::add_layer(const Model& model, Slice& slice, std::size_t index) {
  const Layer& layer = model.layers()[index];
  const CellShape& cell = layer.cell->shape;
  const std::size_t hidden = padded(layer.hidden), inputs = padded(layer.inputs), rows = slice.rows;
  const bool back = shape().keep != Keep::nothing, gradient = shape().keep == Keep::gradient;

  LayerTape tape;
  tape.hidden = hidden;
  tape.inputs = inputs;
  tape.state_plane = (slice.kept + 1) * rows * hidden;
  tape.saved_plane = elements(back ? slice.kept : 1, rows) * hidden;
  tape.states = Array(cell.states * tape.state_plane);
  tape.saved = Array(cell.saved * tape.saved_plane);
  if (index == 0 || model.config().dropout.between > 0) tape.input = Array(slice.kept * rows * inputs);
  slice.layers.push_back(std::move(tape));

  LayerWork work;
  work.input_sums = Array(rows * cell.input_rows * hidden);
  if (!cell.joint) work.recurrent_sums = Array(rows * cell.recurrent_rows * hidden);
  work.state = Array(cell.states * rows * hidden);
  if (back) {
    const std::size_t chunk_rows = rows * slice.chunk;
    work.cotangent = Array(cell.states * rows * hidden);
    work.held = Array(cell.states * rows * hidden);
    work.d_input = Array(chunk_rows * (cell.input_rows * hidden + kSkew));
    if (!cell.joint) work.d_recurrent = Array(chunk_rows * (cell.recurrent_rows * hidden + kSkew));
    if (cell.late_rows > 0) work.d_gated = Array(rows * hidden);
    work.previous = Array(chunk_rows * hidden);
  }
  slice.work.push_back(std::move(work));

  if (!gradient) return;
  LayerGradient sums;
  sums.input_weights = Array(cell.input_rows * hidden * inputs);
  sums.recurrent_weights = Array(cell.recurrent_rows * hidden * hidden);
  sums.input_bias = Array(cell.input_rows * hidden);
  sums.recurrent_bias = Array(cell.recurrent_rows * hidden);
  slice.layer_gradients.push_back(std::move(sums));
}

void CpuTape::add_head_layers(const Model& model, Slice& slice, std::size_t rows, int threads) {
  const HeadLayers& own = model.head_layers();
  HeadWork& head = slice.head;
  head.y_begin = {0};
  for (const HeadLayers::Linear& linear : own.linear)
    head.y_begin.push_back(head.y_begin.back() + padded(elements(linear.outputs)));
  head.y_begin.back() += kSkew;
  head.y = Array(rows * head.y_begin.back());
  head.x = Array(rows * own.branches * (padded(own.width) + kSkew));
  head.group = std::clamp(kChunkRows / own.branches, 1, static_cast<int>(rows));
  head.outputs = Array(elements(head.group, own.branches) * (padded(model.outputs()) + kSkew));
  head.scratch_stride = LayeredKernels<float>::scratch_per_branch * elements(own.branches) + kSkew;
  head.scratch.resize(head.scratch_stride * elements(threads));
}

void CpuTape::count(const Slice& slice) {
  std::size_t kept = slice.raw.bytes() + slice.d_top.bytes() + slice.d_raw.bytes();
  for (const LayerTape& layer : slice.layers) kept += layer.states.bytes() + layer.saved.bytes() + layer.input.bytes();
  std::size_t rest = slice.d_below.bytes() + slice.mask.bytes();
  const HeadWork& head = slice.head;
  for (const Array* array : {&head.hidden, &head.inner, &head.outputs, &head.d_hidden, &head.d_inner, &head.y, &head.x})
    rest += array->bytes();
  for (const LayerWork& work : slice.work)
    for (const Array* array : {&work.input_sums, &work.recurrent_sums, &work.state, &work.cotangent, &work.held,
                               &work.d_input, &work.d_recurrent, &work.d_gated, &work.previous})
      rest += array->bytes();
  for (const LayerGradient& sums : slice.layer_gradients)
    rest += sums.input_weights.bytes() + sums.recurrent_weights.bytes() + sums.input_bias.bytes() +
            sums.recurrent_bias.bytes();
  for (const LinearGradient* sums : {&slice.encoder_gradient, &slice.head_inner_gradient, &slice.head_gradient})
    rest += sums->weights.bytes() + sums->bias.bytes();
  for (const LinearGradient& sums : slice.head_layer_gradients) rest += sums.weights.bytes() + sums.bias.bytes();
  activation_bytes_ += kept;
  bytes_ += kept + rest;
}

}  // namespace throughtime::cpu

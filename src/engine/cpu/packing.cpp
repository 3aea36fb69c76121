#include "engine/cpu/packing.h"

#include <algorithm>
#include <cstring>

#include "engine/dropout.h"
#include "throughtime/index.h"

namespace throughtime::cpu {

namespace {

const ProductKernels& kernels() {
  static const ProductKernels chosen = product_kernels();
  return chosen;
}

constexpr std::size_t kSharedNumbers = 32768;  // of a matrix: below that, waking a thread costs more than it saves

/// Calls task(p) for each panel of a matrix of so many numbers, by all of the pool where there is one.
template <class Task>
void for_panels(ThreadPool* pool, int panels, std::size_t numbers, const Task& task) {
  if (pool && panels > 1 && numbers >= kSharedNumbers) return pool->run(panels, task);
  for (int p = 0; p < panels; ++p) task(p);
}

/// Units side by side in a panel such that all gates of them fill about kPanel columns.
int panel_units(int groups) { return std::max(kPad, kPanel / std::max(groups, 1) / kPad * kPad); }

}  // namespace

// ---------------------------------------------------------------- panels

ForwardPanels::ForwardPanels(int groups, int rows, int depth, int units)
    : groups_(groups), rows_(rows), depth_(depth), units_(units), padded_rows_(padded(rows)) {
  panels_ = static_cast<int>((padded_rows_ + units - 1) / units);
  data_ = Array(width() * depth);
}

int ForwardPanels::units(int panel) const { return std::min(units_, static_cast<int>(padded_rows_) - panel * units_); }

void ForwardPanels::pack(const float* weights, ThreadPool* pool) {
  for_panels(pool, panels_, data_.size(), [&](int p) { pack_panel(weights, p); });
}

void ForwardPanels::pack_panel(const float* weights, int p) {
  const int here = units(p), first = p * units_;
  float* to = data_.data() + column(p) * depth_;
  for (int g = 0; g < groups_; ++g)
    for (int u = 0; u < here && first + u < rows_; u += kPad) {
      const float* from = weights + (elements(g, rows_) + first + u) * depth_;
      kernels().transpose(from, depth_, std::min({kPad, here - u, rows_ - first - u}), depth_, to + g * here + u,
                          columns(p));
    }
}

void ForwardPanels::pack_bias(const float* bias, float* packed, bool add) const {
  for (int p = 0; p < panels_; ++p) {
    const int here = std::min(units(p), rows_ - p * units_);
    for (int g = 0; g < groups_; ++g) {
      const float* from = bias + g * rows_ + p * units_;
      float* to = packed + column(p) + elements(g, units(p));
      if (add)
        for (int u = 0; u < here; ++u) to[u] += from[u];
      else
        for (int u = 0; u < here; ++u) to[u] = 0.0f + from[u];
    }
  }
}

BackwardPanels::BackwardPanels(int groups, int rows, int columns)
    : groups_(groups), rows_(rows), columns_(columns), padded_rows_(padded(rows)), padded_columns_(padded(columns)) {
  panels_ = static_cast<int>((padded_columns_ + kPanel - 1) / kPanel);
  depth_ = groups * padded_rows_;
  data_ = Array(depth_ * padded_columns_);
}

int BackwardPanels::columns(int panel) const {
  return std::min(kPanel, static_cast<int>(padded_columns_) - panel * kPanel);
}

void BackwardPanels::pack(const float* weights, ThreadPool* pool) {
  const bool even = padded_columns_ == elements(columns_);
  if (panels_ == 1 && even && (groups_ == 1 || padded_rows_ == elements(rows_))) {
    from_ = weights;
    return;
  }
  from_ = data_.data();
  for_panels(pool, panels_, data_.size(), [&](int p) { pack_panel(weights, p); });
}

void BackwardPanels::pack_panel(const float* weights, int p) {
  float* to = data_.data() + elements(p, kPanel) * depth_;
  const std::size_t stride = elements(columns(p));
  const int count = std::min(kPanel, columns_ - p * kPanel);
  for (int g = 0; g < groups_; ++g) {
    const float* from = weights + elements(g, rows_) * columns_ + p * kPanel;
    kernels().copy_rows(false, elements(rows_), static_cast<std::size_t>(count), from, elements(columns_),
                        to + g * padded_rows_ * stride, stride);
  }
}

// ---------------------------------------------------------------- linear layers

PackedLinear::PackedLinear(int outputs_, int inputs_)
    : outputs(outputs_),
      inputs(inputs_),
      forward(1, outputs, inputs, kPanel),
      backward(1, outputs, inputs),
      bias(padded(outputs)) {}

void PackedLinear::pack(const float* weights, const float* bias_values, ThreadPool* pool) {
  forward.pack(weights, pool);
  backward.pack(weights, pool);
  if (bias_values) std::copy_n(bias_values, outputs, bias.data());
}

// ---------------------------------------------------------------- recurrent layers

PackedLayer::PackedLayer(const Layer& layer, bool needs_input_gradient) {
  const CellShape& shape = layer.cell->shape;
  const int early = shape.recurrent_rows - shape.late_rows;
  const int units = panel_units(std::max(shape.input_rows, shape.recurrent_rows));
  input = ForwardPanels(shape.input_rows, layer.hidden, layer.inputs, units);
  if (early > 0) {
    recurrent = ForwardPanels(early, layer.hidden, layer.hidden, units);
    recurrent_back = BackwardPanels(early, layer.hidden, layer.hidden);
  }
  if (shape.late_rows > 0) {
    late = ForwardPanels(shape.late_rows, layer.hidden, layer.hidden, units);
    late_back = BackwardPanels(shape.late_rows, layer.hidden, layer.hidden);
  }
  if (needs_input_gradient) input_back = BackwardPanels(shape.input_rows, layer.hidden, layer.inputs);
  input_bias = Array(input.width());
  recurrent_bias = Array(recurrent.width() + late.width());
  if (layer.cell->fast_map.apply) effective = Array(elements(shape.recurrent_rows, layer.hidden, layer.hidden));
}

void PackedLayer::pack(const Layer& layer, const ParameterLayout& layout, const float* parameters, ThreadPool* pool) {
  const float* input_weights = parameters + layout.block(layer.weight_ih).offset;
  input.pack(input_weights, pool);
  if (input_back.panels() > 0) input_back.pack(input_weights, pool);
  pack_biases(layer, layout, parameters);
}

void PackedLayer::pack_recurrent(const Layer& layer, const float* raw, bool masked, ThreadPool* pool) {
  const CellShape& shape = layer.cell->shape;
  const float* recurrent_weights = raw;
  if (masked && raw) {
    for (std::size_t i = 0; i < mask.size(); ++i) dropped.data()[i] = raw[i] * mask.data()[i];
    recurrent_weights = dropped.data();
  }
  if (layer.cell->fast_map.apply) {
    layer.cell->fast_map.apply(layer.options, layer.hidden, recurrent_weights, effective.data());
    recurrent_weights = effective.data();
  }
  recurrent.pack(recurrent_weights, pool);
  recurrent_back.pack(recurrent_weights, pool);
  if (shape.late_rows > 0) {
    const int early = shape.recurrent_rows - shape.late_rows;
    const float* late_weights = recurrent_weights + elements(early, layer.hidden, layer.hidden);
    late.pack(late_weights, pool);
    late_back.pack(late_weights, pool);
  }
}

void PackedLayer::pack_biases(const Layer& layer, const ParameterLayout& layout, const float* parameters) {
  const CellShape& shape = layer.cell->shape;
  input.pack_bias(parameters + layout.block(layer.bias_ih).offset, input_bias.data(), false);
  if (layer.bias_hh < 0) return;
  const float* bias = parameters + layout.block(layer.bias_hh).offset;
  if (shape.joint) {
    input.pack_bias(bias, input_bias.data(), true);
  } else {
    recurrent.pack_bias(bias, recurrent_bias.data(), false);
    if (shape.late_rows > 0)
      late.pack_bias(bias + (shape.recurrent_rows - shape.late_rows) * layer.hidden,
                     recurrent_bias.data() + recurrent.width(), false);
  }
}

// ---------------------------------------------------------------- model

PackedModel::PackedModel(const Model& model) {
  const bool inputs_trained = model.embedding >= 0 || model.encoder_weight >= 0;
  for (std::size_t k = 0; k < model.layers().size(); ++k)
    layers.emplace_back(model.layers()[k], k > 0 || inputs_trained);
  if (model.encoder_weight >= 0) encoder = PackedLinear(model.inputs(), model.raw_inputs());
  const int inner = model.config().head.hidden;
  if (inner > 0) head_inner = PackedLinear(inner, model.top_hidden());
  for (const HeadLayers::Linear& own : model.head_layers().linear)
    head_layers.emplace_back(own.outputs, model.top_hidden());
  head = PackedLinear(model.linear_outputs(), model.last_width());
  const bool drops = model.config().dropout.recurrent > 0;
  for (std::size_t k = 0; drops && k < layers.size(); ++k) {
    const int block = model.layers()[k].weight_hh;
    if (block < 0) continue;
    layers[k].mask = Array(model.parameters().block(block).size());
    layers[k].dropped = Array(layers[k].mask.size());
  }
  const auto mapped = [](const Layer& layer) { return layer.cell->fast_map.apply != nullptr; };
  if (!drops && model.parameters().size() <= kFewParameters && std::ranges::none_of(model.layers(), mapped))
    find_moves(model);
}

void PackedModel::pack(const Model& model, const float* parameters, const std::optional<std::uint64_t>& keys) {
  beside_ = false;
  if (moves_.empty()) {
    pack_recurrent(model, parameters, keys);
    return pack_layers(model, parameters);
  }
  for (const Move& move : moves_) *move.to = parameters[move.from];
  for (const Move& addition : additions_) *addition.to += parameters[addition.from];
}

void PackedModel::pack_beside(const Model& model, const float* parameters) {
  if (beside_) return;
  beside_ = true;
  if (moves_.empty()) return pack_linear(model, parameters);
  for (const Move& move : moves_beside_) *move.to = parameters[move.from];
}

void PackedModel::pack_recurrent(const Model& model, const float* parameters,
                                 const std::optional<std::uint64_t>& keys) {
  if (keys && drawn_ != keys) draw_masks(model, *keys);
  for (std::size_t k = 0; k < layers.size(); ++k) {
    const int block = model.layers()[k].weight_hh;
    layers[k].pack_recurrent(model.layers()[k],
                             block < 0 ? nullptr : parameters + model.parameters().block(block).offset,
                             keys.has_value(), pool_);
  }
  masks = keys;
}

void PackedModel::draw_masks(const Model& model, std::uint64_t key) {
  for (std::size_t k = 0; k < layers.size(); ++k)
    write_recurrent_mask(model.config().dropout, static_cast<int>(k), key,
                         std::span(layers[k].mask.data(), layers[k].mask.size()));
  drawn_ = key;
}

/// Packs the numbers 1, 2, ... and looks where they are. The second bias of a joint cell is added to the first.
void PackedModel::find_moves(const Model& model) {
  const ParameterLayout& layout = model.parameters();
  std::vector<float> numbers(layout.size()), added(layout.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i + 1);
  for (const Layer& layer : model.layers()) {
    if (layer.bias_hh < 0 || !layer.cell->shape.joint) continue;
    const ParameterBlock& block = layout.block(layer.bias_hh);
    std::swap_ranges(numbers.begin() + static_cast<std::ptrdiff_t>(block.offset),
                     numbers.begin() + static_cast<std::ptrdiff_t>(block.offset + block.size()),
                     added.begin() + static_cast<std::ptrdiff_t>(block.offset));
  }
  pack_recurrent(model, numbers.data(), std::nullopt);
  pack_layers(model, numbers.data());
  pack_linear(model, numbers.data());
  if (reads_in_place()) return;
  note_layers(moves_);
  note_linear(moves_beside_);
  pack_recurrent(model, added.data(), std::nullopt);
  pack_layers(model, added.data());
  note_layers(additions_);
}

bool PackedModel::reads_in_place() {
  const auto reads = [](const BackwardPanels& panels) { return panels.panels() > 0 && panels.in_place(); };
  for (const PackedLayer& layer : layers)
    if (reads(layer.input_back) || reads(layer.recurrent_back) || reads(layer.late_back)) return true;
  for (const PackedLinear& own : head_layers)
    if (reads(own.backward)) return true;
  return reads(encoder.backward) || reads(head_inner.backward) || reads(head.backward);
}

void PackedModel::note_numbers(Array& array, std::vector<Move>& moves) {
  for (float* to = array.data(); to != array.data() + array.size(); ++to)
    if (*to != 0) moves.push_back({static_cast<std::uint32_t>(*to) - 1, to});
}

void PackedModel::note_layers(std::vector<Move>& moves) {
  const auto note = [&](Array& array) { note_numbers(array, moves); };
  for (PackedLayer& layer : layers) {
    for (ForwardPanels* panels : {&layer.input, &layer.recurrent, &layer.late}) note(panels->numbers());
    for (BackwardPanels* panels : {&layer.input_back, &layer.recurrent_back, &layer.late_back}) note(panels->numbers());
    note(layer.input_bias);
    note(layer.recurrent_bias);
  }
}

void PackedModel::note_linear(std::vector<Move>& moves) {
  const auto note = [&](Array& array) { note_numbers(array, moves); };
  const auto note_one = [&](PackedLinear& linear) {
    note(linear.forward.numbers());
    note(linear.backward.numbers());
    note(linear.bias);
  };
  for (PackedLinear* linear : {&encoder, &head_inner, &head}) note_one(*linear);
  for (PackedLinear& own : head_layers) note_one(own);
}

void PackedModel::pack_layers(const Model& model, const float* parameters) {
  const ParameterLayout& layout = model.parameters();
  for (std::size_t k = 0; k < layers.size(); ++k) layers[k].pack(model.layers()[k], layout, parameters, pool_);
}

void PackedModel::pack_linear(const Model& model, const float* parameters) {
  const auto at = [&](int block) { return block < 0 ? nullptr : parameters + model.parameters().block(block).offset; };
  if (encoder.outputs > 0) encoder.pack(at(model.encoder_weight), at(model.encoder_bias), pool_);
  if (head_inner.outputs > 0) head_inner.pack(at(model.head_inner_weight), at(model.head_inner_bias), pool_);
  for (std::size_t k = 0; k < head_layers.size(); ++k)
    head_layers[k].pack(at(model.head_layer_weight[k]), at(model.head_layer_bias[k]), pool_);
  head.pack(at(model.head_weight), at(model.head_bias), pool_);
}

}  // namespace throughtime::cpu

#include "engine/cpu/collect.h"

#include <algorithm>

#include "engine/targets.h"
#include "throughtime/index.h"

namespace throughtime::cpu {

namespace {

constexpr std::size_t kTaskElements = 16384;    // of the flat vector, for one task
constexpr std::size_t kInlineElements = 65536;  // below that, waking a thread costs more than it saves

}  // namespace

GradientCollector::GradientCollector(const Model& model) : products_(product_kernels()) {
  std::size_t largest = 0;
  for (std::size_t k = 0; k < model.layers().size(); ++k) {
    const Layer& layer = model.layers()[k];
    const CellShape& shape = layer.cell->shape;
    const int index = static_cast<int>(k);
    add_block(model, Kind::input_weights, index, layer.weight_ih, layer.hidden, layer.inputs);
    add_block(model, Kind::input_bias, index, layer.bias_ih, layer.hidden, 1);
    // A joint cell's two biases receive the same gradient.
    add_block(model, shape.joint ? Kind::input_bias : Kind::recurrent_bias, index, layer.bias_hh, layer.hidden, 1);
    if (layer.cell->fast_map.apply) {
      mapped_.push_back(index);
      largest = std::max(largest, elements(shape.recurrent_rows, layer.hidden) * layer.hidden);
    } else {
      add_block(model, Kind::recurrent_weights, index, layer.weight_hh, layer.hidden, layer.hidden);
    }
  }
  effective_ = Array(largest);
  const bool drops = model.config().dropout.recurrent > 0;
  if (drops) raw_ = Array(largest);
  const int inner = model.config().head.hidden;
  if (model.encoder_weight >= 0) {
    add_block(model, Kind::encoder, 0, model.encoder_weight, model.inputs(), model.raw_inputs());
    add_block(model, Kind::encoder_bias, 0, model.encoder_bias, model.inputs(), 1);
  }
  if (inner > 0) {
    add_block(model, Kind::inner, 0, model.head_inner_weight, inner, model.top_hidden());
    add_block(model, Kind::inner_bias, 0, model.head_inner_bias, inner, 1);
  }
  for (std::size_t k = 0; k < model.head_layer_weight.size(); ++k) {
    const int outputs = model.head_layers().linear[k].outputs, index = static_cast<int>(k);
    add_block(model, Kind::own, index, model.head_layer_weight[k], outputs, model.top_hidden());
    add_block(model, Kind::own_bias, index, model.head_layer_bias[k], outputs, 1);
  }
  // A tied matrix is the embedding's block: it is added there, after the embedding's own share.
  if (model.head_weight != model.embedding)
    add_block(model, Kind::head, 0, model.head_weight, model.linear_outputs(), model.last_width());
  add_block(model, Kind::head_bias, 0, model.head_bias, model.linear_outputs(), 1);
  add_block(model, Kind::head_constants, 0, model.head_constants, model.head().constants, 1);
  const auto in_place = [](const Task& task) { return task.in_place; };
  few_ = !drops && elements_ == model.parameters().size() && elements_ <= kFewParameters &&
         std::ranges::none_of(tasks_, in_place);
}

void GradientCollector::prepare(std::vector<Slice>& slices) const {
  if (!few_ || slices.size() > 1 || slices.front().layer_gradients.empty()) return;
  Slice& slice = slices.front();
  slice.flat.resize(elements_);
  for (const Task& task : tasks_)
    for (std::size_t row = 0; row < task.rows; ++row)
      for (std::size_t column = 0; column < task.columns; ++column)
        slice.flat[task.to + row * task.columns + column] =
            share(slice, task) + task.from + row * task.stride + column * task.column_stride;
}

void GradientCollector::add_block(const Model& model, Kind kind, int layer, int block, int rows, int columns) {
  if (block < 0) return;
  const ParameterBlock& place = model.parameters().block(block);
  const std::size_t height = elements(rows), width = elements(columns);
  const std::size_t all_rows = place.size() / width;
  const bool transposed = kind == Kind::input_weights && narrow(columns);
  const std::size_t stride = transposed || kind >= Kind::input_bias ? 1 : padded(width);
  // Between groups of gates the share has padding, unless they fill whole registers.
  const std::size_t group = padded(height) == height ? all_rows : height;
  for (std::size_t first = 0; first < all_rows; first += group) {
    Task task{.kind = kind, .layer = layer, .rows = group, .columns = width, .stride = stride};
    task.column_stride = transposed ? all_rows / height * padded(height) : 1;
    task.from = first / height * padded(height) * stride;
    task.to = place.offset + first * width;
    task.in_place = kind == Kind::recurrent_weights && written_in_place(model, model.layers()[layer]);
    add_task(task, std::max<std::size_t>(1, kTaskElements / width));
  }
  elements_ += place.size();
}

/// In pieces of at most `step` rows.
void GradientCollector::add_task(Task task, std::size_t step) {
  for (std::size_t left = task.rows; left > 0; left -= task.rows) {
    task.rows = std::min(left, step);
    tasks_.push_back(task);
    if (task.stride == task.columns && task.column_stride == 1) {  // lies as it should: one long row
      tasks_.back().rows = 1;
      tasks_.back().columns = task.rows * task.columns;
    }
    task.from += task.rows * task.stride;
    task.to += task.rows * task.columns;
  }
}

const float* GradientCollector::share(const Slice& slice, const Task& task) {
  const std::size_t layer = elements(task.layer);
  switch (task.kind) {
    case Kind::input_weights:
      return slice.layer_gradients[layer].input_weights.data();
    case Kind::recurrent_weights:
      return slice.layer_gradients[layer].recurrent_weights.data();
    case Kind::input_bias:
      return slice.layer_gradients[layer].input_bias.data();
    case Kind::recurrent_bias:
      return slice.layer_gradients[layer].recurrent_bias.data();
    case Kind::encoder:
      return slice.encoder_gradient.weights.data();
    case Kind::encoder_bias:
      return slice.encoder_gradient.bias.data();
    case Kind::inner:
      return slice.head_inner_gradient.weights.data();
    case Kind::inner_bias:
      return slice.head_inner_gradient.bias.data();
    case Kind::own:
      return slice.head_layer_gradients[layer].weights.data();
    case Kind::own_bias:
      return slice.head_layer_gradients[layer].bias.data();
    case Kind::head:
      return slice.head_gradient.weights.data();
    case Kind::head_bias:
      return slice.head_gradient.bias.data();
    case Kind::head_constants:
      return slice.head_gradient.bias.data() + slice.head_gradient.outputs;
  }
  return nullptr;
}

namespace {

/// Copies or adds `rows` rows of `columns` numbers of a share that lies transposed.
void merge_transposed(bool add, std::size_t rows, std::size_t columns, const float* from, std::size_t column_stride,
                      float* to) {
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t i = 0; i < columns; ++i, ++to) *to = (add ? *to : 0.0f) + from[i * column_stride + row];
}

/// The same of a share whose weights were masked; `mask` lies as `to` does.
void merge_masked(bool add, std::size_t rows, std::size_t columns, const float* from, std::size_t stride,
                  const float* mask, float* to) {
  for (std::size_t row = 0; row < rows; ++row, from += stride)
    for (std::size_t i = 0; i < columns; ++i, ++to, ++mask) *to = (add ? *to : 0.0f) + *mask * from[i];
}

}  // namespace

const float* GradientCollector::mask_of(const Context& context, const PullBackArrays& call, int layer) {
  const Array& mask = context.packed.layers[elements(layer)].mask;
  return call.training && mask.size() > 0 ? mask.data() : nullptr;
}

void GradientCollector::run_task(const Task& task, const std::vector<Slice>& slices, bool losses, bool add,
                                 float* gradient, const float* mask) const {
  if (task.in_place && slices.size() == 1) return;
  float* to = gradient + task.to;
  bool started = add;
  for (const Slice& slice : slices) {
    if (of_head(task.kind) && !(losses && slice.head_rows > 0)) continue;
    const float* part = share(slice, task);
    if (task.column_stride > 1)
      merge_transposed(started, task.rows, task.columns, part + task.from, task.column_stride, to);
    else if (mask)
      merge_masked(started, task.rows, task.columns, part + task.from, task.stride, mask, to);
    else
      products_.copy_rows(started, task.rows, task.columns, part + task.from, task.stride, to, task.columns);
    started = true;
  }
  if (!started) std::fill_n(to, task.rows * task.columns, 0.0f);
}

void GradientCollector::run(const Context& context, const PullBackArrays& call, std::vector<Slice>& slices, bool add,
                            ThreadPool& pool, float* gradient) {
  const Slice& only = slices.front();
  if (!add && !call.layers_in_place && !only.flat.empty() && call.losses && only.head_rows > 0) {
    for (const float* number : only.flat) *gradient++ = *number;
    return;
  }
  const auto work = [&](int i) {
    const Task& task = tasks_[i];
    if (call.layers_in_place && of_layers(task.kind)) return;
    const float* mask = task.kind == Kind::recurrent_weights ? mask_of(context, call, task.layer) : nullptr;
    if (mask) mask += task.to - context.model.parameters().block(context.model.layers()[task.layer].weight_hh).offset;
    run_task(task, slices, call.losses, add, gradient, mask);
  };
  if (elements_ < kInlineElements)
    for (std::size_t i = 0; i < tasks_.size(); ++i) work(static_cast<int>(i));
  else
    pool.run(static_cast<int>(tasks_.size()), work);
  add_mapped(context, call, slices, add, gradient);
  if (context.model.embedding >= 0) add_embedding(context, call, slices, add, pool, gradient);
}

void GradientCollector::add_mapped(const Context& context, const PullBackArrays& call, const std::vector<Slice>& slices,
                                   bool add, float* gradient) {
  for (const int k : mapped_) {
    const Layer& layer = context.model.layers()[k];
    if (layer.weight_hh < 0) continue;
    const ParameterBlock& block = context.model.parameters().block(layer.weight_hh);
    if (!add) std::fill_n(gradient + block.offset, block.size(), 0.0f);
    const std::size_t hidden = layer.hidden;
    Task group{
        .kind = Kind::recurrent_weights, .layer = k, .rows = hidden, .columns = hidden, .stride = padded(hidden)};
    for (int g = 0; g < layer.cell->shape.recurrent_rows; ++g) {
      run_task(group, slices, true, false, effective_.data());
      group.from += padded(hidden) * group.stride;
      group.to += hidden * hidden;
    }
    const float* mask = mask_of(context, call, k);
    float* to = gradient + block.offset;
    float* d_raw = mask ? raw_.data() : to;
    if (mask) std::fill_n(d_raw, block.size(), 0.0f);
    layer.cell->fast_map.adjoint(layer.options, layer.hidden, effective_.data(), d_raw);
    if (mask) merge_masked(true, 1, block.size(), d_raw, block.size(), mask, to);
  }
}

void GradientCollector::add_embedding(const Context& context, const PullBackArrays& call, std::vector<Slice>& slices,
                                      bool add, ThreadPool& pool, float* gradient) const {
  const Model& model = context.model;
  const ParameterBlock& block = model.parameters().block(model.embedding);
  float* table = gradient + block.offset;
  const int parts = block.size() < kInlineElements ? 1 : pool.threads();
  if (!add)
    pool.run(parts, [&](int i) {
      const auto [begin, end] = Part{i, parts}.of(static_cast<int>(block.size()));
      std::fill(table + begin, table + end, 0.0f);
    });
  const std::size_t width = model.config().input.embedding, stride = padded(model.raw_inputs());
  const DropoutSite site = embedding_dropout(model.config().dropout);
  const bool dropped = call.training && site.active();
  // Rows of a token are added in the order of the steps: parts are cut from their columns.
  const auto add_columns = [&](std::size_t begin, std::size_t end) {
    for (int l = call.first; l < call.last; ++l)
      for (const Slice& slice : slices)
        for (int r = 0; r < slice.rows; ++r) {
          const Place place = place_at(call.window, l, slice.first + r);
          if (place.padding) continue;
          float* to = table + elements(place.token(), width);
          const float* from = slice.d_raw.data() + (elements(l, slice.rows) + r) * stride;
          const float factor = dropped ? token_factor(site, call.window.mask_key, place.token()) : 1.0f;
          for (std::size_t i = begin; i < end; ++i) to[i] += factor * from[i];
        }
  };
  pool.run(parts, [&](int i) {
    const auto [begin, end] = Part{i, parts}.of(static_cast<int>(width), kPad);
    add_columns(elements(begin), elements(end));
  });
  if (model.head_weight != model.embedding) return;
  const Task all{.kind = Kind::head, .rows = elements(model.outputs()), .columns = width, .stride = padded(width)};
  run_task(all, slices, call.losses, true, table);
}

}  // namespace throughtime::cpu

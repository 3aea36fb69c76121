#include <algorithm>
#include <cstring>

#include "engine/cpu/passes.h"
#include "engine/targets.h"
#include "throughtime/index.h"

namespace throughtime::cpu {

namespace {

/// Zeroes a padded row in blocks of a fixed size: most rows are one block, not worth a call.
inline void clear_row(float* to, std::size_t stride) {
  std::memset(to, 0, kPad * sizeof(float));
  if (stride > kPad) std::memset(to + kPad, 0, (stride - kPad) * sizeof(float));
}

inline void multiply(float factor, int width, float* values) {
  for (int i = 0; i < width; ++i) values[i] *= factor;
}

/// [token part, reals] of each of those rows at steps [begin, end), into `to` [steps][R][stride].
void gather_raw(const Context& context, const Window& window, bool training, const Slice& slice, const Rows& rows,
                int begin, int end, float* to, std::size_t stride) {
  const InputConfig input = context.model.config().input;
  const bool embedded = context.model.embedding >= 0;
  const int token_width = embedded ? input.embedding : input.vocabulary;
  const float* table =
      embedded ? context.parameters + context.model.parameters().block(context.model.embedding).offset : nullptr;
  const DropoutSite site = embedding_dropout(context.model.config().dropout);
  const bool dropped = training && site.active();
  const std::size_t step_stride = slice.rows * stride;
  to += rows.begin * stride;
  for (int r = rows.begin; r < rows.end; ++r, to += stride) {
    const Place first = place_at(window, begin, slice.first + r);
    const std::span<const std::int32_t> tokens = first.source->tokens;
    const float* values = first.source->values.data();
    float* at = to;
    std::int64_t index = first.index;
    const std::int64_t last = index + end - begin,
                       inside = std::min(last, static_cast<std::int64_t>(first.source->steps));
    for (; index < std::min<std::int64_t>(0, last); ++index, at += step_stride)
      std::fill_n(at, context.model.raw_inputs(), 0.0f);
    for (; index < inside; ++index, at += step_stride) {
      if (embedded) {
        const std::int32_t token = tokens[elements(index)];
        std::copy_n(table + elements(token, token_width), token_width, at);
        if (dropped) multiply(token_factor(site, window.mask_key, token), token_width, at);
      } else if (token_width > 0) {
        clear_row(at, stride);
        at[tokens[elements(index)]] = 1.0f;
      }
      const float* reals = values + elements(index, input.reals);
      if (input.reals == 1)
        at[token_width] = *reals;
      else if (input.reals > 1)
        std::copy_n(reals, input.reals, at + token_width);
    }
    for (; index < last; ++index, at += step_stride) std::fill_n(at, context.model.raw_inputs(), 0.0f);
  }
}

/// What the encoder makes of steps [begin, end): in one product where all rows of the steps lie behind each other.
void encode(const Context& context, const Slice& slice, Rows rows, int steps, const float* raw, float* input,
            std::size_t stride) {
  const PackedLinear& encoder = context.packed.encoder;
  const std::size_t raw_stride = padded(context.model.raw_inputs());
  const bool whole = rows.count() == slice.rows;
  for (int l = 0; l < (whole ? 1 : steps); ++l) {
    const std::size_t row = elements(l, slice.rows) + elements(rows.begin);
    multiply_panels(context.products, whole ? steps * slice.rows : rows.count(), raw + row * raw_stride, raw_stride,
                    encoder.forward, encoder.bias.data(), input + row * stride, stride);
  }
}

}  // namespace

void mask_rows(const Context& context, const DropoutSite& site, const Window& window, Slice& slice, Rows rows, int step,
               float* values, std::size_t stride, int width) {
  for (int r = rows.begin; r < rows.end; ++r)
    multiply_by_mask(context, site, window, slice, rows.lane, step, r, values + r * stride, width);
}

void gather_inputs(const Context& context, const Window& window, bool training, Slice& slice, const Rows& rows,
                   int begin, int end, int slot) {
  LayerTape& bottom = slice.layers.front();
  const std::size_t first = elements(slot, slice.rows);
  float* input = bottom.input.data() + first * bottom.inputs;
  if (context.packed.encoder.outputs > 0) {
    const std::size_t raw_stride = padded(context.model.raw_inputs());
    float* raw = slice.raw.data() + first * raw_stride;
    gather_raw(context, window, training, slice, rows, begin, end, raw, raw_stride);
    encode(context, slice, rows, end - begin, raw, input, bottom.inputs);
  } else {
    gather_raw(context, window, training, slice, rows, begin, end, input, bottom.inputs);
  }
  if (!training || context.model.config().dropout.input <= 0) return;
  const DropoutSite site = input_dropout(context.model.config().dropout);
  for (int l = begin; l < end; ++l, input += slice.rows * bottom.inputs)
    mask_rows(context, site, window, slice, rows, l, input, bottom.inputs, context.model.inputs());
}

void load_state(const Context& context, const float* from, Slice& slice) {
  const std::size_t size = context.model.state_size();
  for (std::size_t k = 0; k < slice.layers.size(); ++k) {
    const Layer& layer = context.model.layers()[k];
    const std::size_t stride = slice.layers[k].hidden;
    for (int tensor = 0; tensor < layer.cell->shape.states; ++tensor) {
      float* to = slice.state(static_cast<int>(k), tensor, 0);
      if (!from) {
        std::memset(to, 0, slice.rows * stride * sizeof(float));
        continue;
      }
      context.products.copy_rows(false, elements(slice.rows), elements(layer.hidden),
                                 from + slice.first * size + layer.state_offset + tensor * layer.hidden, size, to,
                                 stride);
    }
  }
}

void store_state(const Context& context, Slice& slice, int slot, float* to) {
  const std::size_t size = context.model.state_size();
  for (std::size_t k = 0; k < slice.layers.size(); ++k) {
    const Layer& layer = context.model.layers()[k];
    for (int tensor = 0; tensor < layer.cell->shape.states; ++tensor) {
      context.products.copy_rows(false, elements(slice.rows), elements(layer.hidden),
                                 slice.state(static_cast<int>(k), tensor, slot), slice.layers[k].hidden,
                                 to + slice.first * size + layer.state_offset + tensor * layer.hidden, size);
    }
  }
}

}  // namespace throughtime::cpu

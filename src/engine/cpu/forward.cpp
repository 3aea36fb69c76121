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

/// [token part, reals] of each row of the slice at steps [begin, end), into `to` [steps][R][stride].
void gather_raw(const Context& context, const Window& window, bool training, const Slice& slice, int begin, int end,
                float* to, std::size_t stride) {
  const InputConfig& input = context.model.config().input;
  const bool embedded = context.model.embedding >= 0;
  const int token_width = embedded ? input.embedding : input.vocabulary;
  const float* table =
      embedded ? context.parameters + context.model.parameters().block(context.model.embedding).offset : nullptr;
  const DropoutSite site = embedding_dropout(context.model.config().dropout);
  const bool dropped = training && site.active();
  const std::size_t step_stride = slice.rows * stride;
  for (int r = 0; r < slice.rows; ++r, to += stride) {
    Place place = place_at(window, begin, slice.first + r);
    const auto steps = static_cast<std::int64_t>(place.source->steps);
    float* at = to;
    for (int l = begin; l < end; ++l, ++place.index, at += step_stride) {
      if (place.index < 0 || place.index >= steps) {
        std::fill_n(at, context.model.raw_inputs(), 0.0f);
        continue;
      }
      if (embedded) {
        std::copy_n(table + elements(place.token(), token_width), token_width, at);
        if (dropped) multiply(token_factor(site, window.mask_key, place.token()), token_width, at);
      } else if (token_width > 0) {
        clear_row(at, stride);
        at[place.token()] = 1.0f;
      }
      if (input.reals == 1)
        at[token_width] = *place.reals();
      else if (input.reals > 1)
        std::copy_n(place.reals(), input.reals, at + token_width);
    }
  }
}

/// [R][stride] *= the masks of all rows of the slice at `step`.
void mask_rows(const Context& context, const DropoutSite& site, const Window& window, Slice& slice, int step,
               float* rows, std::size_t stride, int width) {
  for (int r = 0; r < slice.rows; ++r)
    multiply_by_mask(context, site, window, slice, step, r, rows + r * stride, width);
}

}  // namespace

void gather_inputs(const Context& context, const Window& window, bool training, Slice& slice, int begin, int end,
                   int slot) {
  LayerTape& bottom = slice.layers.front();
  const PackedLinear& encoder = context.packed.encoder;
  const std::size_t first = elements(slot, slice.rows);
  float* input = bottom.input.data() + first * bottom.inputs;
  if (encoder.outputs > 0) {
    const std::size_t raw_stride = padded(context.model.raw_inputs());
    float* raw = slice.raw.data() + first * raw_stride;
    gather_raw(context, window, training, slice, begin, end, raw, raw_stride);
    multiply_panels(context.products, (end - begin) * slice.rows, raw, raw_stride, encoder.forward, encoder.bias.data(),
                    input, bottom.inputs);
  } else {
    gather_raw(context, window, training, slice, begin, end, input, bottom.inputs);
  }
  if (!training || context.model.config().dropout.input <= 0) return;
  const DropoutSite site = input_dropout(context.model.config().dropout);
  for (int l = begin; l < end; ++l, input += slice.rows * bottom.inputs)
    mask_rows(context, site, window, slice, l, input, bottom.inputs, context.model.inputs());
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

namespace {

/// Copies of the requested states: those after `steps` steps, which lie in `slot`.
void hand_out_states(const Context& context, const UnrollArrays& call, Slice& slice, int steps, int slot) {
  const std::size_t whole = elements(call.window.batch, context.model.state_size());
  for (std::size_t i = 0; i < call.state_steps.size(); ++i)
    if (call.state_steps[i] == steps) store_state(context, slice, slot, call.states + i * whole);
}

/// One layer, one step: products and the cell's pointwise work, a panel of units at a time.
class LayerStep {
 public:
  LayerStep(const Context& context, Slice& slice, std::size_t k)
      : context_(context),
        slice_(slice),
        layer_(context.model.layers()[k]),
        packed_(context.packed.layers[k]),
        kernels_(context.cells[k]),
        tape_(slice.layers[k]),
        work_(slice.work[k]),
        index_(k) {
    const CellShape& shape = layer_.cell->shape;
    if (shape.joint && shape.late_rows == 0 && packed_.input.panels() <= kFewPanels) prepare();
  }

  void run(int slot, int saved_slot, const Window& window, int step_number) {
    const CellShape& shape = layer_.cell->shape;
    const float* state = slice_.state(static_cast<int>(index_), 0, slot);
    std::size_t state_plane = tape_.state_plane;
    if (copy_state_with_resets(context_, window, slice_, index_, step_number, slot)) {
      state = work_.state.data();
      state_plane = slice_.rows * tape_.hidden;
    }
    const float* input = layer_input(slice_, index_, slot);
    float* next = slice_.state(static_cast<int>(index_), 0, slot + 1);
    float* saved = tape_.saved.data() + elements(saved_slot, slice_.rows) * tape_.hidden;
    if (prepared_ > 0)
      step_prepared(input, state, state_plane, next, saved);
    else
      step(shape, input, state, state_plane, next, saved);
    if (holds_rows(window, slice_, step_number)) keep_held_states(context_, window, slice_, index_, step_number, slot);
  }

 private:
  static constexpr int kFewPanels = 2;
  /// What one panel of a joint cell does at every step; only the places of input, state and tape change.
  struct Panel {
    Product product;
    PointwiseForward<float> call;
    std::size_t first_unit = 0;
  };

  void start(PointwiseForward<float>& call) const {
    call.rows = slice_.rows;
    call.options = &layer_.options;
    call.row_stride = tape_.hidden;
    call.next_plane = tape_.state_plane;
    call.saved_plane = tape_.saved_plane;
  }

  void prepare() {
    prepared_ = packed_.input.panels();
    for (int p = 0; p < prepared_; ++p) {
      Panel& panel = few_[p];
      start(panel.call);
      float* states = tape_.states.data();
      aim(panel.call, p, states, states, tape_.saved.data());
      aim_sums(panel.product, p, nullptr, nullptr);
      panel.first_unit = packed_.input.column(p) / layer_.cell->shape.input_rows;
    }
  }

  void step_prepared(const float* input, const float* state, std::size_t state_plane, float* next, float* saved) {
    for (int p = 0; p < prepared_; ++p) {
      Panel& panel = few_[p];
      panel.product.term[0].a = input;
      panel.product.term[1].a = state;
      context_.products.multiply(panel.product);
      panel.call.state = state + panel.first_unit;
      panel.call.state_plane = state_plane;
      panel.call.next = next + panel.first_unit;
      if (panel.call.saved) panel.call.saved = saved + panel.first_unit;
      kernels_.forward(panel.call);
    }
  }

  void step(const CellShape& shape, const float* input, const float* state, std::size_t state_plane, float* next,
            float* saved) {
    PointwiseForward<float> call;
    start(call);
    call.state_plane = state_plane;
    for (int p = 0; p < packed_.input.panels(); ++p) {
      aim(call, p, state, next, saved);
      sums(p, input, state);
      if (shape.late_rows > 0)
        kernels_.forward_early(call);
      else
        kernels_.forward(call);
    }
    if (shape.late_rows == 0) return;  // no gated state, and perhaps nothing saved at all
    const float* gated = saved + shape.gated * tape_.saved_plane;
    for (int p = 0; p < packed_.input.panels(); ++p) {
      aim(call, p, state, next, saved);
      late_sums(p, gated);
      kernels_.forward(call);
    }
  }

  float* input_sums(int p) { return work_.input_sums.data() + slice_.rows * packed_.input.column(p); }
  float* recurrent_sums(int p) {
    return work_.recurrent_sums.data() + slice_.rows * (packed_.recurrent.column(p) + late_column(p));
  }
  std::size_t late_column(int p) const { return layer_.cell->shape.late_rows > 0 ? packed_.late.column(p) : 0; }
  std::size_t late_columns(int p) const { return layer_.cell->shape.late_rows > 0 ? packed_.late.columns(p) : 0; }

  void aim(PointwiseForward<float>& call, int p, const float* state, float* next, float* saved) {
    const std::size_t units = packed_.input.units(p);
    const std::size_t at = packed_.input.column(p) / layer_.cell->shape.input_rows;
    call.units = static_cast<int>(units);
    call.input = input_sums(p);
    call.input_stride = packed_.input.columns(p);
    call.input_block = units;
    if (!layer_.cell->shape.joint) {
      call.recurrent = recurrent_sums(p);
      call.recurrent_stride = packed_.recurrent.columns(p) + late_columns(p);
      call.recurrent_block = units;
    }
    call.state = state + at;
    call.next = next + at;
    call.saved = layer_.cell->shape.saved > 0 ? saved + at : nullptr;
  }

  /// Pre-activations of one panel of units: both parts in one sum for a joint cell, else apart. Fields are set one by
  /// one: copying a Term that was just written would wait for the writes.
  void sums(int p, const float* input, const float* state) {
    Product& product = product_;
    aim_sums(product, p, input, state);
    context_.products.multiply(product);
    if (layer_.cell->shape.joint || packed_.recurrent.panels() == 0) return;
    product.columns = packed_.recurrent.columns(p);
    aim(product.term[0], state, tape_.hidden, packed_.recurrent, p);
    product.c = recurrent_sums(p);
    product.c_stride = product.columns + late_columns(p);
    product.bias = packed_.recurrent_bias.data() + packed_.recurrent.column(p);
    context_.products.multiply(product);
  }

  /// The part of the pre-activations that comes from the input, and for a joint cell the whole of them.
  void aim_sums(Product& product, int p, const float* input, const float* state) {
    const bool joint = layer_.cell->shape.joint;
    product.rows = slice_.rows;
    product.columns = packed_.input.columns(p);
    product.terms = joint ? 2 : 1;
    aim(product.term[0], input, tape_.inputs, packed_.input, p);
    if (joint) aim(product.term[1], state, tape_.hidden, packed_.recurrent, p);
    product.c = input_sums(p);
    product.c_stride = product.columns;
    product.bias = packed_.input_bias.data() + packed_.input.column(p);
  }

  static void aim(Term& term, const float* a, std::size_t a_stride, const ForwardPanels& panels, int p) {
    term.a = a;
    term.a_stride = a_stride;
    term.b = panels.panel(p);
    term.b_stride = panels.columns(p);
    term.depth = panels.depth();
  }

  void late_sums(int p, const float* gated) {
    Product& product = product_;
    product.columns = packed_.late.columns(p);
    product.terms = 1;
    aim(product.term[0], gated, tape_.hidden, packed_.late, p);
    product.c = recurrent_sums(p) + packed_.recurrent.columns(p);
    product.c_stride = packed_.recurrent.columns(p) + late_columns(p);
    product.bias = packed_.recurrent_bias.data() + packed_.recurrent.width() + packed_.late.column(p);
    context_.products.multiply(product);
  }

  const Context& context_;
  Slice& slice_;
  const Layer& layer_;
  const PackedLayer& packed_;
  const CellKernels<float>& kernels_;
  LayerTape& tape_;
  LayerWork& work_;
  std::size_t index_;
  Product product_;
  Panel few_[kFewPanels];
  int prepared_ = 0;  // panels in `few_`; 0: there are more, or the cell's steps have several parts
};

/// The output of the layer below as the input of layer k, masked in training.
void copy_below(const Context& context, const Window& window, bool training, Slice& slice, std::size_t k, int step,
                int slot) {
  LayerTape& tape = slice.layers[k];
  float* to = tape.input.data() + elements(slot, slice.rows) * tape.inputs;
  std::memcpy(to, slice.state(static_cast<int>(k) - 1, 0, slot + 1), slice.rows * tape.inputs * sizeof(float));
  if (training)
    mask_rows(context, between_dropout(context.model.config().dropout, static_cast<int>(k)), window, slice, step, to,
              tape.inputs, context.model.layers()[k].inputs);
}

/// Where nothing is kept, a chunk begins where the previous one ended: its last slot becomes slot 0.
void move_last_slot(const Context& context, Slice& slice, int slot) {
  for (std::size_t k = 0; k < slice.layers.size(); ++k)
    for (int tensor = 0; tensor < context.model.layers()[k].cell->shape.states; ++tensor)
      std::memcpy(slice.state(static_cast<int>(k), tensor, 0), slice.state(static_cast<int>(k), tensor, slot),
                  slice.rows * slice.layers[k].hidden * sizeof(float));
}

/// Behind the steps from `first` on that a single row takes in one call: none is held, none but the first is reset.
int end_of_run(const Window& window, const Slice& slice, int first, int end) {
  if (window.flags.empty()) return end;
  if (window.holds_at(first, slice.first)) return first;
  int next = first + 1;
  while (next < end && window.flag_at(next, slice.first) == StepFlag::go_on) ++next;
  return next;
}

/// Layer k over steps [begin, end) of all rows, whose slots begin at step `base`.
void step_rows(const Context& context, const UnrollArrays& call, Slice& slice, std::size_t k, int begin, int end,
               int base) {
  LayerStep layer(context, slice, k);
  for (int l = begin; l < end; ++l) layer.run(l - base, call.keep == Keep::nothing ? 0 : l, call.window, l);
}

/// The same for a row alone: as many steps in one call as there are up to a reset, and those that are held one by one.
void step_row_alone(const Context& context, const UnrollArrays& call, Slice& slice, std::size_t k, int begin, int end,
                    int base) {
  const bool keeps = call.keep != Keep::nothing;
  for (int l = begin; l < end;) {
    const int next = end_of_run(call.window, slice, l, end);
    if (next == l) {
      step_rows(context, call, slice, k, l, l + 1, base);
      ++l;
      continue;
    }
    const bool reset = copy_state_with_resets(context, call.window, slice, k, l, l - base);
    unroll_row(context, slice, k, next - l, l - base, keeps ? l : 0, keeps, reset);
    l = next;
  }
}

}  // namespace

void assign_loss_slots(const Window& window, Slice& slice) {
  std::int32_t next = 0;
  const float* weight = window.weight.data() + slice.first;
  std::int32_t* slot = slice.loss_slot.data();
  if (window.batch == 1) {
    for (int l = 0; l < window.steps; ++l) slot[l] = weight[l] != 0.0f ? next++ : -1;
    return;
  }
  for (int l = 0; l < window.steps; ++l, weight += window.batch) {
    bool any = false;
    for (int r = 0; r < slice.rows; ++r) any |= weight[r] != 0.0f;
    *slot++ = any ? next++ : -1;
  }
}

void unroll_slice(const Context& context, const UnrollArrays& call, Slice& slice) {
  const Window& window = call.window;
  const bool keeps = call.keep != Keep::nothing;
  load_state(context, call.initial_state, slice);
  if (call.states) hand_out_states(context, call, slice, 0, 0);
  slice.loss = 0;
  slice.correct = 0;
  slice.penalties[0] = slice.penalties[1] = 0;
  slice.head_rows = 0;
  if (keeps) assign_loss_slots(window, slice);
  if (call.training) scale_differences(context, window, slice);
  for (int begin = 0; begin < window.steps; begin += slice.chunk) {
    const int end = std::min(window.steps, begin + slice.chunk);
    const int base = keeps ? 0 : begin;
    if (!keeps && begin > 0) move_last_slot(context, slice, slice.chunk);
    gather_inputs(context, window, call.training, slice, begin, end, begin - base);
    for (std::size_t k = 0; k < slice.layers.size(); ++k) {
      if (k > 0 && slice.layers[k].input.size() > 0)
        for (int l = begin; l < end; ++l) copy_below(context, window, call.training, slice, k, l, l - base);
      const auto steps = runs_alone(context, slice, k) ? step_row_alone : step_rows;
      steps(context, call, slice, k, begin, end, base);
    }
    HeadPass head{window, call.training, begin, end, base, call.losses, call.predictions};
    head.correct = call.correct;
    head.d_hidden = keeps && window.targets.layout != TargetLayout::none;
    head.d_parameters = call.keep == Keep::gradient && head.d_hidden;
    run_head(context, head, slice);
    if (call.training && !slice.slowness.empty()) sum_slowness(context, window, slice, begin, end, base);
    if (call.states)
      for (int l = begin; l < end; ++l) hand_out_states(context, call, slice, l + 1, l + 1 - base);
    if (end == window.steps && call.final_state) store_state(context, slice, end - base, call.final_state);
  }
}

}  // namespace throughtime::cpu

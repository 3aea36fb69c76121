#pragma once

#include "engine/cpu/passes.h"

namespace throughtime::cpu {

/// One layer, one step, some rows: products and the cell's pointwise work, a panel of units at a time.
class LayerStep {
 public:
  LayerStep(const Context& context, Slice& slice, Rows rows, std::size_t k)
      : context_(context),
        slice_(slice),
        rows_(rows),
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
    Places at = places(slot, saved_slot);
    if (copy_state_with_resets(context_, window, slice_, rows_, index_, step_number, slot)) {
      at.state = work_.state.data() + before();
      at.state_plane = slice_.rows * tape_.hidden;
    }
    if (prepared_ > 0) {
      step_prepared(at);
    } else {
      step_early(at, 0, packed_.input.panels());
      for (int p = 0; layer_.cell->shape.late_rows > 0 && p < packed_.input.panels(); ++p) {
        multiply_late(at, p, p + 1);
        complete(at, p, p + 1);
      }
    }
    if (holds_rows(window, slice_, rows_, step_number))
      keep_held_states(context_, window, slice_, rows_, index_, step_number, slot);
  }

  /// The same for panels [first, last) alone, where no row is reset or held. A cell with late rows has three rounds:
  /// the late products need the gated states of all panels, which are written again when the step is completed.
  static int rounds(const CellShape& shape) { return shape.late_rows > 0 ? 3 : 1; }
  void run_panels(int slot, int saved_slot, int first, int last, int round) {
    const Places at = places(slot, saved_slot);
    if (round == 0) return step_early(at, first, last);
    if (round == 1) return multiply_late(at, first, last);
    complete(at, first, last);
  }

 private:
  static constexpr int kFewPanels = 2;
  /// Where a step reads and writes, from the first of the rows on.
  struct Places {
    const float* input;
    const float* state;
    std::size_t state_plane;
    float* next;
    float* saved;
  };
  /// What one panel of a joint cell does at every step; only the places of input, state and tape change.
  struct Panel {
    Product product;
    PointwiseForward<float> call;
    std::size_t first_unit = 0;
  };

  /// Numbers of a state before the first of the rows.
  std::size_t before() const { return rows_.begin * tape_.hidden; }
  Places places(int slot, int saved_slot) {
    const int index = static_cast<int>(index_);
    return {layer_input(slice_, index_, slot) + rows_.begin * tape_.inputs, slice_.state(index, 0, slot) + before(),
            tape_.state_plane, slice_.state(index, 0, slot + 1) + before(),
            tape_.saved.data() + elements(saved_slot, slice_.rows) * tape_.hidden + before()};
  }

  void start(PointwiseForward<float>& call) const {
    call.rows = rows_.count();
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

  void step_prepared(const Places& at) {
    for (int p = 0; p < prepared_; ++p) {
      Panel& panel = few_[p];
      panel.product.term[0].a = at.input;
      panel.product.term[1].a = at.state;
      context_.products.multiply(panel.product);
      panel.call.state = at.state + panel.first_unit;
      panel.call.state_plane = at.state_plane;
      panel.call.next = at.next + panel.first_unit;
      if (panel.call.saved) panel.call.saved = at.saved + panel.first_unit;
      kernels_.forward(panel.call);
    }
  }

  void step_early(const Places& at, int first, int last) {
    PointwiseForward<float> call;
    start(call);
    call.state_plane = at.state_plane;
    const auto kernel = layer_.cell->shape.late_rows > 0 ? kernels_.forward_early : kernels_.forward;
    for (int p = first; p < last; ++p) {
      aim(call, p, at.state, at.next, at.saved);
      sums(p, at.input, at.state);
      kernel(call);
    }
  }

  void multiply_late(const Places& at, int first, int last) {
    const float* gated = at.saved + layer_.cell->shape.gated * tape_.saved_plane;
    for (int p = first; p < last; ++p) late_sums(p, gated);
  }

  void complete(const Places& at, int first, int last) {
    PointwiseForward<float> call;
    start(call);
    call.state_plane = at.state_plane;
    for (int p = first; p < last; ++p) {
      aim(call, p, at.state, at.next, at.saved);
      kernels_.forward(call);
    }
  }

  // Pre-activations: [panel][R][columns].
  float* input_sums(int p) {
    return work_.input_sums.data() + slice_.rows * packed_.input.column(p) + rows_.begin * packed_.input.columns(p);
  }
  float* recurrent_sums(int p) {
    return work_.recurrent_sums.data() + slice_.rows * (packed_.recurrent.column(p) + late_column(p)) +
           rows_.begin * (packed_.recurrent.columns(p) + late_columns(p));
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
    product.rows = rows_.count();
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
    product.rows = rows_.count();
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
  Rows rows_;
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

}  // namespace throughtime::cpu

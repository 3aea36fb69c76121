#pragma once

#include <algorithm>
#include <cstring>

#include "engine/cpu/passes.h"
#include "throughtime/index.h"

namespace throughtime::cpu {

/// The steps of one layer back, for some rows of a slice: from dL/d(state after a step) to dL/d(state before it). The
/// cotangents of the gates go to the row blocks of a chunk of steps, which begins at step `chunk`.
class LayerBack {
 public:
  LayerBack(const Context& context, const PullBackArrays& call, Slice& slice, Rows rows, int k, int chunk)
      : context_(context),
        call_(call),
        slice_(slice),
        rows_(rows),
        k_(k),
        chunk_(chunk),
        layer_(context.model.layers()[static_cast<std::size_t>(k)]),
        packed_(context.packed.layers[static_cast<std::size_t>(k)]),
        tape_(slice.layers[static_cast<std::size_t>(k)]),
        work_(slice.work[static_cast<std::size_t>(k)]),
        strides_(row_strides(layer_, tape_)),
        before_(rows.begin * tape_.hidden),
        plane_(slice.rows * tape_.hidden) {}

  /// Steps [begin, end), from the last to the first.
  void run(int begin, int end) {
    const bool alone = runs_alone(context_, slice_, elements(k_));
    bool prepared = false;
    for (int l = end - 1; l >= begin;) {
      enter(l);
      const int first = alone ? first_of_run(begin, l) : l + 1;
      if (first <= l) {
        run_row(first, l);
        l = first - 1;
      } else {
        if (!prepared) prepare();
        prepared = true;
        step(l);
        --l;
      }
    }
    finish(begin);
  }

  /// What lies before all steps of the window that are pulled back.
  void finish(int begin) {
    if (begin != call_.first) return;
    if (is_top() && call_.first > 0) add_slowness_of(call_.first, -1);
    tap(0);
  }

  /// Whether anybody reads dL/d(state before step l).
  bool is_read_before(int l) const {
    return l > call_.first || call_.initial_cotangent || call_.tap_norms || call_.tap_vectors;
  }

  // Units [first, last) of the rows alone, of a step without resets, held rows and taps. The gates need what entered
  // the recurrence in the step after: of their own units, while products need the gates of all of them.

  /// dL/dh of a step is complete; then its gates, all of them or the early ones.
  void gates_of_units(int l, int first, int last) {
    add_outside_cotangents(l, first, last);
    if (!is_top()) add_from_above(l, first, last);
    if (runs_alone(context_, slice_, elements(k_)))
      return pull_back_row(context_, slice_, elements(k_), l, l + 1, l - chunk_, strides_, false,
                           {.units = {first, last}, .gates = true, .products = false});
    prepare();
    aim(l, false);
    narrow_to(first, last);
    context_.cells[elements(k_)].backward(pointwise_);
  }
  /// The late rows of the product; all of it comes before the gates that wait for it, which write what it reads again.
  void late_products_of_units(int l, int first, int last) { multiply_late(d_gates(l), first, last); }
  void late_gates_of_units(int l, int first, int last) {
    prepare();
    aim(l, false);
    narrow_to(first, last);
    context_.cells[elements(k_)].backward_early(pointwise_);
  }
  /// dL/d(state before) += what passes through the recurrent weights.
  void products_of_units(int l, int first, int last) {
    if (layer_.cell->shape.recurrent_rows == 0) return;
    if (runs_alone(context_, slice_, elements(k_)))
      return pull_back_row(context_, slice_, elements(k_), l, l + 1, l - chunk_, strides_, false,
                           {.units = {first, last}, .gates = false, .products = true});
    multiply_columns(context_.products, rows_.count(), d_gates(l), strides_.d_recurrent, packed_.recurrent_back,
                     cotangent(), tape_.hidden, true, first, last);
  }

 private:
  bool is_top() const { return k_ + 1 == static_cast<int>(slice_.layers.size()); }
  float* cotangent() { return work_.cotangent.data() + before_; }
  std::size_t chunk_row(int l) const { return elements(l - chunk_, slice_.rows) + elements(rows_.begin); }
  float* d_gates(int l) {
    float* all = layer_.cell->shape.joint ? work_.d_input.data() : work_.d_recurrent.data();
    return all + chunk_row(l) * strides_.d_recurrent;
  }

  // -------------------------------------------------------------- what enters

  /// What arrives at the state after step l before the step itself is pulled back.
  void enter(int l) {
    add_outside_cotangents(l, 0, static_cast<int>(tape_.hidden));
    tap(l + 1 - call_.first);
    if (!is_top()) add_from_above(l, 0, static_cast<int>(tape_.hidden));
  }

  /// What enters dL/d(state after step l) from outside the recurrence: the head's share and the caller's.
  void add_outside_cotangents(int l, int first, int last) {
    const std::size_t hidden = tape_.hidden;
    if (is_top() && call_.losses)
      for (int r = rows_.begin; r < rows_.end; ++r)
        if (call_.window.weight_at(l, slice_.first + r) != 0.0f)
          add(first, last, slice_.sent_back(l, r), work_.cotangent.data() + r * hidden);
    if (is_top()) {
      add_slowness_of(l, 1);
      if (l + 1 < call_.last) add_slowness_of(l + 1, -1);
    }
    if (!call_.step_cotangents) return;
    const std::size_t size = context_.model.state_size();
    for (int tensor = 0; tensor < layer_.cell->shape.states; ++tensor)
      for (int r = rows_.begin; r < rows_.end; ++r)
        add(first, std::min(last, layer_.hidden),
            call_.step_cotangents + (elements(l, call_.window.batch) + slice_.first + r) * size + layer_.state_offset +
                tensor * layer_.hidden,
            work_.cotangent.data() + tensor * plane_ + r * hidden);
  }

  static void add(int first, int last, const float* from, float* to) {
    for (int i = first; i < last; ++i) to[i] += from[i];
  }

  /// The part of step l's difference that reaches the output after it (sign 1), or the one before it (-1).
  void add_slowness_of(int l, float sign) {
    if (penalises_slowness(call_, slice_))
      add_slowness(context_, call_.window, slice_, rows_, l, sign, work_.cotangent.data());
  }

  /// The layer above read this layer's output at the same step.
  void add_from_above(int l, int first, int last) {
    const float* from = slice_.d_below.data() + chunk_row(l) * tape_.hidden;
    float* own = cotangent();
    if (first == 0 && last == static_cast<int>(tape_.hidden)) return add(0, rows_.count() * last, from, own);
    for (int r = 0; r < rows_.count(); ++r, from += tape_.hidden, own += tape_.hidden) add(first, last, from, own);
  }

  /// Entry i of the taps, as far as this layer is concerned: its carried cotangent, squares summed for the norm.
  void tap(int i) {
    if (!call_.tap_norms && !call_.tap_vectors) return;
    const std::size_t entry = elements(i, call_.window.batch) + slice_.first, size = context_.model.state_size();
    for (int tensor = 0; tensor < layer_.cell->shape.states; ++tensor)
      for (int r = rows_.begin; r < rows_.end; ++r) {
        const float* own = work_.cotangent.data() + tensor * plane_ + r * tape_.hidden;
        if (call_.tap_norms)
          call_.tap_norms[entry + r] += static_cast<float>(context_.products.sum_of_squares(layer_.hidden, own));
        if (call_.tap_vectors)
          std::copy_n(own, layer_.hidden,
                      call_.tap_vectors + (entry + r) * size + layer_.state_offset + tensor * layer_.hidden);
      }
  }

  // -------------------------------------------------------------- a row alone

  /// The first of the steps up to l that a single row takes in one call: nothing enters between them, none is held,
  /// none but the first is reset. Behind l: step l is held.
  int first_of_run(int begin, int l) const {
    const Window& window = call_.window;
    if (window.holds_at(l, slice_.first)) return l + 1;
    int first = l;
    while (first > begin && !window.resets_at(first, slice_.first) && !window.holds_at(first - 1, slice_.first) &&
           nothing_enters(first - 1))
      --first;
    return first;
  }
  /// Steps [first, l] of a row alone.
  void run_row(int first, int l) {
    const bool reset = copy_state_with_resets(context_, call_.window, slice_, rows_, elements(k_), first, first);
    pull_back_row(context_, slice_, elements(k_), first, l + 1, first - chunk_, strides_, reset);
    if (reset) std::memset(work_.cotangent.data(), 0, work_.cotangent.bytes());
  }
  bool nothing_enters(int l) const {
    const bool taps = call_.tap_norms || call_.tap_vectors;
    return is_top() && !taps && !call_.step_cotangents && !penalises_slowness(call_, slice_) &&
           (!call_.losses || call_.window.weight_at(l, slice_.first) == 0.0f);
  }

  // -------------------------------------------------------------- several rows

  /// What the layer's steps have in common: per step only the places on the tape and of the gates change.
  void prepare() {
    pointwise_.rows = rows_.count();
    pointwise_.units = static_cast<int>(tape_.hidden);
    pointwise_.options = &layer_.options;
    pointwise_.saved_plane = tape_.saved_plane;
    pointwise_.next_plane = tape_.state_plane;
    pointwise_.row_stride = tape_.hidden;
    pointwise_.d_next = cotangent();
    pointwise_.d_state = cotangent();
    pointwise_.d_plane = plane_;
    pointwise_.d_input_stride = strides_.d_input;
    pointwise_.d_recurrent_stride = strides_.d_recurrent;
    pointwise_.d_block = tape_.hidden;
    const BackwardPanels& panels = packed_.recurrent_back;
    one_panel_ = panels.panels() == 1;
    product_.rows = rows_.count();
    product_.columns = panels.columns(0);
    product_.terms = 1;
    product_.term[0].a_stride = strides_.d_recurrent;
    product_.term[0].b = panels.panel(0);
    product_.term[0].b_stride = elements(product_.columns);
    product_.term[0].depth = panels.depth();
    product_.c = cotangent();
    product_.c_stride = tape_.hidden;
    product_.accumulate = true;
  }

  /// The pointwise call at step l; `reset`: the state before lies in the workspace.
  void aim(int l, bool reset) {
    const CellShape& shape = layer_.cell->shape;
    PointwiseBackward<float>& call = pointwise_;
    call.saved = shape.saved > 0 ? tape_.saved.data() + elements(l) * plane_ + before_ : nullptr;
    call.state = (reset ? work_.state.data() : slice_.state(k_, 0, l)) + before_;
    call.state_plane = reset ? plane_ : tape_.state_plane;
    call.next = slice_.state(k_, 0, l + 1) + before_;
    call.d_input = work_.d_input.data() + chunk_row(l) * strides_.d_input;
    call.d_recurrent = shape.joint ? nullptr : d_gates(l);
    call.d_gated = shape.late_rows > 0 ? work_.d_gated.data() + before_ : nullptr;
  }

  /// The same call for units [first, last) alone.
  void narrow_to(int first, int last) {
    PointwiseBackward<float>& call = pointwise_;
    call.units = last - first;
    for (const float** numbers : {&call.saved, &call.state, &call.next, &call.d_next, &call.d_gated})
      if (*numbers) *numbers += first;
    for (float** numbers : {&call.d_state, &call.d_input, &call.d_recurrent})
      if (*numbers) *numbers += first;
  }

  /// dL/d(gated state), of those units.
  void multiply_late(const float* d_gates, int first, int last) {
    const CellShape& shape = layer_.cell->shape;
    const std::size_t late = (shape.recurrent_rows - shape.late_rows) * tape_.hidden;
    multiply_columns(context_.products, rows_.count(), d_gates + late, strides_.d_recurrent, packed_.late_back,
                     work_.d_gated.data() + before_, tape_.hidden, false, first, last);
  }

  /// dL/d(state before) += what passes through the recurrent weights.
  void add_recurrent_cotangents(const float* d_gates) {
    if (one_panel_) {
      product_.term[0].a = d_gates;
      context_.products.multiply(product_);
    } else {
      multiply_panels(context_.products, rows_.count(), d_gates, strides_.d_recurrent, packed_.recurrent_back,
                      cotangent(), tape_.hidden, true);
    }
  }

  /// dL/d(state after l) becomes dL/d(state before l).
  void step(int l) {
    const CellShape& shape = layer_.cell->shape;
    const CellKernels<float>& kernels = context_.cells[elements(k_)];
    const bool reset = copy_state_with_resets(context_, call_.window, slice_, rows_, elements(k_), l, l);
    const bool held = holds_rows(call_.window, slice_, rows_, l);
    if (held) set_held_cotangents_aside(context_, call_.window, slice_, rows_, elements(k_), l);
    aim(l, reset);
    kernels.backward(pointwise_);
    if (shape.late_rows > 0) {
      multiply_late(d_gates(l), 0, static_cast<int>(tape_.hidden));
      kernels.backward_early(pointwise_);
    }
    if (is_read_before(l)) add_recurrent_cotangents(d_gates(l));
    if (reset)
      for (int tensor = 0; tensor < shape.states; ++tensor)
        zero_reset_rows(call_.window, slice_, rows_, l, tape_.hidden, work_.cotangent.data() + tensor * plane_);
    if (held) put_held_cotangents_back(context_, call_.window, slice_, rows_, elements(k_), l);
  }

  const Context& context_;
  const PullBackArrays& call_;
  Slice& slice_;
  Rows rows_;
  int k_, chunk_;
  const Layer& layer_;
  const PackedLayer& packed_;
  LayerTape& tape_;
  LayerWork& work_;
  RowStrides strides_;
  std::size_t before_;  // numbers of a state before the first of the rows
  std::size_t plane_;   // of all rows
  PointwiseBackward<float> pointwise_;
  Product product_;         // gates times the recurrent weights
  bool one_panel_ = false;  // which that product covers
};

}  // namespace throughtime::cpu

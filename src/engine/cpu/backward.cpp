#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "engine/cpu/passes.h"
#include "throughtime/index.h"

namespace throughtime::cpu {

namespace {

/// The work of one pull-back on one slice: from the last chunk of steps to the first, from the top layer down.
class SlicePullBack {
 public:
  SlicePullBack(const Context& context, const PullBackArrays& call, Slice& slice)
      : context_(context), call_(call), slice_(slice), size_(context.model.state_size()) {}

  void run() {
    if (call_.losses && !call_.head_ready) recompute_head();
    if (penalises_slowness()) scale_differences(context_, call_.window, slice_);
    clear_taps();
    load_end_cotangent();
    started_ = false;
    for (int end = call_.last; end > call_.first;) {
      // Chunks lie on multiples of the chunk length, as in the unroll.
      const int begin = std::max(call_.first, (end - 1) / slice_.chunk * slice_.chunk);
      for (int k = top(); k >= 0; --k) run_layer(k, begin, end);
      if (call_.gradient) pull_back_input(begin, end);
      started_ = true;
      end = begin;
    }
    finish_taps();
    if (call_.initial_cotangent) store_cotangent(call_.initial_cotangent);
  }

 private:
  int top() const { return static_cast<int>(slice_.layers.size()) - 1; }
  const Layer& layer(int k) const { return context_.model.layers()[k]; }
  LayerTape& tape(int k) { return slice_.layers[k]; }
  LayerWork& work(int k) { return slice_.work[k]; }
  const PackedLayer& packed(int k) const { return context_.packed.layers[k]; }
  std::size_t plane(int k) { return slice_.rows * tape(k).hidden; }
  std::size_t d_input_stride(int k) { return row_strides(layer(k), tape(k)).d_input; }
  std::size_t d_recurrent_stride(int k) { return row_strides(layer(k), tape(k)).d_recurrent; }
  float* d_recurrent(int k) { return layer(k).cell->shape.joint ? work(k).d_input.data() : work(k).d_recurrent.data(); }
  bool needs_input_gradient(int k) const { return k > 0 || (call_.gradient && packed(0).input_back.panels() > 0); }

  void recompute_head() {
    slice_.head_rows = 0;
    const double loss = slice_.loss, activation = slice_.penalties[0];
    HeadPass head{call_.window, call_.training, call_.first, call_.last, 0, nullptr, nullptr};
    head.d_hidden = true;
    head.d_parameters = call_.gradient;
    run_head(context_, head, slice_);
    slice_.loss = loss;
    slice_.penalties[0] = activation;
  }

  // -------------------------------------------------------------- cotangents at the ends

  /// Calls visit(layer, numbers of the slice's row, numbers of the buffer's row, count) for each row and tensor.
  template <class Visit>
  void for_each_state(const Visit& visit) {
    for (int k = 0; k <= top(); ++k)
      for (int tensor = 0; tensor < layer(k).cell->shape.states; ++tensor)
        for (int r = 0; r < slice_.rows; ++r)
          visit(work(k).cotangent.data() + tensor * plane(k) + r * tape(k).hidden,
                (slice_.first + r) * size_ + layer(k).state_offset + tensor * layer(k).hidden, layer(k).hidden);
  }

  void load_end_cotangent() {
    for (int k = 0; k <= top(); ++k) std::memset(work(k).cotangent.data(), 0, work(k).cotangent.bytes());
    if (call_.end_cotangent)
      for_each_state([&](float* own, std::size_t at, int count) { std::copy_n(call_.end_cotangent + at, count, own); });
  }

  void store_cotangent(float* to) {
    for_each_state([&](const float* own, std::size_t at, int count) { std::copy_n(own, count, to + at); });
  }

  // -------------------------------------------------------------- taps

  void clear_taps() {
    if (!call_.tap_norms) return;
    for (int i = 0; i <= call_.last - call_.first; ++i)
      std::fill_n(call_.tap_norms + elements(i, call_.window.batch) + slice_.first, slice_.rows, 0.0f);
  }

  /// Entry i of the taps, as far as layer k is concerned: its carried cotangent, squares summed for the norm.
  void tap(int k, int i) {
    if (!call_.tap_norms && !call_.tap_vectors) return;
    const std::size_t entry = elements(i, call_.window.batch) + slice_.first;
    for (int tensor = 0; tensor < layer(k).cell->shape.states; ++tensor)
      for (int r = 0; r < slice_.rows; ++r) {
        const float* own = work(k).cotangent.data() + tensor * plane(k) + r * tape(k).hidden;
        if (call_.tap_norms)
          call_.tap_norms[entry + r] += static_cast<float>(context_.products.sum_of_squares(layer(k).hidden, own));
        if (call_.tap_vectors)
          std::copy_n(own, layer(k).hidden,
                      call_.tap_vectors + (entry + r) * size_ + layer(k).state_offset + tensor * layer(k).hidden);
      }
  }

  void finish_taps() {
    if (!call_.tap_norms) return;
    for (int i = 0; i <= call_.last - call_.first; ++i)
      for (int r = 0; r < slice_.rows; ++r) {
        float& norm = call_.tap_norms[elements(i, call_.window.batch) + slice_.first + r];
        norm = std::sqrt(norm);
      }
  }

  // -------------------------------------------------------------- one layer over one chunk

  void run_layer(int k, int begin, int end) {
    if (k < top()) mask_d_below(k + 1, begin, end);
    bool prepared = false;
    const bool alone = runs_alone(context_, slice_, elements(k));
    bool resets = false;
    for (int l = end - 1; l >= begin;) {
      enter(k, l, begin);
      const int first = alone ? first_of_run(k, begin, l) : l + 1;
      if (first <= l) {
        resets |= run_row(k, first, l, begin);
        l = first - 1;
      } else {
        if (!std::exchange(prepared, true)) prepare(k);
        resets |= step(k, l, l - begin);
        --l;
      }
    }
    if (begin == call_.first && k == top() && call_.first > 0) add_slowness_of(call_.first, -1);
    if (begin == call_.first) tap(k, 0);
    if (call_.gradient) add_gradients(k, begin, end, resets);
    if (needs_input_gradient(k))
      multiply_panels(context_.products, (end - begin) * slice_.rows, work(k).d_input.data(), d_input_stride(k),
                      packed(k).input_back, slice_.d_below.data(), tape(k).inputs, false);
  }

  /// The first of the steps up to l that a single row takes in one call: nothing enters between them, none is held,
  /// none but the first is reset. Behind l: step l is held.
  int first_of_run(int k, int begin, int l) const {
    const Window& window = call_.window;
    if (window.holds_at(l, slice_.first)) return l + 1;
    int first = l;
    while (first > begin && !window.resets_at(first, slice_.first) && !window.holds_at(first - 1, slice_.first) &&
           nothing_enters(k, first - 1))
      --first;
    return first;
  }
  /// Steps [first, l] of a row alone. Returns whether the first was reset.
  bool run_row(int k, int first, int l, int begin) {
    const bool reset = copy_state_with_resets(context_, call_.window, slice_, elements(k), first, first);
    pull_back_row(context_, slice_, elements(k), first, l + 1, first - begin, row_strides(layer(k), tape(k)), reset);
    if (reset) std::memset(work(k).cotangent.data(), 0, work(k).cotangent.bytes());
    return reset;
  }
  bool nothing_enters(int k, int l) const {
    const bool taps = call_.tap_norms || call_.tap_vectors;
    return k == top() && !taps && !call_.step_cotangents && !penalises_slowness() &&
           (!call_.losses || call_.window.weight_at(l, slice_.first) == 0.0f);
  }

  /// What arrives at the state after step l before the step itself is pulled back.
  void enter(int k, int l, int begin) {
    add_outside_cotangents(k, l);
    tap(k, l + 1 - call_.first);
    if (k < top()) add_from_above(k, l - begin);
  }

  /// What enters dL/d(state after step l) from outside the recurrence: the head's share and the caller's.
  void add_outside_cotangents(int k, int l) {
    const std::size_t hidden = tape(k).hidden;
    if (k == top() && call_.losses)
      for (int r = 0; r < slice_.rows; ++r)
        if (call_.window.weight_at(l, slice_.first + r) != 0.0f) {
          const float* from = slice_.sent_back(l, r);
          float* own = work(k).cotangent.data() + r * hidden;
          for (std::size_t i = 0; i < hidden; ++i) own[i] += from[i];
        }
    if (k == top()) {
      add_slowness_of(l, 1);
      if (l + 1 < call_.last) add_slowness_of(l + 1, -1);
    }
    if (!call_.step_cotangents) return;
    for (int tensor = 0; tensor < layer(k).cell->shape.states; ++tensor)
      for (int r = 0; r < slice_.rows; ++r) {
        const float* from = call_.step_cotangents + (elements(l, call_.window.batch) + slice_.first + r) * size_ +
                            layer(k).state_offset + tensor * layer(k).hidden;
        float* own = work(k).cotangent.data() + tensor * plane(k) + r * hidden;
        for (int i = 0; i < layer(k).hidden; ++i) own[i] += from[i];
      }
  }

  bool penalises_slowness() const { return call_.losses && call_.training && !slice_.slowness.empty(); }
  /// The part of step l's difference that reaches the output after it (sign 1), or the one before it (-1).
  void add_slowness_of(int l, float sign) {
    if (penalises_slowness()) add_slowness(context_, call_.window, slice_, l, sign, work(top()).cotangent.data());
  }

  /// The layer above read this layer's output at the same step.
  void add_from_above(int k, int chunk_step) {
    const float* from = slice_.d_below.data() + elements(chunk_step, slice_.rows) * tape(k + 1).inputs;
    float* own = work(k).cotangent.data();
    for (std::size_t i = 0; i < plane(k); ++i) own[i] += from[i];
  }

  /// d_below came through the masked copy of layer k's input.
  void mask_d_below(int k, int begin, int end) {
    const DropoutSite site = between_dropout(context_.model.config().dropout, k);
    if (!call_.training || !site.active()) return;
    mask_rows(site, begin, end, layer(k).inputs, tape(k).inputs, slice_.d_below.data());
  }

  void mask_rows(const DropoutSite& site, int begin, int end, int width, std::size_t stride, float* values) {
    for (int l = begin; l < end; ++l)
      for (int r = 0; r < slice_.rows; ++r, values += stride)
        multiply_by_mask(context_, site, call_.window, slice_, l, r, values, width);
  }

  /// What layer k's steps have in common: per step only the places on the tape and of the gates change.
  void prepare(int k) {
    pointwise_.rows = slice_.rows;
    pointwise_.units = static_cast<int>(tape(k).hidden);
    pointwise_.options = &layer(k).options;
    pointwise_.saved_plane = tape(k).saved_plane;
    pointwise_.next_plane = tape(k).state_plane;
    pointwise_.row_stride = tape(k).hidden;
    pointwise_.d_next = work(k).cotangent.data();
    pointwise_.d_state = work(k).cotangent.data();
    pointwise_.d_plane = plane(k);
    pointwise_.d_input_stride = d_input_stride(k);
    pointwise_.d_recurrent_stride = d_recurrent_stride(k);
    pointwise_.d_block = tape(k).hidden;
    const BackwardPanels& panels = packed(k).recurrent_back;
    one_panel_ = panels.panels() == 1;
    product_.rows = slice_.rows;
    product_.columns = panels.columns(0);
    product_.terms = 1;
    product_.term[0].a_stride = d_recurrent_stride(k);
    product_.term[0].b = panels.panel(0);
    product_.term[0].b_stride = elements(product_.columns);
    product_.term[0].depth = panels.depth();
    product_.c = work(k).cotangent.data();
    product_.c_stride = tape(k).hidden;
    product_.accumulate = true;
  }

  /// dL/d(state before) += what passes through the recurrent weights.
  void add_recurrent_cotangents(int k, const float* d_gates) {
    if (one_panel_) {
      product_.term[0].a = d_gates;
      context_.products.multiply(product_);
    } else {
      multiply_panels(context_.products, slice_.rows, d_gates, d_recurrent_stride(k), packed(k).recurrent_back,
                      work(k).cotangent.data(), tape(k).hidden, true);
    }
  }

  /// dL/d(state after l) becomes dL/d(state before l); gate cotangents go to row block `chunk_step`. Returns whether
  /// rows were reset.
  bool step(int k, int l, int chunk_step) {
    const CellShape& shape = layer(k).cell->shape;
    const CellKernels<float>& kernels = context_.cells[k];
    const bool reset = copy_state_with_resets(context_, call_.window, slice_, elements(k), l, l);
    const bool held = holds_rows(call_.window, slice_, l);
    if (held) set_held_cotangents_aside(context_, call_.window, slice_, elements(k), l);
    const std::size_t row = elements(chunk_step, slice_.rows);
    const std::size_t hidden = tape(k).hidden;
    float* d_gates = d_recurrent(k) + row * d_recurrent_stride(k);

    PointwiseBackward<float>& call = pointwise_;
    call.saved = shape.saved > 0 ? tape(k).saved.data() + elements(l) * plane(k) : nullptr;
    call.state = reset ? work(k).state.data() : slice_.state(k, 0, l);
    call.state_plane = reset ? plane(k) : tape(k).state_plane;
    call.next = slice_.state(k, 0, l + 1);
    call.d_input = work(k).d_input.data() + row * d_input_stride(k);
    call.d_recurrent = shape.joint ? nullptr : d_gates;
    kernels.backward(call);
    if (shape.late_rows > 0) {
      const std::size_t late = (shape.recurrent_rows - shape.late_rows) * hidden;
      multiply_panels(context_.products, slice_.rows, d_gates + late, d_recurrent_stride(k), packed(k).late_back,
                      work(k).d_gated.data(), hidden, false);
      call.d_gated = work(k).d_gated.data();
      kernels.backward_early(call);
    }
    if (l > call_.first || call_.initial_cotangent || call_.tap_norms || call_.tap_vectors)
      add_recurrent_cotangents(k, d_gates);
    if (reset)
      for (int tensor = 0; tensor < shape.states; ++tensor)
        zero_reset_rows(call_.window, slice_, l, hidden, work(k).cotangent.data() + tensor * plane(k));
    if (held) put_held_cotangents_back(context_, call_.window, slice_, elements(k), l);
    return reset;
  }

  // -------------------------------------------------------------- parameter gradients

  /// The outputs before each step of the chunk, [rows][Hp]: the tape's own unless rows were reset.
  const float* previous_outputs(int k, int begin, int end, bool resets) {
    const float* from = slice_.state(k, 0, begin);
    if (!resets) return from;
    float* to = work(k).previous.data();
    std::memcpy(to, from, (end - begin) * plane(k) * sizeof(float));
    for (int l = begin; l < end; ++l)
      zero_reset_rows(call_.window, slice_, l, tape(k).hidden, to + (l - begin) * plane(k));
    return to;
  }

  /// Rows of `groups` groups of gates in a product: those that pad the last group are left out.
  int gate_rows(int k, int groups) { return (groups - 1) * static_cast<int>(tape(k).hidden) + layer(k).hidden; }

  void add_gradients(int k, int begin, int end, bool resets) {
    const CellShape& shape = layer(k).cell->shape;
    const int rows = (end - begin) * slice_.rows;
    if (call_.layers_in_place)
      return add_layer_gradient(context_, elements(k), {.steps = rows, .add = started_ || call_.add},
                                previous_outputs(k, begin, end, resets), layer_input(slice_, elements(k), begin),
                                slice_, call_.in_place);
    LayerGradient& sums = slice_.layer_gradients[k];
    const std::size_t hidden = tape(k).hidden;
    const int input_gates = static_cast<int>(shape.input_rows * hidden);

    const float* input = tape(k).input.size() > 0 ? tape(k).input.data() + elements(begin, slice_.rows) * tape(k).inputs
                                                  : slice_.state(k - 1, 0, begin + 1);
    if (narrow(layer(k).inputs))
      add_weight_gradient(context_.products, rows, input, tape(k).inputs, layer(k).inputs, work(k).d_input.data(),
                          d_input_stride(k), input_gates, sums.input_weights.data(), started_);
    else
      add_weight_gradient(context_.products, rows, work(k).d_input.data(), d_input_stride(k),
                          gate_rows(k, shape.input_rows), input, tape(k).inputs, tape(k).inputs,
                          sums.input_weights.data(), started_);
    add_bias(rows, work(k).d_input.data(), d_input_stride(k), sums.input_bias);
    if (shape.recurrent_rows > 0) add_recurrent_gradients(k, begin, end, resets);
  }

  void add_recurrent_gradients(int k, int begin, int end, bool resets) {
    const CellShape& shape = layer(k).cell->shape;
    LayerGradient& sums = slice_.layer_gradients[k];
    const int rows = (end - begin) * slice_.rows;
    const int early = shape.recurrent_rows - shape.late_rows;
    const std::size_t hidden = tape(k).hidden;
    const float* d_gates = d_recurrent(k);
    const bool in_place = call_.in_place && written_in_place(context_.model, layer(k));
    const bool started = started_ || (in_place && call_.add);
    float* recurrent = in_place ? call_.in_place + context_.model.parameters().block(layer(k).weight_hh).offset
                                : sums.recurrent_weights.data();
    if (early > 0)
      add_weight_gradient(context_.products, rows, d_gates, d_recurrent_stride(k), gate_rows(k, early),
                          previous_outputs(k, begin, end, resets), hidden, hidden, recurrent, started);
    if (shape.late_rows > 0)
      add_weight_gradient(context_.products, rows, d_gates + early * hidden, d_recurrent_stride(k),
                          static_cast<int>(shape.late_rows * hidden),
                          tape(k).saved.data() + shape.gated * tape(k).saved_plane + begin * plane(k), hidden, hidden,
                          recurrent + early * hidden * hidden, started);
    if (!shape.joint && shape.recurrent_bias) add_bias(rows, d_gates, d_recurrent_stride(k), sums.recurrent_bias);
  }

  void add_bias(int rows, const float* d, std::size_t stride, Array& sums) {
    if (!started_) std::memset(sums.data(), 0, sums.bytes());
    context_.products.add_rows(rows, sums.size(), d, stride, sums.data());
  }

  /// Through input dropout and encoder down to the embedding's rows, which are left in d_raw.
  void pull_back_input(int begin, int end) {
    if (!needs_input_gradient(0)) return;
    const int rows = (end - begin) * slice_.rows;
    const DropoutSite site = input_dropout(context_.model.config().dropout);
    if (call_.training && site.active())
      mask_rows(site, begin, end, context_.model.inputs(), tape(0).inputs, slice_.d_below.data());
    const PackedLinear& encoder = context_.packed.encoder;
    const std::size_t raw = padded(context_.model.raw_inputs());
    float* d_raw = slice_.d_raw.size() > 0 ? slice_.d_raw.data() + elements(begin, slice_.rows) * raw : nullptr;
    if (encoder.outputs == 0) {
      std::copy_n(slice_.d_below.data(), rows * raw, d_raw);
      return;
    }
    const float* inputs = slice_.raw.data() + elements(begin, slice_.rows) * raw;
    LinearGradient& sums = slice_.encoder_gradient;
    add_weight_gradient(context_.products, rows, slice_.d_below.data(), tape(0).inputs, encoder.outputs, inputs, raw,
                        raw, sums.weights.data(), started_);
    add_bias(rows, slice_.d_below.data(), tape(0).inputs, sums.bias);
    if (d_raw)
      multiply_panels(context_.products, rows, slice_.d_below.data(), tape(0).inputs, encoder.backward, d_raw, raw,
                      false);
  }

  const Context& context_;
  const PullBackArrays& call_;
  Slice& slice_;
  std::size_t size_;                    // S
  PointwiseBackward<float> pointwise_;  // of the layer that is worked on
  Product product_;                     // likewise: gates times the recurrent weights
  bool one_panel_ = false;              // which that product covers
  bool started_ = false;                // the gradients hold a chunk already
};

}  // namespace

void pull_back_slice(const Context& context, const PullBackArrays& call, Slice& slice) {
  SlicePullBack(context, call, slice).run();
}

}  // namespace throughtime::cpu

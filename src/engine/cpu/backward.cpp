#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/cpu/layer_back.h"
#include "engine/cpu/passes.h"
#include "engine/cpu/sharing.h"
#include "throughtime/index.h"

namespace throughtime::cpu {

namespace {

/// The work of one pull-back on one slice: from the last chunk of steps to the first, from the top layer down.
class SlicePullBack {
 public:
  SlicePullBack(const Context& context, const PullBackArrays& call, Slice& slice, Crew& crew)
      : context_(context), call_(call), slice_(slice), crew_(crew), size_(context.model.state_size()) {}

  void run() {
    if (call_.losses && !call_.head_ready) recompute_head();
    if (penalises_slowness(call_, slice_)) scale_differences(context_, call_.window, slice_);
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
    run_head(context_, head, slice_, crew_);
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
    run_steps(k, begin, end);
    const bool resets = call_.gradient && any_reset(begin, end);
    if (resets) copy_previous_outputs(k, begin, end);
    const int rows = (end - begin) * slice_.rows;
    if (call_.gradient) sum_gradients(k, begin, end, resets);
    if (needs_input_gradient(k))
      share_panels(crew_, context_.products, rows, work(k).d_input.data(), d_input_stride(k), packed(k).input_back,
                   slice_.d_below.data(), tape(k).inputs, false);
  }

  void run_steps(int k, int begin, int end) {
    const int parts = parts_of(k, begin, end);
    switch (choose_sharing(crew_.size(), slice_.rows, weights_of(layer(k)), end - begin, parts)) {
      case Sharing::nothing:
        return LayerBack(context_, call_, slice_, slice_.all(), k, begin).run(begin, end);
      case Sharing::rows:
        return crew_.share(row_parts(slice_.rows), [&](Part part) {
          LayerBack(context_, call_, slice_, rows_of(part, slice_), k, begin).run(begin, end);
        });
      case Sharing::units:
        run_units(k, begin, end, parts);
    }
  }

  /// Into how many parts the units of a layer can be cut; what looks at whole rows at a step is in the way.
  int parts_of(int k, int begin, int end) {
    if (call_.tap_norms || call_.tap_vectors || penalises_slowness(call_, slice_)) return 0;
    for (int l = begin; !call_.window.flags.empty() && l < end; ++l)
      if (has_flags(call_.window, slice_, l)) return 0;
    return static_cast<int>(tape(k).hidden) / unit_of(k);
  }
  /// Units that stay together: a row alone reads whole panels.
  int unit_of(int k) const { return runs_alone(context_, slice_, elements(k)) ? kPanel : 2 * kPad; }

  /// Every thread has its own units. What a step sends back to them and what the step before makes of that is one piece
  /// of work: only between the gates and their products the threads wait for each other.
  void run_units(int k, int begin, int end, int parts) {
    const bool late = layer(k).cell->shape.late_rows > 0;
    const int hidden = static_cast<int>(tape(k).hidden), unit = unit_of(k);
    const auto share = [&](const auto& task) {
      crew_.share(parts, [&](Part part) {
        const auto [first, last] = part.of(hidden, unit);
        task(LayerBack(context_, call_, slice_, slice_.all(), k, begin), first, last);
      });
    };
    for (int l = end - 1; l >= begin; --l) {
      share([&](LayerBack&& back, int first, int last) {
        if (l + 1 < end) back.products_of_units(l + 1, first, last);
        back.gates_of_units(l, first, last);
      });
      if (!late) continue;
      share([&](LayerBack&& back, int first, int last) { back.late_products_of_units(l, first, last); });
      share([&](LayerBack&& back, int first, int last) { back.late_gates_of_units(l, first, last); });
    }
    share([&](LayerBack&& back, int first, int last) {
      if (back.is_read_before(begin)) back.products_of_units(begin, first, last);
    });
  }

  /// d_below came through the masked copy of layer k's input.
  void mask_d_below(int k, int begin, int end) {
    const DropoutSite site = between_dropout(context_.model.config().dropout, k);
    if (!call_.training || !site.active()) return;
    mask_steps(site, begin, end, layer(k).inputs, tape(k).inputs);
  }

  void mask_steps(const DropoutSite& site, int begin, int end, int width, std::size_t stride) {
    crew_.share(row_parts(slice_.rows), [&](Part part) {
      const Rows rows = rows_of(part, slice_);
      for (int l = begin; l < end; ++l)
        mask_rows(context_, site, call_.window, slice_, rows, l,
                  slice_.d_below.data() + elements(l - begin, slice_.rows) * stride, stride, width);
    });
  }

  // -------------------------------------------------------------- parameter gradients

  bool any_reset(int begin, int end) const {
    bool any = false;
    for (int l = begin; !call_.window.flags.empty() && l < end; ++l)
      any |= resets_rows(call_.window, slice_, slice_.all(), l);
    return any;
  }

  /// The outputs before each step of the chunk, [rows][Hp]: the tape's own unless rows were reset.
  void copy_previous_outputs(int k, int begin, int end) {
    float* to = work(k).previous.data();
    std::memcpy(to, slice_.state(k, 0, begin), (end - begin) * plane(k) * sizeof(float));
    for (int l = begin; l < end; ++l)
      zero_reset_rows(call_.window, slice_, slice_.all(), l, tape(k).hidden, to + (l - begin) * plane(k));
  }

  const float* previous_outputs(int k, int begin, bool resets) {
    return resets ? work(k).previous.data() : slice_.state(k, 0, begin);
  }

  /// Rows of `groups` groups of gates in a product: those that pad the last group are left out.
  int gate_rows(int k, int groups) { return (groups - 1) * static_cast<int>(tape(k).hidden) + layer(k).hidden; }

  void sum_gradients(int k, int begin, int end, bool resets) {
    const int rows = (end - begin) * slice_.rows;
    if (call_.layers_in_place)  // too little to share
      layer_gradient(context_, elements(k), {.steps = rows, .add = started_ || call_.add},
                     previous_outputs(k, begin, resets), layer_input(slice_, elements(k), begin), slice_,
                     call_.in_place)
          .run(context_.row_products);
    else
      crew_.share(parts_worth(crew_, rows * weights_of(layer(k))),
                  [&](Part part) { add_gradients(part, k, begin, end, resets); });
  }

  void add_gradients(Part part, int k, int begin, int end, bool resets) {
    const CellShape& shape = layer(k).cell->shape;
    const int rows = (end - begin) * slice_.rows;
    LayerGradient& sums = slice_.layer_gradients[k];
    const std::size_t hidden = tape(k).hidden;
    const int input_gates = static_cast<int>(shape.input_rows * hidden);

    const float* input = tape(k).input.size() > 0 ? tape(k).input.data() + elements(begin, slice_.rows) * tape(k).inputs
                                                  : slice_.state(k - 1, 0, begin + 1);
    if (narrow(layer(k).inputs))
      add_weight_gradient(part, context_.products, rows, input, tape(k).inputs, layer(k).inputs, work(k).d_input.data(),
                          d_input_stride(k), input_gates, sums.input_weights.data(), started_);
    else
      add_weight_gradient(part, context_.products, rows, work(k).d_input.data(), d_input_stride(k),
                          gate_rows(k, shape.input_rows), input, tape(k).inputs, tape(k).inputs,
                          sums.input_weights.data(), started_);
    add_bias_gradient(part, context_.products, rows, work(k).d_input.data(), d_input_stride(k), sums.input_bias,
                      started_);
    if (shape.recurrent_rows > 0) add_recurrent_gradients(part, k, begin, end, resets);
  }

  void add_recurrent_gradients(Part part, int k, int begin, int end, bool resets) {
    const CellShape& shape = layer(k).cell->shape;
    LayerGradient& sums = slice_.layer_gradients[k];
    const int rows = (end - begin) * slice_.rows;
    const int early = shape.recurrent_rows - shape.late_rows;
    const std::size_t hidden = tape(k).hidden;
    const float* d_gates = d_recurrent(k);
    const float* previous = previous_outputs(k, begin, resets);
    const bool in_place = call_.in_place && written_in_place(context_.model, layer(k));
    const bool started = started_ || (in_place && call_.add);
    float* recurrent = in_place ? call_.in_place + context_.model.parameters().block(layer(k).weight_hh).offset
                                : sums.recurrent_weights.data();
    if (early > 0)
      add_weight_gradient(part, context_.products, rows, d_gates, d_recurrent_stride(k), gate_rows(k, early), previous,
                          hidden, hidden, recurrent, started);
    if (shape.late_rows > 0)
      add_weight_gradient(part, context_.products, rows, d_gates + early * hidden, d_recurrent_stride(k),
                          static_cast<int>(shape.late_rows * hidden),
                          tape(k).saved.data() + shape.gated * tape(k).saved_plane + begin * plane(k), hidden, hidden,
                          recurrent + early * hidden * hidden, started);
    if (!shape.joint && shape.recurrent_bias)
      add_bias_gradient(part, context_.products, rows, d_gates, d_recurrent_stride(k), sums.recurrent_bias, started_);
  }

  /// Through input dropout and encoder down to the embedding's rows, which are left in d_raw.
  void pull_back_input(int begin, int end) {
    if (!needs_input_gradient(0)) return;
    const int rows = (end - begin) * slice_.rows;
    const DropoutSite site = input_dropout(context_.model.config().dropout);
    if (call_.training && site.active()) mask_steps(site, begin, end, context_.model.inputs(), tape(0).inputs);
    const PackedLinear& encoder = context_.packed.encoder;
    const std::size_t raw = padded(context_.model.raw_inputs());
    float* d_raw = slice_.d_raw.size() > 0 ? slice_.d_raw.data() + elements(begin, slice_.rows) * raw : nullptr;
    if (encoder.outputs == 0) {
      std::copy_n(slice_.d_below.data(), rows * raw, d_raw);
      return;
    }
    const float* inputs = slice_.raw.data() + elements(begin, slice_.rows) * raw;
    LinearGradient& sums = slice_.encoder_gradient;
    crew_.share(crew_.size(), [&](Part part) {
      add_weight_gradient(part, context_.products, rows, slice_.d_below.data(), tape(0).inputs, encoder.outputs, inputs,
                          raw, raw, sums.weights.data(), started_);
      add_bias_gradient(part, context_.products, rows, slice_.d_below.data(), tape(0).inputs, sums.bias, started_);
    });
    if (d_raw)
      share_panels(crew_, context_.products, rows, slice_.d_below.data(), tape(0).inputs, encoder.backward, d_raw, raw,
                   false);
  }

  const Context& context_;
  const PullBackArrays& call_;
  Slice& slice_;
  Crew& crew_;
  std::size_t size_;      // S
  bool started_ = false;  // the gradients hold a chunk already
};

}  // namespace

void pull_back_slice(const Context& context, const PullBackArrays& call, Slice& slice, Crew& crew) {
  SlicePullBack(context, call, slice, crew).run();
}

}  // namespace throughtime::cpu

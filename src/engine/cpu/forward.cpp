#include <algorithm>
#include <cstring>

#include "engine/cpu/layer_step.h"
#include "engine/cpu/passes.h"
#include "engine/cpu/sharing.h"
#include "throughtime/index.h"

namespace throughtime::cpu {

namespace {

/// Copies of the requested states: those after `steps` steps, which lie in `slot`.
void hand_out_states(const Context& context, const UnrollArrays& call, Slice& slice, int steps, int slot) {
  const std::size_t whole = elements(call.window.batch, context.model.state_size());
  for (std::size_t i = 0; i < call.state_steps.size(); ++i)
    if (call.state_steps[i] == steps) store_state(context, slice, slot, call.states + i * whole);
}

/// The output of the layer below as the input of layer k, masked in training.
void copy_below(const Context& context, const Window& window, bool training, Slice& slice, Rows rows, std::size_t k,
                int step, int slot) {
  LayerTape& tape = slice.layers[k];
  float* to = tape.input.data() + elements(slot, slice.rows) * tape.inputs;
  const std::size_t first = rows.begin * tape.inputs;
  std::memcpy(to + first, slice.state(static_cast<int>(k) - 1, 0, slot + 1) + first,
              rows.count() * tape.inputs * sizeof(float));
  if (training)
    mask_rows(context, between_dropout(context.model.config().dropout, static_cast<int>(k)), window, slice, rows, step,
              to, tape.inputs, context.model.layers()[k].inputs);
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

/// Whether a row is weighted at one of the steps [begin, end).
bool any_weight(const Window& window, const Slice& slice, int begin, int end) {
  for (int l = begin; l < end; ++l)
    for (int r = 0; r < slice.rows; ++r)
      if (window.weight_at(l, slice.first + r) != 0.0f) return true;
  return false;
}

/// The steps of a slice, forth: from inputs to the states of all layers.
class SliceUnroll {
 public:
  SliceUnroll(const Context& context, const UnrollArrays& call, Slice& slice, Crew& crew)
      : context_(context),
        call_(call),
        window_(call.window),
        slice_(slice),
        crew_(crew),
        keeps_(call.keep != Keep::nothing) {}

  /// Steps [begin, end), whole chunks but for the last, whose slots begin at step `base`.
  void run(int begin, int end, int base) {
    const int count = std::min(end - begin, slice_.chunk);
    switch (choose_sharing(crew_.size(), slice_.rows, weights_of(context_.model), count, most_parts())) {
      case Sharing::nothing:
        return run_rows(slice_.all(), begin, end, base);
      case Sharing::rows:
        return crew_.share(row_parts(slice_.rows),
                           [&](Part part) { run_rows(rows_of(part, slice_), begin, end, base); });
      case Sharing::units:
        for (int at = begin; at < end; at += slice_.chunk) run_units(at, std::min(end, at + slice_.chunk), base);
    }
  }

 private:
  /// Layer after layer, chunk after chunk.
  void run_rows(Rows rows, int begin, int end, int base) {
    for (; begin < end; begin += slice_.chunk) {
      const int behind = std::min(end, begin + slice_.chunk);
      gather_inputs(context_, window_, call_.training, slice_, rows, begin, behind, begin - base);
      for (std::size_t k = 0; k < slice_.layers.size(); ++k) {
        copy_input(rows, k, begin, behind, base);
        if (runs_alone(context_, slice_, k))
          step_row_alone(k, begin, behind, base);
        else
          step_rows(rows, k, begin, behind, base);
      }
    }
  }

  void copy_input(Rows rows, std::size_t k, int begin, int end, int base) {
    if (k == 0 || slice_.layers[k].input.size() == 0) return;
    for (int l = begin; l < end; ++l) copy_below(context_, window_, call_.training, slice_, rows, k, l, l - base);
  }

  int saved_slot(int l) const { return keeps_ ? l : 0; }

  /// Layer k over steps [begin, end).
  void step_rows(Rows rows, std::size_t k, int begin, int end, int base) {
    LayerStep layer(context_, slice_, rows, k);
    for (int l = begin; l < end; ++l) layer.run(l - base, saved_slot(l), window_, l);
  }

  /// The same for a row alone: as many steps in one call as there are up to a reset, and those that are held one by
  /// one.
  void step_row_alone(std::size_t k, int begin, int end, int base) {
    for (int l = begin; l < end;) {
      const int next = end_of_run(window_, slice_, l, end);
      if (next == l) {
        step_rows(slice_.all(), k, l, l + 1, base);
        ++l;
        continue;
      }
      const bool reset = copy_state_with_resets(context_, window_, slice_, slice_.all(), k, l, l - base);
      unroll_row(context_, slice_, k, next - l, l - base, saved_slot(l), keeps_, reset);
      l = next;
    }
  }

  // -------------------------------------------------------------- units shared

  /// Into how many parts the units of each layer can be cut.
  int most_parts() const {
    int most = 0;
    for (std::size_t k = 0; k < slice_.layers.size(); ++k) most = std::max(most, parts_of(k));
    return most;
  }
  int parts_of(std::size_t k) const {
    return runs_alone(context_, slice_, k) ? wide_panels(k) : context_.packed.layers[k].input.panels();
  }
  int wide_panels(std::size_t k) const { return static_cast<int>(slice_.layers[k].hidden) / kPanel; }

  void run_units(int begin, int end, int base) {
    gather_inputs(context_, window_, call_.training, slice_, slice_.all(), begin, end, begin - base);
    for (std::size_t k = 0; k < slice_.layers.size(); ++k) {
      copy_input(slice_.all(), k, begin, end, base);
      for (int l = begin; l < end; ++l)
        if (parts_of(k) < 2 || has_flags(window_, slice_, l))
          step_alone(k, l, base);
        else
          step_units(k, l, base);
    }
  }

  void step_alone(std::size_t k, int l, int base) {
    if (runs_alone(context_, slice_, k))
      step_row_alone(k, l, l + 1, base);
    else
      step_rows(slice_.all(), k, l, l + 1, base);
  }

  void step_units(std::size_t k, int l, int base) {
    const int slot = l - base, saved = saved_slot(l);
    if (runs_alone(context_, slice_, k))
      return crew_.share(parts_of(k), [&](Part part) {
        const auto [first, last] = part.of(static_cast<int>(slice_.layers[k].hidden), kPanel);
        unroll_row(context_, slice_, k, 1, slot, saved, keeps_, false, {first, last});
      });
    const int rounds = LayerStep::rounds(context_.model.layers()[k].cell->shape);
    for (int round = 0; round < rounds; ++round)
      crew_.share(parts_of(k), [&](Part part) {
        const auto [first, last] = part.of(parts_of(k));
        LayerStep(context_, slice_, slice_.all(), k).run_panels(slot, saved, first, last, round);
      });
  }

  const Context& context_;
  const UnrollArrays& call_;
  const Window& window_;
  Slice& slice_;
  Crew& crew_;
  bool keeps_;
};

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

void unroll_slice(const Context& context, const UnrollArrays& call, Slice& slice, Crew& crew) {
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
  SliceUnroll steps(context, call, slice, crew);
  for (int begin = 0, end = 0; begin < window.steps; begin = end) {
    end = std::min(window.steps, begin + slice.chunk);
    const int base = keeps ? 0 : begin;
    if (!keeps && begin > 0) move_last_slot(context, slice, slice.chunk);
    // The crew goes on to the next chunk by itself while the head has nothing to do.
    if (keeps && crew.size() > 1)
      for (int from = begin; end < window.steps && !any_weight(window, slice, from, end); from += slice.chunk)
        end = std::min(window.steps, end + slice.chunk);
    steps.run(begin, end, base);
    HeadPass head{window, call.training, begin, end, base, call.losses, call.predictions};
    head.correct = call.correct;
    head.d_hidden = keeps && window.targets.layout != TargetLayout::none;
    head.d_parameters = call.keep == Keep::gradient && head.d_hidden;
    run_head(context, head, slice, crew);
    if (call.training && !slice.slowness.empty()) sum_slowness(context, window, slice, begin, end, base);
    if (call.states)
      for (int l = begin; l < end; ++l) hand_out_states(context, call, slice, l + 1, l + 1 - base);
    if (end == window.steps && call.final_state) store_state(context, slice, end - base, call.final_state);
  }
}

}  // namespace throughtime::cpu

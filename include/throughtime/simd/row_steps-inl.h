// Steps of a single row from the formulas of a cell that has no late rows (cell-inl.h).
// Included once per instruction set: no #pragma once.
#if defined(THROUGHTIME_ROW_STEPS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef THROUGHTIME_ROW_STEPS_INL_H
#undef THROUGHTIME_ROW_STEPS_INL_H
#else
#define THROUGHTIME_ROW_STEPS_INL_H
#endif

#include "throughtime/cell.h"
#include "throughtime/index.h"
#include "throughtime/simd/across_steps-inl.h"
#include "throughtime/simd/pointwise-inl.h"
#include "throughtime/simd/row_product-inl.h"

HWY_BEFORE_NAMESPACE();
namespace throughtime::HWY_NAMESPACE {

/// Pre-activations of a register of units at `unit` of the panel that begins at `first` and has `here` units.
template <class Cell, class Row>
HWY_INLINE void row_gates(const RowForward& call, const float* x, Row state, std::size_t first, std::size_t here,
                          std::size_t unit, Lanes* input, Lanes* recurrent) {
  constexpr CellShape shape = Cell::shape;
  constexpr int input_rows = shape.input_rows, recurrent_rows = shape.recurrent_rows;
  const float* input_weights = call.input_weights + first * input_rows * call.inputs + unit;
  const float* recurrent_weights =
      recurrent_rows > 0 ? call.recurrent_weights + first * recurrent_rows * call.hidden + unit : nullptr;
  RowParts<input_rows> part;
  start_parts<input_rows>(call.input_bias + first * input_rows + unit, here, part);
  add_to_parts<input_rows>(call.inputs, x, input_weights, input_rows * here, here, part);
  if constexpr (shape.joint) {
    add_to_parts<recurrent_rows>(call.hidden, state, recurrent_weights, recurrent_rows * here, here, part);
    for (int g = 0; g < recurrent_rows; ++g) recurrent[g] = Lanes(0.0);
  } else if constexpr (recurrent_rows > 0) {
    RowParts<recurrent_rows> beside;
    start_parts<recurrent_rows>(call.recurrent_bias + first * recurrent_rows + unit, here, beside);
    add_to_parts<recurrent_rows>(call.hidden, state, recurrent_weights, recurrent_rows * here, here, beside);
    add_up_parts<recurrent_rows>(beside, recurrent);
  }
  add_up_parts<input_rows>(part, input);
}

/// A state somewhere: tensor k at [k * plane].
struct RowState {
  const float* numbers;
  std::size_t plane;
};

/// The pointwise work on the register of units at `unit`.
template <class Cell>
HWY_INLINE void row_units(const RowForward& call, const Lanes* input, const Lanes* recurrent, RowState state,
                          float* next_at, float* saved_at, std::size_t unit) {
  constexpr CellShape shape = Cell::shape;
  Lanes before[shape.states], next[shape.states], saved[at_least_one(shape.saved)];
  load_all<Lanes, shape.states>(state.numbers + unit, state.plane, before);
  Cell::template forward<Lanes>(*call.options, input, recurrent, before, next, saved);
  store_all<Lanes, shape.states>(next, next_at + unit, call.state_plane);
  if constexpr (shape.saved > 0) store_all<Lanes, shape.saved>(saved, saved_at + unit, call.saved_plane);
}

constexpr std::size_t kRowGroup = 64;  // units whose pre-activations are made before any of them goes on
constexpr std::size_t kRowPad = 16;    // units of the narrowest panel, known to the compiler: most cells have no others

/// One step of all units. Several registers of units go through the products first and through the pointwise work
/// afterwards: the long chains of operations of the latter then overlap.
template <class Cell>
HWY_INLINE void row_step(const RowForward& call, const float* x, RowState state, float* next, float* saved) {
  constexpr int input_rows = Cell::shape.input_rows, recurrent_rows = Cell::shape.recurrent_rows;
  const std::size_t all = elements(call.units), most = elements(call.panel_units);
  const std::size_t lanes = Lanes::count();
  Lanes input[input_rows], recurrent[at_least_one(recurrent_rows)];
  HWY_ALIGN float sums[(input_rows + recurrent_rows) * kRowGroup];
  const std::size_t last = call.last_unit > 0 ? elements(call.last_unit) : all;
  for (std::size_t group = elements(call.first_unit), first = group; group < last; group += kRowGroup) {
    const std::size_t end = last - group < kRowGroup ? last : group + kRowGroup;
    for (std::size_t unit = group; unit < end; unit += lanes) {
      if (unit == first + most) first = unit;
      if (most == kRowPad)
        row_gates<Cell>(call, x, state.numbers, first, kRowPad, unit - first, input, recurrent);
      else
        row_gates<Cell>(call, x, state.numbers, first, all - first < most ? all - first : most, unit - first, input,
                        recurrent);
      store_all<Lanes, input_rows>(input, sums + unit - group, kRowGroup);
      if constexpr (own_recurrent<Cell>)
        store_all<Lanes, recurrent_rows>(recurrent, sums + input_rows * kRowGroup + unit - group, kRowGroup);
    }
    for (std::size_t unit = group; unit < end; unit += lanes) {
      load_all<Lanes, input_rows>(sums + unit - group, kRowGroup, input);
      if constexpr (own_recurrent<Cell>)
        load_all<Lanes, recurrent_rows>(sums + input_rows * kRowGroup + unit - group, kRowGroup, recurrent);
      row_units<Cell>(call, input, recurrent, state, next, saved, unit);
    }
  }
}

/// Whether a register holds all units of a layer.
HWY_INLINE bool in_one_register(std::size_t all) { return all == kRowPad && Lanes::count() == kRowPad; }

/// All steps of such a layer: each finds the state before it in registers, where the one before has left it.
template <class Cell>
HWY_INLINE void row_forward_in_registers(const RowForward& call) {
  constexpr CellShape shape = Cell::shape;
  Lanes input[shape.input_rows], recurrent[at_least_one(shape.recurrent_rows)];
  Lanes state[shape.states], next[shape.states], saved[at_least_one(shape.saved)];
  load_all<Lanes, shape.states>(call.before ? call.before : call.states, call.before ? kRowPad : call.state_plane,
                                state);
  for (int step = 0; step < call.steps; ++step) {
    row_gates<Cell>(call, call.input + step * call.input_stride, state[0], 0, kRowPad, 0, input, recurrent);
    Cell::template forward<Lanes>(*call.options, input, recurrent, state, next, saved);
    store_all<Lanes, shape.states>(next, call.states + (step + 1) * kRowPad, call.state_plane);
    if constexpr (shape.saved > 0)
      store_all<Lanes, shape.saved>(saved, call.saved + step * call.saved_step, call.saved_plane);
    for (int k = 0; k < shape.states; ++k) state[k] = next[k];
  }
}

template <class Cell>
HWY_NOINLINE void row_forward(const RowForward& given) {
  const RowForward call = given;  // a copy, which the stores below cannot alias
  const std::size_t all = elements(call.units);
  if (in_one_register(all)) return row_forward_in_registers<Cell>(call);
  for (int step = 0; step < call.steps; ++step) {
    float* state = call.states + step * all;
    const RowState before = step == 0 && call.before ? RowState{call.before, all} : RowState{state, call.state_plane};
    row_step<Cell>(call, call.input + step * call.input_stride, before, state + all,
                   call.saved + step * call.saved_step);
  }
}

/// Cotangents of one step's gates, and what does not pass through a product.
template <class Cell>
HWY_INLINE void row_gates_back(const RowBackward& call, std::size_t begin, std::size_t end, int step, float* d_input_at,
                               float* d_recurrent_at) {
  constexpr CellShape shape = Cell::shape;
  const std::size_t all = elements(call.units);
  const float* state_at = call.states + step * all;
  const RowState before = step == 0 && call.before ? RowState{call.before, all} : RowState{state_at, call.state_plane};
  for (std::size_t unit = begin; unit < end; unit += Lanes::count()) {
    Lanes saved[at_least_one(shape.saved)], state[shape.states], next[shape.states], d_next[shape.states];
    Lanes d_state[shape.states], d_input[shape.input_rows], d_recurrent[at_least_one(shape.recurrent_rows)];
    if constexpr (shape.saved > 0)
      load_all<Lanes, shape.saved>(call.saved + step * call.saved_step + unit, call.saved_plane, saved);
    load_all<Lanes, shape.states>(before.numbers + unit, before.plane, state);
    load_all<Lanes, shape.states>(state_at + all + unit, call.state_plane, next);
    load_all<Lanes, shape.states>(call.cotangent + unit, all, d_next);
    Cell::template backward<Lanes>(*call.options, saved, state, next, d_next, d_input, d_recurrent, d_state);
    store_all<Lanes, shape.input_rows>(d_input, d_input_at + unit, all);
    if constexpr (own_recurrent<Cell>) store_all<Lanes, shape.recurrent_rows>(d_recurrent, d_recurrent_at + unit, all);
    store_all<Lanes, shape.states>(d_state, call.cotangent + unit, all);
  }
}

/// What enters from outside after `step`.
HWY_INLINE void add_entering(const RowBackward& call, std::size_t begin, std::size_t end, int step) {
  const std::int32_t slot = call.entering_slot ? call.entering_slot[step] : step;
  if (slot < 0) return;
  const std::size_t all = elements(call.units);
  const float* from = call.entering + elements(slot) * all;
  for (std::size_t unit = begin; unit < end; unit += Lanes::count())
    (Lanes::load(call.cotangent + unit) + Lanes::load(from + unit)).store(call.cotangent + unit);
}

/// All steps of a layer that a register holds, with the cotangent in registers from step to step.
template <class Cell>
HWY_INLINE void row_backward_in_registers(const RowBackward& call) {
  constexpr CellShape shape = Cell::shape;
  Lanes saved[at_least_one(shape.saved)], state[shape.states], next[shape.states], d_next[shape.states];
  Lanes d_state[shape.states], d_input[shape.input_rows], d_recurrent[at_least_one(shape.recurrent_rows)];
  load_all<Lanes, shape.states>(call.cotangent, kRowPad, d_next);
  for (int step = call.steps - 1; step >= 0; --step) {
    const std::int32_t slot = !call.entering ? -1 : call.entering_slot ? call.entering_slot[step] : step;
    if (slot >= 0) d_next[0] += Lanes::load(call.entering + elements(slot) * kRowPad);
    const float* state_at = call.states + step * kRowPad;
    const bool own = step == 0 && call.before;
    if constexpr (shape.saved > 0)
      load_all<Lanes, shape.saved>(call.saved + step * call.saved_step, call.saved_plane, saved);
    load_all<Lanes, shape.states>(own ? call.before : state_at, own ? kRowPad : call.state_plane, state);
    load_all<Lanes, shape.states>(state_at + kRowPad, call.state_plane, next);
    Cell::template backward<Lanes>(*call.options, saved, state, next, d_next, d_input, d_recurrent, d_state);
    store_all<Lanes, shape.input_rows>(d_input, call.d_input + step * call.d_input_stride, kRowPad);
    if constexpr (own_recurrent<Cell>)
      store_all<Lanes, shape.recurrent_rows>(d_recurrent, call.d_recurrent + step * call.d_recurrent_stride, kRowPad);
    for (int k = 0; k < shape.states; ++k) d_next[k] = d_state[k];
    if constexpr (shape.recurrent_rows > 0) {
      RowParts<1> part;
      start_parts<1>(d_next, part);
      for (int group = 0; group < shape.recurrent_rows; ++group)
        add_to_parts<1>(call.hidden, own_recurrent<Cell> ? d_recurrent[group] : d_input[group],
                        call.weights + group * kRowPad * kRowPad, kRowPad, kRowPad, part);
      add_up_parts<1>(part, d_next);
    }
  }
  store_all<Lanes, shape.states>(d_next, call.cotangent, kRowPad);
}

template <class Cell>
HWY_NOINLINE void row_backward(const RowBackward& given) {
  constexpr CellShape shape = Cell::shape;
  const RowBackward call = given;
  const std::size_t all = elements(call.units), most = elements(call.panel_columns);
  if (in_one_register(all) && call.gates && call.products) return row_backward_in_registers<Cell>(call);
  const std::size_t begin = elements(call.first_unit), end = call.last_unit > 0 ? elements(call.last_unit) : all;
  for (int step = call.steps - 1; step >= 0; --step) {
    float* d_input = call.d_input + step * call.d_input_stride;
    float* d_gates = shape.joint ? d_input : call.d_recurrent + step * call.d_recurrent_stride;
    if (call.gates) {
      if (call.entering) add_entering(call, begin, end, step);
      row_gates_back<Cell>(call, begin, end, step, d_input, d_gates);
    }
    if (shape.recurrent_rows == 0 || !call.products) continue;
    for (std::size_t first = begin; first < end; first += most) {
      const std::size_t here = all - first < most ? all - first : most;
      const float* weights = call.weights + first * shape.recurrent_rows * all;
      add_row_product<shape.recurrent_rows>(call.hidden, all, d_gates, weights, here, call.cotangent + first);
    }
  }
}

template <class Cell>
RowKernels make_row_kernels() {
  static_assert(Cell::shape.late_rows == 0);
  return {row_forward<Cell>, row_backward<Cell>, across_forward<Cell>, across_backward<Cell>};
}

}  // namespace throughtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // THROUGHTIME_ROW_STEPS_INL_H

// Steps of as many rows as lie side by side in memory (kAcross), from the formulas of a cell that has no late rows
// (cell-inl.h): a register holds a number of ONE unit, of different rows. So a layer of few units fills it.
// Included once per instruction set: no #pragma once.
#if defined(THROUGHTIME_ACROSS_STEPS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef THROUGHTIME_ACROSS_STEPS_INL_H
#undef THROUGHTIME_ACROSS_STEPS_INL_H
#else
#define THROUGHTIME_ACROSS_STEPS_INL_H
#endif

#include "throughtime/cell.h"
#include "throughtime/index.h"
#include "throughtime/simd/pointwise-inl.h"
#include "throughtime/simd/row_product-inl.h"

HWY_BEFORE_NAMESPACE();
namespace throughtime::HWY_NAMESPACE {

HWY_INLINE Lanes in_all_lanes(float value) { return hn::Set(Lanes::Tag(), value); }

/// Pre-activations that are summed at a time: those of so many units.
template <class Cell>
constexpr int across_units() {
  constexpr int sums = Cell::shape.input_rows + (own_recurrent<Cell> ? Cell::shape.recurrent_rows : 0);
  return sums * 8 <= kRowSums ? 8 : sums * 4 <= kRowSums ? 4 : sums * 2 <= kRowSums ? 2 : 1;
}

/// sums [units][gates] += x [depth, kAcross] times weights [depth][gates * kAcrossUnits].
template <int units, int gates>
HWY_INLINE void add_across(int depth, const float* x, const float* weights, Lanes (&sums)[units][at_least_one(gates)]) {
  for (int k = 0; k < depth; ++k, x += kAcross, weights += gates * kAcrossUnits) {
    const Lanes right = Lanes::load(x);
    for (int g = 0; g < gates; ++g)
      for (int u = 0; u < units; ++u)
        sums[u][g] = multiply_add(in_all_lanes(weights[g * kAcrossUnits + u]), right, sums[u][g]);
  }
}

template <int units, int gates>
HWY_INLINE void start_across(const float* bias, Lanes (&sums)[units][at_least_one(gates)]) {
  for (int g = 0; g < gates; ++g)
    for (int u = 0; u < units; ++u) sums[u][g] = in_all_lanes(bias[g * kAcrossUnits + u]);
}

/// One step of `units` units from `unit` on, for a register of rows.
template <class Cell, int units>
HWY_INLINE void across_step(const AcrossForward& call, const float* x, float* state, float* saved_at, int unit) {
  constexpr CellShape shape = Cell::shape;
  Lanes input[units][shape.input_rows], recurrent[units][at_least_one(shape.recurrent_rows)];
  start_across<units, shape.input_rows>(call.input_bias + unit, input);
  add_across<units, shape.input_rows>(call.inputs, x, call.input_weights + unit, input);
  if constexpr (shape.joint) {
    add_across<units, shape.input_rows>(call.hidden, state, call.recurrent_weights + unit, input);
    for (int u = 0; u < units; ++u)
      for (int g = 0; g < shape.recurrent_rows; ++g) recurrent[u][g] = Lanes(0.0);
  } else if constexpr (shape.recurrent_rows > 0) {
    start_across<units, shape.recurrent_rows>(call.recurrent_bias + unit, recurrent);
    add_across<units, shape.recurrent_rows>(call.hidden, state, call.recurrent_weights + unit, recurrent);
  }
  float* next_at = state + call.state_step;
  for (int u = 0; u < units; ++u) {
    const std::size_t at = elements(unit + u) * kAcross;
    Lanes before[shape.states], next[shape.states], saved[at_least_one(shape.saved)];
    load_all<Lanes, shape.states>(state + at, call.state_plane, before);
    Cell::template forward<Lanes>(*call.options, input[u], recurrent[u], before, next, saved);
    store_all<Lanes, shape.states>(next, next_at + at, call.state_plane);
    if constexpr (shape.saved > 0) store_all<Lanes, shape.saved>(saved, saved_at + at, call.saved_plane);
  }
}

template <class Cell>
HWY_NOINLINE void across_forward(const AcrossForward& given) {
  constexpr int most = across_units<Cell>();
  const AcrossForward call = given;  // a copy, which the stores below cannot alias
  for (std::size_t lane = 0; lane < kAcross; lane += Lanes::count())
    for (int step = 0; step < call.steps; ++step) {
      const float* x = call.input + step * call.input_step + lane;
      float* state = call.states + step * call.state_step + lane;
      float* saved = call.saved + step * call.state_step + lane;
      int unit = 0;
      for (; unit + most <= call.hidden; unit += most) across_step<Cell, most>(call, x, state, saved, unit);
      if constexpr (most > 4)
        for (; unit + 4 <= call.hidden; unit += 4) across_step<Cell, 4>(call, x, state, saved, unit);
      if constexpr (most > 2)
        for (; unit + 2 <= call.hidden; unit += 2) across_step<Cell, 2>(call, x, state, saved, unit);
      for (; unit < call.hidden; ++unit) across_step<Cell, 1>(call, x, state, saved, unit);
    }
}

/// sums [columns, kAcross] += W^T d, of `columns` columns of W [rows, width].
template <int columns>
HWY_INLINE void send_across(int rows, std::size_t width, const float* weights, const float* d, float* sums) {
  Lanes sum[columns];
  for (int c = 0; c < columns; ++c) sum[c] = Lanes::load(sums + c * kAcross);
  for (int row = 0; row < rows; ++row, d += kAcross, weights += width) {
    const Lanes right = Lanes::load(d);
    for (int c = 0; c < columns; ++c) sum[c] = multiply_add(in_all_lanes(weights[c]), right, sum[c]);
  }
  for (int c = 0; c < columns; ++c) sum[c].store(sums + c * kAcross);
}

/// The same for all of them.
HWY_INLINE void send_all_across(int rows, int width, const float* weights, const float* d, float* sums) {
  const std::size_t stride = elements(width);
  int column = 0;
  for (; column + 8 <= width; column += 8) send_across<8>(rows, stride, weights + column, d, sums + column * kAcross);
  for (; column + 4 <= width; column += 4) send_across<4>(rows, stride, weights + column, d, sums + column * kAcross);
  for (; column + 2 <= width; column += 2) send_across<2>(rows, stride, weights + column, d, sums + column * kAcross);
  if (column < width) send_across<1>(rows, stride, weights + column, d, sums + column * kAcross);
}

/// Cotangents of one step's gates of a register of rows, and what does not pass through a product.
template <class Cell>
HWY_INLINE void across_gates_back(const AcrossBackward& call, const float* state, const float* saved_at,
                                  const float* entering, float* cotangent, float* d_input_at, float* d_recurrent_at) {
  constexpr CellShape shape = Cell::shape;
  const std::size_t plane = elements(call.hidden) * kAcross;
  for (std::size_t at = 0; at < plane; at += kAcross) {
    Lanes saved[at_least_one(shape.saved)], before[shape.states], next[shape.states], d_next[shape.states];
    Lanes d_state[shape.states], d_input[shape.input_rows], d_recurrent[at_least_one(shape.recurrent_rows)];
    if constexpr (shape.saved > 0) load_all<Lanes, shape.saved>(saved_at + at, call.saved_plane, saved);
    load_all<Lanes, shape.states>(state + at, call.state_plane, before);
    load_all<Lanes, shape.states>(state + call.state_step + at, call.state_plane, next);
    load_all<Lanes, shape.states>(cotangent + at, plane, d_next);
    if (entering) d_next[0] += Lanes::load(entering + at);
    Cell::template backward<Lanes>(*call.options, saved, before, next, d_next, d_input, d_recurrent, d_state);
    store_all<Lanes, shape.input_rows>(d_input, d_input_at + at, plane);
    if constexpr (own_recurrent<Cell>) store_all<Lanes, shape.recurrent_rows>(d_recurrent, d_recurrent_at + at, plane);
    store_all<Lanes, shape.states>(d_state, cotangent + at, plane);
  }
}

template <class Cell>
HWY_NOINLINE void across_backward(const AcrossBackward& given) {
  constexpr CellShape shape = Cell::shape;
  const AcrossBackward call = given;
  for (std::size_t lane = 0; lane < kAcross; lane += Lanes::count())
    for (int step = call.steps - 1; step >= 0; --step) {
      const std::int32_t slot = !call.entering ? -1 : call.entering_slot ? call.entering_slot[step] : step;
      float* d_input = call.d_input + step * call.d_input_step + lane;
      float* d_gates = shape.joint ? d_input : call.d_recurrent + step * call.d_recurrent_step + lane;
      across_gates_back<Cell>(call, call.states + step * call.state_step + lane,
                              call.saved + step * call.state_step + lane,
                              slot < 0 ? nullptr : call.entering + elements(slot) * call.state_step + lane,
                              call.cotangent + lane, d_input, d_gates);
      if (shape.recurrent_rows > 0 && (step > 0 || call.to_start))
        send_all_across(shape.recurrent_rows * call.hidden, call.hidden, call.weights, d_gates, call.cotangent + lane);
    }
}

}  // namespace throughtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // THROUGHTIME_ACROSS_STEPS_INL_H

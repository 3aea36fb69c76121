// The loops over rows and units around the formulas of a cell (cell-inl.h). Included once per instruction set: no
// #pragma once.
#if defined(THROUGHTIME_POINTWISE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef THROUGHTIME_POINTWISE_INL_H
#undef THROUGHTIME_POINTWISE_INL_H
#else
#define THROUGHTIME_POINTWISE_INL_H
#endif

#include "throughtime/cell.h"
#include "throughtime/index.h"
#include "throughtime/simd/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace throughtime::HWY_NAMESPACE {

// The loops below take whole registers: the engine pads rows of lanes.

template <class N, int count>
HWY_INLINE void load_all(const typename Access<N>::Real* from, std::size_t distance, N* to) {
  for (int k = 0; k < count; ++k) to[k] = Access<N>::load(from + k * distance);
}
template <class N, int count>
HWY_INLINE void store_all(const N* from, typename Access<N>::Real* to, std::size_t distance) {
  for (int k = 0; k < count; ++k) Access<N>::store(from[k], to + k * distance);
}

constexpr int at_least_one(int count) { return count > 0 ? count : 1; }

/// Whether there are recurrent rows that are kept apart from the input's.
template <class Cell>
constexpr bool own_recurrent = !Cell::shape.joint && Cell::shape.recurrent_rows > 0;

template <class Cell, class N, bool early>
HWY_NOINLINE void pointwise_forward(const PointwiseForward<typename Access<N>::Real>& call) {
  constexpr CellShape shape = Cell::shape;
  constexpr int loaded_rows = early ? shape.recurrent_rows - shape.late_rows : shape.recurrent_rows;
  for (int row = 0; row < call.rows; ++row) {
    const std::size_t at = row * call.row_stride;
    for (std::size_t unit = 0; unit < elements(call.units); unit += Access<N>::count()) {
      N input[shape.input_rows], recurrent[at_least_one(shape.recurrent_rows)], state[shape.states];
      N saved[at_least_one(shape.saved)];
      load_all<N, shape.input_rows>(call.input + row * call.input_stride + unit, call.input_block, input);
      if constexpr (shape.joint) {
        for (int g = 0; g < shape.recurrent_rows; ++g) recurrent[g] = N(0.0);
      } else if constexpr (loaded_rows > 0) {
        load_all<N, loaded_rows>(call.recurrent + row * call.recurrent_stride + unit, call.recurrent_block, recurrent);
      }
      load_all<N, shape.states>(call.state + at + unit, call.state_plane, state);
      if constexpr (early) {
        Cell::template forward_early<N>(*call.options, input, recurrent, state, saved);
        Access<N>::store(saved[shape.gated], call.saved + shape.gated * call.saved_plane + at + unit);
      } else {
        N next[shape.states];
        if constexpr (shape.late_rows > 0)
          saved[shape.gated] = Access<N>::load(call.saved + shape.gated * call.saved_plane + at + unit);
        Cell::template forward<N>(*call.options, input, recurrent, state, next, saved);
        store_all<N, shape.states>(next, call.next + at + unit, call.next_plane);
        if constexpr (shape.saved > 0) store_all<N, shape.saved>(saved, call.saved + at + unit, call.saved_plane);
      }
    }
  }
}

template <class Cell, class N, bool early>
HWY_NOINLINE void pointwise_backward(const PointwiseBackward<typename Access<N>::Real>& call) {
  constexpr CellShape shape = Cell::shape;
  for (int row = 0; row < call.rows; ++row) {
    const std::size_t at = row * call.row_stride;
    for (std::size_t unit = 0; unit < elements(call.units); unit += Access<N>::count()) {
      N saved[at_least_one(shape.saved)], state[shape.states], d_state[shape.states];
      N d_input[shape.input_rows], d_recurrent[at_least_one(shape.recurrent_rows)];
      auto* d_input_at = call.d_input + row * call.d_input_stride + unit;
      auto* d_recurrent_at = d_input_at;
      if constexpr (own_recurrent<Cell>) d_recurrent_at = call.d_recurrent + row * call.d_recurrent_stride + unit;
      if constexpr (shape.saved > 0) load_all<N, shape.saved>(call.saved + at + unit, call.saved_plane, saved);
      load_all<N, shape.states>(call.state + at + unit, call.state_plane, state);
      if constexpr (early) {
        load_all<N, shape.input_rows>(d_input_at, call.d_block, d_input);
        load_all<N, shape.recurrent_rows>(d_recurrent_at, call.d_block, d_recurrent);
        load_all<N, shape.states>(call.d_state + at + unit, call.d_plane, d_state);
        Cell::template backward_early<N>(*call.options, saved, state, Access<N>::load(call.d_gated + at + unit),
                                         d_input, d_recurrent, d_state);
      } else {
        N next[shape.states], d_next[shape.states];
        load_all<N, shape.states>(call.next + at + unit, call.next_plane, next);
        load_all<N, shape.states>(call.d_next + at + unit, call.d_plane, d_next);
        Cell::template backward<N>(*call.options, saved, state, next, d_next, d_input, d_recurrent, d_state);
      }
      store_all<N, shape.input_rows>(d_input, d_input_at, call.d_block);
      if constexpr (own_recurrent<Cell>) store_all<N, shape.recurrent_rows>(d_recurrent, d_recurrent_at, call.d_block);
      store_all<N, shape.states>(d_state, call.d_state + at + unit, call.d_plane);
    }
  }
}

template <class Cell, class N>
CellKernels<typename Access<N>::Real> cell_kernels() {
  CellKernels<typename Access<N>::Real> kernels;
  kernels.forward = pointwise_forward<Cell, N, false>;
  kernels.backward = pointwise_backward<Cell, N, false>;
  if constexpr (Cell::shape.late_rows > 0) {
    kernels.forward_early = pointwise_forward<Cell, N, true>;
    kernels.backward_early = pointwise_backward<Cell, N, true>;
  }
  return kernels;
}

}  // namespace throughtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // THROUGHTIME_POINTWISE_INL_H

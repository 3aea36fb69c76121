// Turns the formulas of a cell into kernels. Included once per instruction set: no #pragma once.
//
// A cell is a struct in namespace throughtime::HWY_NAMESPACE with
//   static constexpr CellShape shape;
//   template <class N> static void forward(const CellOptions&, const N* input, const N* recurrent, const N* state,
//                                          N* next, N* saved);
//   template <class N> static void backward(const CellOptions&, const N* saved, const N* state, const N* next,
//                                           const N* d_next, N* d_input, N* d_recurrent, N* d_state);
// on the numbers of ONE unit: input[gate], recurrent[gate], state[tensor], saved[k]. `backward` assigns all of
// d_input, d_recurrent and d_state; d_state holds what does not pass through the recurrent product. A joint cell
// uses input[g] + recurrent[g] only, and its d_recurrent is not read. A cell with late rows is not joint; it adds
//   forward_early(options, input, recurrent, state, saved)          fills saved[gated] from the early rows
//   backward_early(options, saved, state, d_gated, d_input, d_recurrent, d_state)
//                                                                    adds what arrives at the gated state
#if defined(THROUGHTIME_CELL_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef THROUGHTIME_CELL_INL_H
#undef THROUGHTIME_CELL_INL_H
#else
#define THROUGHTIME_CELL_INL_H
#endif

#include "throughtime/cell.h"
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

template <class Cell, class N, bool early>
HWY_NOINLINE void pointwise_forward(const PointwiseForward<typename Access<N>::Real>& call) {
  constexpr CellShape shape = Cell::shape;
  constexpr int loaded_rows = early ? shape.recurrent_rows - shape.late_rows : shape.recurrent_rows;
  for (int row = 0; row < call.rows; ++row) {
    const std::size_t at = row * call.row_stride;
    for (std::size_t unit = 0; unit < static_cast<std::size_t>(call.units); unit += Access<N>::count()) {
      N input[shape.input_rows], recurrent[at_least_one(shape.recurrent_rows)], state[shape.states];
      N saved[at_least_one(shape.saved)];
      load_all<N, shape.input_rows>(call.input + row * call.input_stride + unit, call.input_block, input);
      if constexpr (shape.joint) {
        for (int g = 0; g < shape.recurrent_rows; ++g) recurrent[g] = N(0.0);
      } else {
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
    for (std::size_t unit = 0; unit < static_cast<std::size_t>(call.units); unit += Access<N>::count()) {
      N saved[at_least_one(shape.saved)], state[shape.states], d_state[shape.states];
      N d_input[shape.input_rows], d_recurrent[at_least_one(shape.recurrent_rows)];
      auto* d_input_at = call.d_input + row * call.d_input_stride + unit;
      auto* d_recurrent_at = shape.joint ? d_input_at : call.d_recurrent + row * call.d_recurrent_stride + unit;
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
      if constexpr (!shape.joint) store_all<N, shape.recurrent_rows>(d_recurrent, d_recurrent_at, call.d_block);
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

#endif  // THROUGHTIME_CELL_INL_H

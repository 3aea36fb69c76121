// The formulas of a user's cell, for any number type. Included once per instruction set: no #pragma once.
#if defined(OWN_CELL_MINIMAL_GATED_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef OWN_CELL_MINIMAL_GATED_INL_H
#undef OWN_CELL_MINIMAL_GATED_INL_H
#else
#define OWN_CELL_MINIMAL_GATED_INL_H
#endif

#include "throughtime/cell.h"
#include "throughtime/simd/formulas-inl.h"

THROUGHTIME_FORMULAS_BEGIN

/// f = sigmoid(W_f x + b_f + U_f h + c_f);  n = tanh(W_n x + b_n + f (U_n h + c_n));  h' = h + f (n - h).
/// One gate serves as update and as reset gate; it acts after the product, as in the library's `gru`.
struct MinimalGated {
  static constexpr CellShape shape = {.input_rows = 2, .recurrent_rows = 2, .saved = 3};

  template <class N>
  static THROUGHTIME_INLINE void forward(const CellOptions&, const N* input, const N* recurrent, const N* state,
                                         N* next, N* saved) {
    const N f = sigmoid(input[0] + recurrent[0]);
    const N n = tanh(input[1] + f * recurrent[1]);
    next[0] = state[0] + f * (n - state[0]);
    saved[0] = f, saved[1] = n, saved[2] = recurrent[1];
  }

  template <class N>
  static THROUGHTIME_INLINE void backward(const CellOptions&, const N* saved, const N* state, const N*, const N* d_next,
                                          N* d_input, N* d_recurrent, N* d_state) {
    const N f = saved[0], n = saved[1];
    d_input[1] = d_next[0] * f * (N(1.0) - n * n);
    d_input[0] = (d_next[0] * (n - state[0]) + d_input[1] * saved[2]) * f * (N(1.0) - f);
    d_recurrent[0] = d_input[0];
    d_recurrent[1] = d_input[1] * f;
    d_state[0] = d_next[0] * (N(1.0) - f);
  }
};

THROUGHTIME_FORMULAS_END

#endif  // OWN_CELL_MINIMAL_GATED_INL_H

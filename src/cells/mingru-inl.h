// Included once per instruction set: no #pragma once.
#if defined(THROUGHTIME_CELLS_MINGRU_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef THROUGHTIME_CELLS_MINGRU_INL_H
#undef THROUGHTIME_CELLS_MINGRU_INL_H
#else
#define THROUGHTIME_CELLS_MINGRU_INL_H
#endif

#include "throughtime/cell.h"
#include "throughtime/simd/formulas-inl.h"

THROUGHTIME_FORMULAS_BEGIN

/// z = sigmoid(W_z x + b_z);  n = W_n x + b_n;  h' = (1 - z) h + z n. Gate and candidate do not see the state.
/// Input rows: gate, candidate.
struct MinGru {
  static constexpr CellShape shape = {.input_rows = 2, .recurrent_rows = 0, .saved = 2, .recurrent_bias = false};

  template <class N>
  static THROUGHTIME_INLINE void forward(const CellOptions&, const N* input, const N*, const N* state, N* next,
                                         N* saved) {
    const N z = sigmoid(input[0]);
    next[0] = state[0] + z * (input[1] - state[0]);
    saved[0] = z, saved[1] = input[1];
  }

  template <class N>
  static THROUGHTIME_INLINE void backward(const CellOptions&, const N* saved, const N* state, const N*, const N* d_next,
                                          N* d_input, N*, N* d_state) {
    const N z = saved[0], n = saved[1];
    d_input[0] = d_next[0] * (n - state[0]) * z * (N(1.0) - z);
    d_input[1] = d_next[0] * z;
    d_state[0] = d_next[0] * (N(1.0) - z);
  }
};

THROUGHTIME_FORMULAS_END

#endif  // THROUGHTIME_CELLS_MINGRU_INL_H

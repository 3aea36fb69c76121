// Included once per instruction set: no #pragma once.
#if defined(THROUGHTIME_CELLS_GRU_RESET_BEFORE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef THROUGHTIME_CELLS_GRU_RESET_BEFORE_INL_H
#undef THROUGHTIME_CELLS_GRU_RESET_BEFORE_INL_H
#else
#define THROUGHTIME_CELLS_GRU_RESET_BEFORE_INL_H
#endif

#include "throughtime/cell.h"
#include "throughtime/simd/formulas-inl.h"

THROUGHTIME_FORMULAS_BEGIN

/// Cho's form: n = tanh(W_n x + b_n + U_n (r h) + c_n), so the last recurrent row waits for the reset gate.
struct GruResetBefore {
  static constexpr CellShape shape = {.input_rows = 3, .recurrent_rows = 3, .late_rows = 1, .saved = 4, .gated = 3};

  template <class N>
  static THROUGHTIME_INLINE void forward_early(const CellOptions&, const N* input, const N* recurrent, const N* state,
                                               N* saved) {
    saved[3] = sigmoid(input[0] + recurrent[0]) * state[0];
  }

  template <class N>
  static THROUGHTIME_INLINE void forward(const CellOptions&, const N* input, const N* recurrent, const N* state,
                                         N* next, N* saved) {
    const N z = sigmoid(input[1] + recurrent[1]);
    const N n = tanh(input[2] + recurrent[2]);
    next[0] = n + z * (state[0] - n);
    saved[0] = sigmoid(input[0] + recurrent[0]), saved[1] = z, saved[2] = n;
  }

  template <class N>
  static THROUGHTIME_INLINE void backward(const CellOptions&, const N* saved, const N* state, const N*, const N* d_next,
                                          N* d_input, N* d_recurrent, N* d_state) {
    const N z = saved[1], n = saved[2];
    d_input[0] = N(0.0);
    d_input[1] = d_next[0] * (state[0] - n) * z * (N(1.0) - z);
    d_input[2] = d_next[0] * (N(1.0) - z) * (N(1.0) - n * n);
    for (int gate = 0; gate < 3; ++gate) d_recurrent[gate] = d_input[gate];
    d_state[0] = d_next[0] * z;
  }

  template <class N>
  static THROUGHTIME_INLINE void backward_early(const CellOptions&, const N* saved, const N* state, N d_gated,
                                                N* d_input, N* d_recurrent, N* d_state) {
    const N r = saved[0];
    d_input[0] = d_gated * state[0] * r * (N(1.0) - r);
    d_recurrent[0] = d_input[0];
    d_state[0] += d_gated * r;
  }
};

THROUGHTIME_FORMULAS_END

#endif  // THROUGHTIME_CELLS_GRU_RESET_BEFORE_INL_H

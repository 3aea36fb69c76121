// Included once per instruction set: no #pragma once.
#if defined(THROUGHTIME_CELLS_GRU_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef THROUGHTIME_CELLS_GRU_INL_H
#undef THROUGHTIME_CELLS_GRU_INL_H
#else
#define THROUGHTIME_CELLS_GRU_INL_H
#endif

#include "throughtime/cell.h"
#include "throughtime/simd/formulas-inl.h"

THROUGHTIME_FORMULAS_BEGIN

/// r, z = sigmoid(W_x x + b_x + W_h h + b_h);  n = tanh(W_n x + b_n + r (U_n h + c_n));  h' = (1 - z) n + z h.
/// The reset gate acts after the product, on a term with its own bias: PyTorch's and cuDNN's form.
struct Gru {
  static constexpr CellShape shape = {.input_rows = 3, .recurrent_rows = 3, .saved = 4};

  template <class N>
  static THROUGHTIME_INLINE void forward(const CellOptions&, const N* input, const N* recurrent, const N* state,
                                         N* next, N* saved) {
    const N r = sigmoid(input[0] + recurrent[0]);
    const N z = sigmoid(input[1] + recurrent[1]);
    const N n = tanh(input[2] + r * recurrent[2]);
    next[0] = n + z * (state[0] - n);
    saved[0] = r, saved[1] = z, saved[2] = n, saved[3] = recurrent[2];
  }

  template <class N>
  static THROUGHTIME_INLINE void backward(const CellOptions&, const N* saved, const N* state, const N*, const N* d_next,
                                          N* d_input, N* d_recurrent, N* d_state) {
    const N r = saved[0], z = saved[1], n = saved[2];
    d_input[2] = d_next[0] * (N(1.0) - z) * (N(1.0) - n * n);
    d_input[1] = d_next[0] * (state[0] - n) * z * (N(1.0) - z);
    d_input[0] = d_input[2] * saved[3] * r * (N(1.0) - r);
    d_recurrent[0] = d_input[0];
    d_recurrent[1] = d_input[1];
    d_recurrent[2] = d_input[2] * r;
    d_state[0] = d_next[0] * z;
  }
};

THROUGHTIME_FORMULAS_END

#endif  // THROUGHTIME_CELLS_GRU_INL_H

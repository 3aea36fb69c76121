// Included once per instruction set: no #pragma once.
#if defined(THROUGHTIME_CELLS_LSTM_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef THROUGHTIME_CELLS_LSTM_INL_H
#undef THROUGHTIME_CELLS_LSTM_INL_H
#else
#define THROUGHTIME_CELLS_LSTM_INL_H
#endif

#include "throughtime/cell.h"
#include "throughtime/simd/formulas-inl.h"

THROUGHTIME_FORMULAS_BEGIN

/// i, f, o = sigmoid, g = tanh of (W_x x + b_x + W_h h + b_h);  c' = f c + i g;  h' = o tanh(c').
struct Lstm {
  static constexpr CellShape shape = {
      .input_rows = 4, .recurrent_rows = 4, .states = 2, .saved = 4, .joint = true, .forget_row = 1};

  template <class N>
  static THROUGHTIME_INLINE void forward(const CellOptions&, const N* input, const N* recurrent, const N* state,
                                         N* next, N* saved) {
    const N i = sigmoid(input[0] + recurrent[0]);
    const N f = sigmoid(input[1] + recurrent[1]);
    const N g = tanh(input[2] + recurrent[2]);
    const N o = sigmoid(input[3] + recurrent[3]);
    const N c = f * state[1] + i * g;
    next[0] = o * tanh(c);
    next[1] = c;
    saved[0] = i, saved[1] = f, saved[2] = g, saved[3] = o;
  }

  template <class N>
  static THROUGHTIME_INLINE void backward(const CellOptions&, const N* saved, const N* state, const N* next,
                                          const N* d_next, N* d_input, N*, N* d_state) {
    const N i = saved[0], f = saved[1], g = saved[2], o = saved[3];
    const N tanh_c = tanh(next[1]);
    const N d_c = d_next[1] + d_next[0] * o * (N(1.0) - tanh_c * tanh_c);
    d_input[0] = d_c * g * i * (N(1.0) - i);
    d_input[1] = d_c * state[1] * f * (N(1.0) - f);
    d_input[2] = d_c * i * (N(1.0) - g * g);
    d_input[3] = d_next[0] * tanh_c * o * (N(1.0) - o);
    d_state[0] = N(0.0);
    d_state[1] = d_c * f;
  }
};

THROUGHTIME_FORMULAS_END

#endif  // THROUGHTIME_CELLS_LSTM_INL_H

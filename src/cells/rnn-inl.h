// Included once per instruction set: no #pragma once.
#if defined(THROUGHTIME_CELLS_RNN_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef THROUGHTIME_CELLS_RNN_INL_H
#undef THROUGHTIME_CELLS_RNN_INL_H
#else
#define THROUGHTIME_CELLS_RNN_INL_H
#endif

#include "throughtime/cell.h"
#include "throughtime/simd/formulas-inl.h"

THROUGHTIME_FORMULAS_BEGIN

// An activation gives its value and its derivative in terms of that value.
struct TanhActivation {
  template <class N>
  static THROUGHTIME_INLINE N value(N x) {
    return tanh(x);
  }
  template <class N>
  static THROUGHTIME_INLINE N slope(N h) {
    return N(1.0) - h * h;
  }
};
struct ReluActivation {
  template <class N>
  static THROUGHTIME_INLINE N value(N x) {
    return larger(N(0.0), x);
  }
  template <class N>
  static THROUGHTIME_INLINE N slope(N h) {
    return step_function(h);
  }
};
struct LogisticActivation {
  template <class N>
  static THROUGHTIME_INLINE N value(N x) {
    return sigmoid(x);
  }
  template <class N>
  static THROUGHTIME_INLINE N slope(N h) {
    return h * (N(1.0) - h);
  }
};
struct LinearActivation {
  template <class N>
  static THROUGHTIME_INLINE N value(N x) {
    return x;
  }
  template <class N>
  static THROUGHTIME_INLINE N slope(N) {
    return N(1.0);
  }
};

/// h' = activation(W_x x + b_x + W_h h + b_h).
template <class Activation>
struct Rnn {
  static constexpr CellShape shape = {.input_rows = 1, .recurrent_rows = 1, .joint = true};

  template <class N>
  static THROUGHTIME_INLINE void forward(const CellOptions&, const N* input, const N* recurrent, const N*, N* next,
                                         N*) {
    next[0] = Activation::value(input[0] + recurrent[0]);
  }

  template <class N>
  static THROUGHTIME_INLINE void backward(const CellOptions&, const N*, const N*, const N* next, const N* d_next,
                                          N* d_input, N*, N* d_state) {
    d_input[0] = d_next[0] * Activation::slope(next[0]);
    d_state[0] = N(0.0);
  }
};

using RnnTanh = Rnn<TanhActivation>;
using RnnRelu = Rnn<ReluActivation>;
using RnnLogistic = Rnn<LogisticActivation>;
using RnnLinear = Rnn<LinearActivation>;

THROUGHTIME_FORMULAS_END

#endif  // THROUGHTIME_CELLS_RNN_INL_H

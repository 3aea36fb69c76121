// Included once per instruction set: no #pragma once.
#if defined(THROUGHTIME_CELLS_ANTISYMMETRIC_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef THROUGHTIME_CELLS_ANTISYMMETRIC_INL_H
#undef THROUGHTIME_CELLS_ANTISYMMETRIC_INL_H
#else
#define THROUGHTIME_CELLS_ANTISYMMETRIC_INL_H
#endif

#include <cstddef>

#include "throughtime/cell.h"
#include "throughtime/simd/formulas-inl.h"

THROUGHTIME_FORMULAS_BEGIN

/// A = M - M^T - gamma I. The numbers are the strict upper triangle of M, row by row: H (H - 1) / 2.
struct AntisymmetricWeights {
  static THROUGHTIME_INLINE int count(int hidden) { return hidden * (hidden - 1) / 2; }

  static THROUGHTIME_INLINE std::ptrdiff_t raw_index(int hidden, int row, int column) {
    return row < column ? static_cast<std::ptrdiff_t>(row) * (2 * hidden - row - 1) / 2 + column - row - 1 : -1;
  }

  template <class N>
  static THROUGHTIME_INLINE N effective(const CellOptions& options, int hidden, int row, int column, const N* raw) {
    if (row == column) return N(-options.diffusion);
    return row < column ? raw[raw_index(hidden, row, column)] : -raw[raw_index(hidden, column, row)];
  }

  template <class N>
  static THROUGHTIME_INLINE N adjoint(const CellOptions&, int hidden, int row, int column, const N* d_effective) {
    const std::ptrdiff_t width = hidden;
    return d_effective[row * width + column] - d_effective[column * width + row];
  }
};

/// h' = h + epsilon tanh(A h + V x + b), with the A of AntisymmetricWeights.
struct Antisymmetric {
  using Weights = AntisymmetricWeights;
  static constexpr CellShape shape = {
      .input_rows = 1, .recurrent_rows = 1, .saved = 1, .joint = true, .recurrent_bias = false};

  template <class N>
  static THROUGHTIME_INLINE void forward(const CellOptions& options, const N* input, const N* recurrent, const N* state,
                                         N* next, N* saved) {
    saved[0] = tanh(input[0] + recurrent[0]);
    next[0] = state[0] + N(options.step) * saved[0];
  }

  template <class N>
  static THROUGHTIME_INLINE void backward(const CellOptions& options, const N* saved, const N*, const N*,
                                          const N* d_next, N* d_input, N*, N* d_state) {
    d_input[0] = N(options.step) * d_next[0] * (N(1.0) - saved[0] * saved[0]);
    d_state[0] = d_next[0];
  }
};

/// h' = h + epsilon z tanh(A h + V x + b), z = sigmoid(A h + V_z x + b_z): both use the same A.
/// Input rows: candidate, gate.
struct AntisymmetricGated {
  using Weights = AntisymmetricWeights;
  static constexpr CellShape shape = {.input_rows = 2, .recurrent_rows = 1, .saved = 2, .recurrent_bias = false};

  template <class N>
  static THROUGHTIME_INLINE void forward(const CellOptions& options, const N* input, const N* recurrent, const N* state,
                                         N* next, N* saved) {
    saved[0] = tanh(input[0] + recurrent[0]);
    saved[1] = sigmoid(input[1] + recurrent[0]);
    next[0] = state[0] + N(options.step) * saved[0] * saved[1];
  }

  template <class N>
  static THROUGHTIME_INLINE void backward(const CellOptions& options, const N* saved, const N*, const N*,
                                          const N* d_next, N* d_input, N* d_recurrent, N* d_state) {
    const N candidate = saved[0], gate = saved[1];
    const N d = N(options.step) * d_next[0];
    d_input[0] = d * gate * (N(1.0) - candidate * candidate);
    d_input[1] = d * candidate * gate * (N(1.0) - gate);
    d_recurrent[0] = d_input[0] + d_input[1];
    d_state[0] = d_next[0];
  }
};

THROUGHTIME_FORMULAS_END

#endif  // THROUGHTIME_CELLS_ANTISYMMETRIC_INL_H

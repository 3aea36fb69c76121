#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cells/antisymmetric.cpp"
#include <hwy/foreach_target.h>

#include "throughtime/simd/cell-inl.h"

HWY_BEFORE_NAMESPACE();
namespace throughtime::HWY_NAMESPACE {

/// h' = h + epsilon tanh(A h + V x + b), with A = M - M^T - gamma I made by the weight map below.
struct Antisymmetric {
  static constexpr CellShape shape = {
      .input_rows = 1, .recurrent_rows = 1, .saved = 1, .joint = true, .recurrent_bias = false};

  template <class N>
  static HWY_INLINE void forward(const CellOptions& options, const N* input, const N* recurrent, const N* state,
                                 N* next, N* saved) {
    saved[0] = tanh(input[0] + recurrent[0]);
    next[0] = state[0] + N(options.step) * saved[0];
  }

  template <class N>
  static HWY_INLINE void backward(const CellOptions& options, const N* saved, const N*, const N*, const N* d_next,
                                  N* d_input, N*, N* d_state) {
    d_input[0] = N(options.step) * d_next[0] * (N(1.0) - saved[0] * saved[0]);
    d_state[0] = d_next[0];
  }
};

/// h' = h + epsilon z tanh(A h + V x + b), z = sigmoid(A h + V_z x + b_z): both use the same A.
/// Input rows: candidate, gate.
struct AntisymmetricGated {
  static constexpr CellShape shape = {.input_rows = 2, .recurrent_rows = 1, .saved = 2, .recurrent_bias = false};

  template <class N>
  static HWY_INLINE void forward(const CellOptions& options, const N* input, const N* recurrent, const N* state,
                                 N* next, N* saved) {
    saved[0] = tanh(input[0] + recurrent[0]);
    saved[1] = sigmoid(input[1] + recurrent[0]);
    next[0] = state[0] + N(options.step) * saved[0] * saved[1];
  }

  template <class N>
  static HWY_INLINE void backward(const CellOptions& options, const N* saved, const N*, const N*, const N* d_next,
                                  N* d_input, N* d_recurrent, N* d_state) {
    const N candidate = saved[0], gate = saved[1];
    const N d = N(options.step) * d_next[0];
    d_input[0] = d * gate * (N(1.0) - candidate * candidate);
    d_input[1] = d * candidate * gate * (N(1.0) - gate);
    d_recurrent[0] = d_input[0] + d_input[1];
    d_state[0] = d_next[0];
  }
};

CellKernels<float> antisymmetric_kernels() { return cell_kernels<Antisymmetric, Lanes>(); }
CellKernels<float> antisymmetric_gated_kernels() { return cell_kernels<AntisymmetricGated, Lanes>(); }

}  // namespace throughtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace throughtime {

HWY_EXPORT(antisymmetric_kernels);
HWY_EXPORT(antisymmetric_gated_kernels);

namespace {

/// The raw parameters are the strict upper triangle of M, row by row: H (H - 1) / 2 numbers.
std::vector<int> triangle_shape(int hidden) { return {hidden * (hidden - 1) / 2}; }

template <class Real>
void apply_antisymmetric(const CellOptions& options, int hidden, const Real* raw, Real* effective) {
  const std::size_t h = static_cast<std::size_t>(hidden);
  for (std::size_t row = 0; row < h; ++row) {
    effective[row * h + row] = static_cast<Real>(-options.diffusion);
    for (std::size_t column = row + 1; column < h; ++column, ++raw) {
      effective[row * h + column] = *raw;
      effective[column * h + row] = -*raw;
    }
  }
}

template <class Real>
void adjoint_antisymmetric(const CellOptions&, int hidden, const Real* d_effective, Real* d_raw) {
  const std::size_t h = static_cast<std::size_t>(hidden);
  for (std::size_t row = 0; row < h; ++row)
    for (std::size_t column = row + 1; column < h; ++column, ++d_raw)
      *d_raw += d_effective[row * h + column] - d_effective[column * h + row];
}

template <class Cell>
CellType antisymmetric_type(const char* name, const char* description, CellKernels<float> (*fast)()) {
  CellType cell;
  cell.name = name;
  cell.description = description;
  cell.shape = Cell::shape;
  cell.reference = HWY_NAMESPACE::cell_kernels<Cell, double>();
  cell.fast = fast;
  cell.raw_shape = triangle_shape;
  cell.reference_map = {apply_antisymmetric<double>, adjoint_antisymmetric<double>};
  cell.fast_map = {apply_antisymmetric<float>, adjoint_antisymmetric<float>};
  return cell;
}

}  // namespace

CellType antisymmetric_cell() {
  return antisymmetric_type<HWY_NAMESPACE::Antisymmetric>("antisymmetric",
                                                          "h + epsilon tanh(A h + V x + b), A = M - M^T - gamma I",
                                                          [] { return HWY_DYNAMIC_DISPATCH(antisymmetric_kernels)(); });
}
CellType antisymmetric_gated_cell() {
  return antisymmetric_type<HWY_NAMESPACE::AntisymmetricGated>(
      "antisymmetric_gated", "antisymmetric with an input gate that shares A",
      [] { return HWY_DYNAMIC_DISPATCH(antisymmetric_gated_kernels)(); });
}

}  // namespace throughtime
#endif

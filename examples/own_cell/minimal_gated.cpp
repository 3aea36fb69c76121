// A user's cell, in one file outside of the library. Highway compiles the part between HWY_BEFORE_NAMESPACE and
// HWY_AFTER_NAMESPACE once per instruction set; the part under HWY_ONCE is compiled once.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "minimal_gated.cpp"
#include <hwy/foreach_target.h>

#include "minimal_gated.h"
#include "throughtime/simd/cell-inl.h"

HWY_BEFORE_NAMESPACE();
namespace throughtime::HWY_NAMESPACE {

/// f = sigmoid(W_f x + b_f + U_f h + c_f);  n = tanh(W_n x + b_n + f (U_n h + c_n));  h' = h + f (n - h).
/// One gate serves as update and as reset gate; it acts after the product, as in the library's `gru`.
struct MinimalGated {
  static constexpr CellShape shape = {.input_rows = 2, .recurrent_rows = 2, .saved = 3};

  template <class N>
  static HWY_INLINE void forward(const CellOptions&, const N* input, const N* recurrent, const N* state, N* next,
                                 N* saved) {
    const N f = sigmoid(input[0] + recurrent[0]);
    const N n = tanh(input[1] + f * recurrent[1]);
    next[0] = state[0] + f * (n - state[0]);
    saved[0] = f, saved[1] = n, saved[2] = recurrent[1];
  }

  template <class N>
  static HWY_INLINE void backward(const CellOptions&, const N* saved, const N* state, const N*, const N* d_next,
                                  N* d_input, N* d_recurrent, N* d_state) {
    const N f = saved[0], n = saved[1];
    d_input[1] = d_next[0] * f * (N(1.0) - n * n);
    d_input[0] = (d_next[0] * (n - state[0]) + d_input[1] * saved[2]) * f * (N(1.0) - f);
    d_recurrent[0] = d_input[0];
    d_recurrent[1] = d_input[1] * f;
    d_state[0] = d_next[0] * (N(1.0) - f);
  }
};

CellKernels<float> minimal_gated_kernels() { return cell_kernels<MinimalGated, Lanes>(); }

}  // namespace throughtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace throughtime {
HWY_EXPORT(minimal_gated_kernels);
}

throughtime::CellType minimal_gated_cell() {
  using namespace throughtime;
  using Cell = throughtime::HWY_NAMESPACE::MinimalGated;
  CellType cell;
  cell.name = "minimal_gated";
  cell.description = "minimal gated unit, the gate after the product, rows f n";
  cell.shape = Cell::shape;
  cell.reference = throughtime::HWY_NAMESPACE::cell_kernels<Cell, double>();
  cell.fast = [] { return HWY_DYNAMIC_DISPATCH(minimal_gated_kernels)(); };
  return cell;
}
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cells/rnn.cpp"
#include <hwy/foreach_target.h>

#include "cells/row_steps-inl.h"
#include "throughtime/simd/cell-inl.h"

HWY_BEFORE_NAMESPACE();
namespace throughtime::HWY_NAMESPACE {

// An activation gives its value and its derivative in terms of that value.
struct TanhActivation {
  template <class N>
  static HWY_INLINE N value(N x) {
    return tanh(x);
  }
  template <class N>
  static HWY_INLINE N slope(N h) {
    return N(1.0) - h * h;
  }
};
struct ReluActivation {
  template <class N>
  static HWY_INLINE N value(N x) {
    return larger(N(0.0), x);
  }
  template <class N>
  static HWY_INLINE N slope(N h) {
    return step_function(h);
  }
};
struct LogisticActivation {
  template <class N>
  static HWY_INLINE N value(N x) {
    return sigmoid(x);
  }
  template <class N>
  static HWY_INLINE N slope(N h) {
    return h * (N(1.0) - h);
  }
};
struct LinearActivation {
  template <class N>
  static HWY_INLINE N value(N x) {
    return x;
  }
  template <class N>
  static HWY_INLINE N slope(N) {
    return N(1.0);
  }
};

/// h' = activation(W_x x + b_x + W_h h + b_h).
template <class Activation>
struct Rnn {
  static constexpr CellShape shape = {.input_rows = 1, .recurrent_rows = 1, .joint = true};

  template <class N>
  static HWY_INLINE void forward(const CellOptions&, const N* input, const N* recurrent, const N*, N* next, N*) {
    next[0] = Activation::value(input[0] + recurrent[0]);
  }

  template <class N>
  static HWY_INLINE void backward(const CellOptions&, const N*, const N*, const N* next, const N* d_next, N* d_input,
                                  N*, N* d_state) {
    d_input[0] = d_next[0] * Activation::slope(next[0]);
    d_state[0] = N(0.0);
  }
};

CellKernels<float> rnn_tanh_kernels() { return cell_kernels<Rnn<TanhActivation>, Lanes>(); }
CellKernels<float> rnn_relu_kernels() { return cell_kernels<Rnn<ReluActivation>, Lanes>(); }
CellKernels<float> rnn_logistic_kernels() { return cell_kernels<Rnn<LogisticActivation>, Lanes>(); }
CellKernels<float> rnn_linear_kernels() { return cell_kernels<Rnn<LinearActivation>, Lanes>(); }

RowKernels rnn_tanh_row_kernels() { return make_row_kernels<Rnn<TanhActivation>>(); }
RowKernels rnn_relu_row_kernels() { return make_row_kernels<Rnn<ReluActivation>>(); }
RowKernels rnn_logistic_row_kernels() { return make_row_kernels<Rnn<LogisticActivation>>(); }
RowKernels rnn_linear_row_kernels() { return make_row_kernels<Rnn<LinearActivation>>(); }

}  // namespace throughtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace throughtime {

HWY_EXPORT(rnn_tanh_kernels);
HWY_EXPORT(rnn_relu_kernels);
HWY_EXPORT(rnn_logistic_kernels);
HWY_EXPORT(rnn_linear_kernels);
HWY_EXPORT(rnn_tanh_row_kernels);
HWY_EXPORT(rnn_relu_row_kernels);
HWY_EXPORT(rnn_logistic_row_kernels);
HWY_EXPORT(rnn_linear_row_kernels);

RowKernels rnn_tanh_rows() { return HWY_DYNAMIC_DISPATCH(rnn_tanh_row_kernels)(); }
RowKernels rnn_relu_rows() { return HWY_DYNAMIC_DISPATCH(rnn_relu_row_kernels)(); }
RowKernels rnn_logistic_rows() { return HWY_DYNAMIC_DISPATCH(rnn_logistic_row_kernels)(); }
RowKernels rnn_linear_rows() { return HWY_DYNAMIC_DISPATCH(rnn_linear_row_kernels)(); }

namespace {

template <class Activation>
CellType simple_cell(const char* name, const char* description, CellKernels<float> (*fast)()) {
  using Cell = HWY_NAMESPACE::Rnn<Activation>;
  CellType cell;
  cell.name = name;
  cell.description = description;
  cell.shape = Cell::shape;
  cell.reference = HWY_NAMESPACE::cell_kernels<Cell, double>();
  cell.fast = fast;
  return cell;
}

}  // namespace

CellType rnn_tanh_cell() {
  return simple_cell<HWY_NAMESPACE::TanhActivation>("rnn_tanh", "simple recurrence, tanh",
                                                    [] { return HWY_DYNAMIC_DISPATCH(rnn_tanh_kernels)(); });
}
CellType rnn_relu_cell() {
  return simple_cell<HWY_NAMESPACE::ReluActivation>("rnn_relu", "simple recurrence, rectifier",
                                                    [] { return HWY_DYNAMIC_DISPATCH(rnn_relu_kernels)(); });
}
CellType rnn_logistic_cell() {
  return simple_cell<HWY_NAMESPACE::LogisticActivation>("rnn_logistic", "simple recurrence, logistic",
                                                        [] { return HWY_DYNAMIC_DISPATCH(rnn_logistic_kernels)(); });
}
CellType rnn_linear_cell() {
  return simple_cell<HWY_NAMESPACE::LinearActivation>("rnn_linear", "simple recurrence, no activation",
                                                      [] { return HWY_DYNAMIC_DISPATCH(rnn_linear_kernels)(); });
}

}  // namespace throughtime
#endif

// Turns the formulas of a cell into a CellType. Included once per instruction set: no #pragma once.
//
// A cell is a struct of formulas (simd/formulas-inl.h) with
//   static constexpr CellShape shape;
//   template <class N> static void forward(const CellOptions&, const N* input, const N* recurrent, const N* state,
//                                          N* next, N* saved);
//   template <class N> static void backward(const CellOptions&, const N* saved, const N* state, const N* next,
//                                           const N* d_next, N* d_input, N* d_recurrent, N* d_state);
// on the numbers of ONE unit: input[gate], recurrent[gate], state[tensor], saved[k]. `backward` assigns all of
// d_input, d_recurrent and d_state; d_state holds what does not pass through the recurrent product. A joint cell
// uses input[g] + recurrent[g] only, and its d_recurrent is not read. A cell with late rows is not joint; it adds
//   forward_early(options, input, recurrent, state, saved)          fills saved[gated] from the early rows
//   backward_early(options, saved, state, d_gated, d_input, d_recurrent, d_state)
//                                                                    adds what arrives at the gated state
// A cell whose recurrent matrix W is made from fewer numbers has `using Weights`, a struct of formulas with
//   static int count(int hidden);                                    how many numbers
//   static std::ptrdiff_t raw_index(int hidden, int row, int column);
//                                                                    which of them is counted at W[row][column]; -1:
//                                                                    none
//   template <class N> static N effective(const CellOptions&, int hidden, int row, int column, const N* raw);
//                                                                    W[row][column]
//   template <class N> static N adjoint(const CellOptions&, int hidden, int row, int column, const N* d_effective);
//                                                                    dL/draw of the number counted there
//
// The file that registers it is compiled once per instruction set too, so it names itself:
//   #undef HWY_TARGET_INCLUDE
//   #define HWY_TARGET_INCLUDE "cells/lstm.cpp"
//   #include <hwy/foreach_target.h>
//
//   #include "cells/lstm-inl.h"
//   #include "throughtime/simd/cell-inl.h"
//
//   THROUGHTIME_REGISTER_CELL(lstm, Lstm, "long short-term memory, gates i f g o", RowSteps::fused)
// which defines `CellType throughtime::lstm_cell()`: a row for the registry, or for register_cell. Behind the choice of
// RowSteps come the names of the CellOptions that it reads.
#if defined(THROUGHTIME_CELL_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef THROUGHTIME_CELL_INL_H
#undef THROUGHTIME_CELL_INL_H
#else
#define THROUGHTIME_CELL_INL_H
#endif

#include <utility>

#include "throughtime/cell.h"
#include "throughtime/index.h"
#include "throughtime/simd/pointwise-inl.h"
#include "throughtime/simd/row_steps-inl.h"

HWY_BEFORE_NAMESPACE();
namespace throughtime::HWY_NAMESPACE {

template <class Cell, RowSteps steps>
RowKernels row_kernels() {
  if constexpr (steps == RowSteps::fused)
    return make_row_kernels<Cell>();
  else
    return {};
}

template <class Cell, class Real>
void apply_weights(const CellOptions& options, int hidden, const Real* raw, Real* effective) {
  for (int row = 0; row < Cell::shape.recurrent_rows * hidden; ++row)
    for (int column = 0; column < hidden; ++column)
      *effective++ = Cell::Weights::template effective<Real>(options, hidden, row, column, raw);
}

template <class Cell, class Real>
void add_adjoint_weights(const CellOptions& options, int hidden, const Real* d_effective, Real* d_raw) {
  for (int row = 0; row < Cell::shape.recurrent_rows * hidden; ++row)
    for (int column = 0; column < hidden; ++column) {
      const Index index = Cell::Weights::raw_index(hidden, row, column);
      if (index >= 0) d_raw[index] += Cell::Weights::template adjoint<Real>(options, hidden, row, column, d_effective);
    }
}

template <class Cell>
CellType cell_type(const char* name, const char* description, CellKernels<float> (*fast)(), RowKernels (*rows)(),
                   std::vector<std::string> reads) {
  CellType cell;
  cell.name = name;
  cell.description = description;
  cell.reads = std::move(reads);
  cell.shape = Cell::shape;
  cell.reference = cell_kernels<Cell, double>();
  cell.fast = fast;
  cell.rows = rows;
  if constexpr (requires { typename Cell::Weights; }) {
    cell.raw_shape = [](int hidden) { return std::vector<int>{Cell::Weights::count(hidden)}; };
    cell.reference_map = {apply_weights<Cell, double>, add_adjoint_weights<Cell, double>};
    cell.fast_map = {apply_weights<Cell, float>, add_adjoint_weights<Cell, float>};
  }
  return cell;
}

}  // namespace throughtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#define THROUGHTIME_CELL_KERNELS(name, Cell, steps)                           \
  HWY_BEFORE_NAMESPACE();                                                     \
  namespace throughtime::HWY_NAMESPACE {                                      \
  CellKernels<float> name##_kernels() { return cell_kernels<Cell, Lanes>(); } \
  RowKernels name##_row_kernels() { return row_kernels<Cell, steps>(); }      \
  }                                                                           \
  HWY_AFTER_NAMESPACE();

#undef THROUGHTIME_REGISTER_CELL
#if HWY_ONCE
#define THROUGHTIME_REGISTER_CELL(name, Cell, description, steps, ...)             \
  THROUGHTIME_CELL_KERNELS(name, Cell, steps)                                      \
  namespace throughtime {                                                          \
  HWY_EXPORT(name##_kernels);                                                      \
  HWY_EXPORT(name##_row_kernels);                                                  \
  CellType name##_cell() {                                                         \
    return HWY_NAMESPACE::cell_type<HWY_NAMESPACE::Cell>(                          \
        #name, description, [] { return HWY_DYNAMIC_DISPATCH(name##_kernels)(); }, \
        [] { return HWY_DYNAMIC_DISPATCH(name##_row_kernels)(); }, {__VA_ARGS__}); \
  }                                                                                \
  }
#else
#define THROUGHTIME_REGISTER_CELL(name, Cell, description, steps, ...) THROUGHTIME_CELL_KERNELS(name, Cell, steps)
#endif

#endif  // THROUGHTIME_CELL_INL_H

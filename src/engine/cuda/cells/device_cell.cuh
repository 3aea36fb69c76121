// Makes a DeviceCell from the formulas of a cell (throughtime/simd/cell-inl.h says what these are), in a file of its
// own:
//
//   #define THROUGHTIME_NUMBERS "engine/cuda/numbers.h"
//   #include "cells/lstm-inl.h"
//   #include "engine/cuda/cells/device_cell.cuh"
//
//   THROUGHTIME_CUDA_CELL(lstm, Lstm)
//
// which defines `const DeviceCell* throughtime::cuda::lstm_device_cell()`. This header and those it includes are
// installed (cmake/throughtimeCuda.cmake), so that a cell outside of this tree is made the same way.
#pragma once

#include "engine/cuda/cells/pointwise.cuh"
#include "engine/cuda/cells/recurrence.cuh"
#include "engine/cuda/device_cell.h"

namespace throughtime::cuda {

template <class Cell>
DeviceCell make_device_cell() {
  DeviceCell cell;
  cell.shape = Cell::shape;
  cell.step_forward = step_forward<Cell, false>;
  cell.step_backward = step_backward<Cell>;
  cell.finish_backward = finish_backward<Cell>;
  if constexpr (Cell::shape.late_rows > 0) {
    cell.step_forward_early = step_forward<Cell, true>;
    cell.step_backward_early = step_backward_early<Cell>;
  }
  if constexpr (whole_exists(Cell::shape)) {
    cell.whole_fits = whole_fits<Cell>;
    cell.whole_forward = whole_forward<Cell>;
    cell.whole_backward = whole_backward<Cell>;
  }
  if constexpr (requires { typename Cell::Weights; }) {
    cell.apply_weights = map_weights<Cell, false>;
    cell.adjoint_weights = map_weights<Cell, true>;
  }
  return cell;
}

}  // namespace throughtime::cuda

#define THROUGHTIME_CUDA_CELL(name, Cell)                    \
  namespace throughtime::cuda {                              \
  const DeviceCell* name##_device_cell() {                   \
    static const DeviceCell cell = make_device_cell<Cell>(); \
    return &cell;                                            \
  }                                                          \
  }

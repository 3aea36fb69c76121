// The built-in cells: their steps as loops over the bodies that the kernels call. All steps in one kernel are the same
// steps here, with what that kernel does before the first and after the last.
// Compiled alone, for formulas mean floats here (no HWY_TARGET_INCLUDE).
#define THROUGHTIME_NUMBERS "engine/cuda/numbers.h"

#include <memory>

#include "cells/antisymmetric-inl.h"
#include "cells/gru-inl.h"
#include "cells/gru_reset_before-inl.h"
#include "cells/lstm-inl.h"
#include "cells/mingru-inl.h"
#include "cells/rnn-inl.h"
#include "cuda_on_host/device.h"
#include "engine/cuda/cells/pointwise.cuh"
#include "engine/cuda/cells/registry.h"
#include "engine/cuda/kernels/inputs.h"
#include "engine/cuda/steps.h"

namespace throughtime::cuda {

template <class Body>
void for_all(const Context& context, int rows, int columns, Body body) {
  enqueue(context, [=] {
    for (int row = 0; row < rows; ++row)
      for (int column = 0; column < columns; ++column) body(row, column);
  });
}

/// Numbers that live as long as the program: a graph may come back to them.
float* room(std::size_t count) {
  static std::vector<std::unique_ptr<float[]>> all;
  all.push_back(std::make_unique<float[]>(count));
  return all.back().get();
}

template <class Cell>
const DeviceCell& host_cell();

MoveStates rows_and_planes(const CellShape& shape, int batch, int hidden, int state_size, std::size_t plane) {
  MoveStates move;
  move.batch = batch;
  move.hidden = hidden;
  move.tensors = shape.states;
  move.state_size = state_size;
  move.plane = plane;
  return move;
}

template <class Cell>
void whole_forward(const Context& context, const StepsForward& given) {
  constexpr CellShape shape = Cell::shape;
  LayerForward call{.cell = &host_cell<Cell>(), .whole = 0, .steps = given};
  StepsForward& steps = call.steps;
  call.products = room(elements(steps.batch, shape.recurrent_rows * steps.hidden));
  MoveStates move = rows_and_planes(shape, steps.batch, steps.hidden, steps.state_size, steps.state_plane);
  if (steps.begins) {
    move.to_planes = 1;
    move.from = steps.initial;
    move.to = steps.states;
    issue(context, move);
  }
  if (steps.input_gates) {  // without a bias, which the kernel adds
    const int width = shape.input_rows * steps.hidden;
    float* gates = room(elements(steps.steps, steps.batch, width));
    for_all(context, steps.steps * steps.batch, width,
            [=, from = steps.input_gates, bias = steps.input_bias](int row, int at) {
              gates[elements(row, width) + elements(at)] =
                  from[elements(row, width) + elements(at)] + (bias ? bias[at] : 0.0f);
            });
    steps.input_gates = gates;
  }
  issue(context, call);
  if (!steps.final_state) return;
  move.to_planes = 0;
  move.from = steps.states + elements(steps.steps, steps.batch, steps.hidden);
  move.to = steps.final_state;
  issue(context, move);
}

template <class Cell>
void whole_backward(const Context& context, const StepsBackward& steps) {
  const LayerBackward call{.cell = &host_cell<Cell>(), .whole = 0, .steps = steps, .d_gated = nullptr};
  for_all(context, Cell::shape.states, steps.batch * steps.hidden, [=](int tensor, int at) {
    if (tensor >= steps.carried) steps.carry[elements(tensor, steps.batch * steps.hidden) + elements(at)] = 0;
  });
  issue(context, call);
}

template <class Cell, bool early>
void step_forward(const Context& context, const StepsForward& call, int step, const float* products) {
  for_all(context, call.batch, call.hidden,
          [=](int row, int unit) { forward_unit<Cell, early>(call, step, products, row, unit); });
}

template <class Cell>
DeviceCell make_host_cell() {
  DeviceCell cell;
  cell.shape = Cell::shape;
  cell.step_forward = step_forward<Cell, false>;
  cell.step_backward = [](const Context& context, const StepsBackward& call, int step) {
    for_all(context, call.batch, call.hidden, [=](int row, int unit) { backward_unit<Cell>(call, step, row, unit); });
  };
  cell.finish_backward = [](const Context& context, const StepsBackward& call) {
    for_all(context, call.batch, call.hidden, [=](int row, int unit) { finish_unit<Cell>(call, row, unit); });
  };
  if constexpr (Cell::shape.late_rows > 0) {
    cell.step_forward_early = step_forward<Cell, true>;
    cell.step_backward_early = [](const Context& context, const StepsBackward& call, int step, const float* d_gated) {
      for_all(context, call.batch, call.hidden,
              [=](int row, int unit) { backward_unit_early<Cell>(call, step, d_gated, row, unit); });
    };
  } else if constexpr (Cell::shape.recurrent_rows > 0) {
    cell.whole_fits = [](int hidden) { return hidden <= 256; };
    cell.whole_forward = whole_forward<Cell>;
    cell.whole_backward = whole_backward<Cell>;
  }
  if constexpr (requires { typename Cell::Weights; }) {
    cell.apply_weights = [](const Context& context, const CellOptions& options, int hidden, const float* raw,
                            float* effective) {
      for_all(context, Cell::shape.recurrent_rows * hidden, hidden,
              [=](int row, int column) { apply_weight<Cell>(options, hidden, raw, effective, row, column); });
    };
    cell.adjoint_weights = [](const Context& context, const CellOptions& options, int hidden, const float* d_effective,
                              float* d_raw) {
      for_all(context, Cell::shape.recurrent_rows * hidden, hidden,
              [=](int row, int column) { adjoint_weight<Cell>(options, hidden, d_effective, d_raw, row, column); });
    };
  }
  return cell;
}

template <class Cell>
const DeviceCell& host_cell() {
  static const DeviceCell cell = make_host_cell<Cell>();
  return cell;
}

const DeviceCell* lstm_device_cell() { return &host_cell<Lstm>(); }
const DeviceCell* gru_device_cell() { return &host_cell<Gru>(); }
const DeviceCell* gru_reset_before_device_cell() { return &host_cell<GruResetBefore>(); }
const DeviceCell* rnn_tanh_device_cell() { return &host_cell<RnnTanh>(); }
const DeviceCell* rnn_relu_device_cell() { return &host_cell<RnnRelu>(); }
const DeviceCell* rnn_logistic_device_cell() { return &host_cell<RnnLogistic>(); }
const DeviceCell* rnn_linear_device_cell() { return &host_cell<RnnLinear>(); }
const DeviceCell* antisymmetric_device_cell() { return &host_cell<Antisymmetric>(); }
const DeviceCell* antisymmetric_gated_device_cell() { return &host_cell<AntisymmetricGated>(); }
const DeviceCell* mingru_device_cell() { return &host_cell<MinGru>(); }

}  // namespace throughtime::cuda

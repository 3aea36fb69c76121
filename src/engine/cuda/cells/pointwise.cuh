// The pointwise work of a cell on a device, one step at a time: for layers whose products the engine makes itself (late
// rows, more units than registers hold). One thread per row and unit; the body for one of them is a function of its
// own, which tests run in host loops.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/cuda/device_cell.h"
#include "engine/cuda/kernels/turns.cuh"
#include "engine/cuda/numbers.h"
#include "throughtime/window.h"

namespace throughtime::cuda {

constexpr int at_least_one(int count) { return count > 0 ? count : 1; }

/// Whether there are recurrent rows that are kept apart from the input's.
template <class Cell>
constexpr bool own_recurrent = !Cell::shape.joint && Cell::shape.recurrent_rows > 0;

THROUGHTIME_INLINE bool has_flag(const std::uint8_t* flags, int batch, int step, int row, StepFlag flag) {
  return flags && flags[static_cast<std::size_t>(step) * batch + row] == static_cast<std::uint8_t>(flag);
}

/// What the input gives to the gates of one unit.
template <class Cell>
THROUGHTIME_INLINE void input_of_unit(const StepsForward& call, int step, int row, int unit, float* input) {
  constexpr CellShape shape = Cell::shape;
  const std::size_t entry = static_cast<std::size_t>(step) * call.batch + row;
  for (int gate = 0; gate < shape.input_rows; ++gate) {
    const int at = gate * call.hidden + unit;
    if (call.input_gates) {
      input[gate] = call.input_gates[entry * shape.input_rows * call.hidden + at];
      continue;
    }
    input[gate] = call.input_bias ? call.input_bias[at] : 0.0f;
    for (int d = 0; d < call.inputs; ++d)
      input[gate] +=
          call.input_weights[static_cast<std::size_t>(at) * call.inputs + d] * call.x[entry * call.inputs + d];
  }
}

/// The state of one unit before a step: zero at a reset.
template <class Cell, class Call>
THROUGHTIME_INLINE void state_before(const Call& call, int step, int row, int unit, float* state) {
  const std::size_t at = (static_cast<std::size_t>(step) * call.batch + row) * call.hidden + unit;
  const bool reset = has_flag(call.flags, call.batch, step, row, StepFlag::reset);
  for (int k = 0; k < Cell::shape.states; ++k) state[k] = reset ? 0.0f : call.states[k * call.state_plane + at];
}

/// One step of one unit; `early`: the part before the late rows. Saved numbers of held rows are written too: finite
/// numbers that nobody uses.
template <class Cell, bool early>
THROUGHTIME_INLINE void forward_unit(const StepsForward& call, int step, const float* products, int row, int unit) {
  constexpr CellShape shape = Cell::shape;
  constexpr int known_rows = shape.recurrent_rows - (early ? shape.late_rows : 0);
  float input[shape.input_rows], recurrent[at_least_one(shape.recurrent_rows)] = {}, state[shape.states];
  float saved[at_least_one(shape.saved)] = {};
  input_of_unit<Cell>(call, step, row, unit, input);
  const bool reset = has_flag(call.flags, call.batch, step, row, StepFlag::reset);
  for (int gate = 0; gate < known_rows; ++gate) {
    const int at = gate * call.hidden + unit;
    // The product was made with the state as the step before left it; at a reset the state is zero, and so is this.
    recurrent[gate] = reset ? 0.0f : products[static_cast<std::size_t>(row) * shape.recurrent_rows * call.hidden + at];
    if (call.recurrent_bias) recurrent[gate] += call.recurrent_bias[at];
  }
  state_before<Cell>(call, step, row, unit, state);
  const std::size_t at = (static_cast<std::size_t>(step) * call.batch + row) * call.hidden + unit;
  if constexpr (early) {
    Cell::template forward_early<float>(call.options, input, recurrent, state, saved);
    call.saved[shape.gated * call.saved_plane + at] = saved[shape.gated];
  } else {
    float next[shape.states];
    if constexpr (shape.late_rows > 0) saved[shape.gated] = call.saved[shape.gated * call.saved_plane + at];
    Cell::template forward<float>(call.options, input, recurrent, state, next, saved);
    const bool held = has_flag(call.flags, call.batch, step, row, StepFlag::hold);
    const std::size_t after = at + static_cast<std::size_t>(call.batch) * call.hidden;
    for (int k = 0; k < shape.states; ++k) call.states[k * call.state_plane + after] = held ? state[k] : next[k];
    if (call.saved)
      for (int k = 0; k < shape.saved; ++k) call.saved[k * call.saved_plane + at] = saved[k];
  }
}

/// Cotangents of one unit's gates, at [entry, gate, unit].
template <int rows>
THROUGHTIME_INLINE void store_gates(const float* d_gates, std::size_t entry, int hidden, int unit, float* to) {
  for (int gate = 0; gate < rows; ++gate) to[(entry * rows + gate) * hidden + unit] = d_gates[gate];
}
template <int rows>
THROUGHTIME_INLINE void load_gates(const float* from, std::size_t entry, int hidden, int unit, float* d_gates) {
  for (int gate = 0; gate < rows; ++gate) d_gates[gate] = from[(entry * rows + gate) * hidden + unit];
}

/// One step of one unit back, but for the early rows of a cell with late ones.
template <class Cell>
THROUGHTIME_INLINE void backward_unit(const StepsBackward& call, int step, int row, int unit) {
  constexpr CellShape shape = Cell::shape;
  const std::size_t entry = static_cast<std::size_t>(step) * call.batch + row;
  const std::size_t at = entry * call.hidden + unit, after = at + static_cast<std::size_t>(call.batch) * call.hidden;
  const std::size_t carry_plane = static_cast<std::size_t>(call.batch) * call.hidden;
  const std::size_t carry_at = static_cast<std::size_t>(row) * call.hidden + unit;
  const std::size_t tap_at = entry * call.state_size + unit;
  const bool left_nothing = step + 1 < call.steps && has_flag(call.flags, call.batch, step + 1, row, StepFlag::reset);
  float d_next[shape.states], d_state[shape.states], d_input[shape.input_rows] = {};
  float d_recurrent[at_least_one(shape.recurrent_rows)] = {};
  for (int k = 0; k < shape.states; ++k) {
    d_next[k] = left_nothing ? 0.0f : call.carry[k * carry_plane + carry_at];
    if (call.step_cotangents) d_next[k] += call.step_cotangents[tap_at + k * call.hidden];
    if (k == 0 && call.d_outputs) d_next[k] += call.d_outputs[at];
    if (call.taps) call.taps[tap_at + k * call.hidden] = d_next[k];
  }
  if (has_flag(call.flags, call.batch, step, row, StepFlag::hold)) {
    for (int k = 0; k < shape.states; ++k) d_state[k] = d_next[k];
  } else {
    float saved[at_least_one(shape.saved)], state[shape.states], next[shape.states];
    if (call.from_above) d_next[0] += call.from_above[at];
    for (int k = 0; k < shape.saved; ++k) saved[k] = call.saved[k * call.saved_plane + at];
    for (int k = 0; k < shape.states; ++k) next[k] = call.states[k * call.state_plane + after];
    state_before<Cell>(call, step, row, unit, state);
    Cell::template backward<float>(call.options, saved, state, next, d_next, d_input, d_recurrent, d_state);
  }
  for (int k = 0; k < shape.states; ++k) call.carry[k * carry_plane + carry_at] = d_state[k];
  store_gates<shape.input_rows>(d_input, entry, call.hidden, unit, call.d_input_gates);
  if constexpr (own_recurrent<Cell>)
    store_gates<shape.recurrent_rows>(d_recurrent, entry, call.hidden, unit, call.d_recurrent_gates);
}

/// Adds what arrives at the gated state. A held row has no such step.
template <class Cell>
THROUGHTIME_INLINE void backward_unit_early(const StepsBackward& call, int step, const float* d_gated, int row,
                                            int unit) {
  constexpr CellShape shape = Cell::shape;
  if (has_flag(call.flags, call.batch, step, row, StepFlag::hold)) return;
  const std::size_t entry = static_cast<std::size_t>(step) * call.batch + row;
  const std::size_t carry_plane = static_cast<std::size_t>(call.batch) * call.hidden;
  const std::size_t carry_at = static_cast<std::size_t>(row) * call.hidden + unit;
  float saved[at_least_one(shape.saved)], state[shape.states], d_state[shape.states];
  float d_input[shape.input_rows], d_recurrent[shape.recurrent_rows];
  for (int k = 0; k < shape.saved; ++k) saved[k] = call.saved[k * call.saved_plane + entry * call.hidden + unit];
  for (int k = 0; k < shape.states; ++k) d_state[k] = call.carry[k * carry_plane + carry_at];
  state_before<Cell>(call, step, row, unit, state);
  load_gates<shape.input_rows>(call.d_input_gates, entry, call.hidden, unit, d_input);
  load_gates<shape.recurrent_rows>(call.d_recurrent_gates, entry, call.hidden, unit, d_recurrent);
  Cell::template backward_early<float>(call.options, saved, state, d_gated[carry_at], d_input, d_recurrent, d_state);
  for (int k = 0; k < shape.states; ++k) call.carry[k * carry_plane + carry_at] = d_state[k];
  store_gates<shape.input_rows>(d_input, entry, call.hidden, unit, call.d_input_gates);
  store_gates<shape.recurrent_rows>(d_recurrent, entry, call.hidden, unit, call.d_recurrent_gates);
}

template <class Cell>
THROUGHTIME_INLINE void finish_unit(const StepsBackward& call, int row, int unit) {
  if (!has_flag(call.flags, call.batch, 0, row, StepFlag::reset)) return;
  for (int k = 0; k < Cell::shape.states; ++k)
    call.carry[(static_cast<std::size_t>(k) * call.batch + row) * call.hidden + unit] = 0.0f;
}

/// One number of the effective matrix, and one of the raw numbers' cotangents.
template <class Cell>
THROUGHTIME_INLINE void apply_weight(const CellOptions& options, int hidden, const float* raw, float* effective,
                                     int row, int column) {
  effective[static_cast<std::size_t>(row) * hidden + column] =
      Cell::Weights::template effective<float>(options, hidden, row, column, raw);
}
template <class Cell>
THROUGHTIME_INLINE void adjoint_weight(const CellOptions& options, int hidden, const float* d_effective, float* d_raw,
                                       int row, int column) {
  const std::ptrdiff_t index = Cell::Weights::raw_index(hidden, row, column);
  if (index >= 0) d_raw[index] += Cell::Weights::template adjoint<float>(options, hidden, row, column, d_effective);
}

#if defined(__CUDACC__)

constexpr int pointwise_threads = 256;

/// body(row, column) for all of [rows, columns], one thread each.
template <class Body>
__global__ void for_all_kernel(int rows, int columns, Body body) {
  take_turn();
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * pointwise_threads + threadIdx.x;
  if (i < static_cast<std::size_t>(rows) * columns) body(static_cast<int>(i / columns), static_cast<int>(i % columns));
}
template <class Body>
void for_all(const Context& context, int rows, int columns, Body body, const char* what) {
  const std::size_t count = static_cast<std::size_t>(rows) * columns;
  if (count == 0) return;
  const auto blocks = static_cast<unsigned>((count + pointwise_threads - 1) / pointwise_threads);
  // In its turn: the kernels before and behind it are products of cuBLAS, which do not overlap.
  const Context in_turn{context.stream, context.products};
  launch(Turn(in_turn, blocks, pointwise_threads, 0), what, for_all_kernel<Body>, rows, columns, body);
}

// Bodies as structs with names: profiles then say which cell and direction a kernel is.
template <class Cell, bool early>
struct ForwardBody {
  StepsForward call;
  int step;
  const float* products;
  __device__ void operator()(int row, int unit) const { forward_unit<Cell, early>(call, step, products, row, unit); }
};
template <class Cell, bool early>
struct BackwardBody {
  StepsBackward call;
  int step;
  const float* d_gated;
  __device__ void operator()(int row, int unit) const {
    if constexpr (early)
      backward_unit_early<Cell>(call, step, d_gated, row, unit);
    else
      backward_unit<Cell>(call, step, row, unit);
  }
};
template <class Cell>
struct FinishBody {
  StepsBackward call;
  __device__ void operator()(int row, int unit) const { finish_unit<Cell>(call, row, unit); }
};
template <class Cell, bool adjoint>
struct WeightsBody {
  CellOptions options;
  int hidden;
  const float* from;
  float* to;
  __device__ void operator()(int row, int column) const {
    if constexpr (adjoint)
      adjoint_weight<Cell>(options, hidden, from, to, row, column);
    else
      apply_weight<Cell>(options, hidden, from, to, row, column);
  }
};

template <class Cell, bool early>
void step_forward(const Context& context, const StepsForward& call, int step, const float* products) {
  for_all(context, call.batch, call.hidden, ForwardBody<Cell, early>{call, step, products}, "a cell's step");
}
template <class Cell>
void step_backward(const Context& context, const StepsBackward& call, int step) {
  for_all(context, call.batch, call.hidden, BackwardBody<Cell, false>{call, step, nullptr}, "a cell's step back");
}
template <class Cell>
void step_backward_early(const Context& context, const StepsBackward& call, int step, const float* d_gated) {
  for_all(context, call.batch, call.hidden, BackwardBody<Cell, true>{call, step, d_gated}, "a cell's step back");
}
template <class Cell>
void finish_backward(const Context& context, const StepsBackward& call) {
  if (call.flags) for_all(context, call.batch, call.hidden, FinishBody<Cell>{call}, "a cell's first step back");
}
template <class Cell, bool adjoint>
void map_weights(const Context& context, const CellOptions& options, int hidden, const float* from, float* to) {
  for_all(context, Cell::shape.recurrent_rows * hidden, hidden, WeightsBody<Cell, adjoint>{options, hidden, from, to},
          "a cell's weights");
}

#endif  // __CUDACC__

}  // namespace throughtime::cuda

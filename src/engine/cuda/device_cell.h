#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/cuda/context.h"
#include "throughtime/cell.h"

namespace throughtime::cuda {

/// L consecutive steps of one layer, all B rows, H units; gates in PyTorch's order, gate g of unit u at g * H + u.
/// All pointers are of the device. Everything is a plain number, so that equal calls have equal bytes.
struct StepsForward {
  int steps = 0, batch = 0, hidden = 0, inputs = 0;  // L, B, H, D
  CellOptions options;
  // What the input gives to the gates: [L, B, input_rows * H] (of single steps with the input bias, of a joint cell
  // with both biases) ...
  const float* input_gates = nullptr;
  // ... or, where it is null (narrow inputs: D <= most_fused_inputs), what it is made of.
  const float* x = nullptr;                  // [L, B, D]
  const float* input_weights = nullptr;      // [input_rows * H, D]
  const float* input_bias = nullptr;         // [input_rows * H], or null: none, or in input_gates already
  const float* recurrent_weights = nullptr;  // effective: [recurrent_rows * H, H]
  const float* recurrent_bias = nullptr;     // [recurrent_rows * H], or null, as input_bias
  const std::uint8_t* flags = nullptr;       // StepFlag [L, B], or null: all rows go on
  float* states = nullptr;  // tensor k after l steps: [k * state_plane + (l * B + b) * H + u]; l = 0 is given
  std::size_t state_plane = 0;
  // All steps in one kernel only: rows of a learner, tensor k of row b at [b * S + k * H + u].
  int state_size = 0;              // S
  int begins = 0;                  // 1: l = 0 is not there yet, but `initial`, or zeros where that is null
  const float* initial = nullptr;  // may be the same rows as `final_state`
  float* final_state = nullptr;    // out: the state after the last step, or null
  float* saved = nullptr;          // number k of step l: [k * saved_plane + (l * B + b) * H + u]; null: not kept
  std::size_t saved_plane = 0;
};

/// The same steps back.
struct StepsBackward {
  int steps = 0, batch = 0, hidden = 0;
  int state_size = 0;  // S: numbers of a row in step_cotangents and taps, which point to this layer's first
  CellOptions options;
  const float* recurrent_weights = nullptr;
  const std::uint8_t* flags = nullptr;
  const float* states = nullptr;
  std::size_t state_plane = 0;
  const float* saved = nullptr;
  std::size_t saved_plane = 0;
  // In this order: the cotangent of the state after step l is what step l + 1 left, plus step_cotangents, plus
  // d_outputs; it is written to taps; then from_above is added, and the step is pulled back.
  const float* step_cotangents = nullptr;  // tensor k: [(l * B + b) * S + k * H + u], or null
  const float* d_outputs = nullptr;        // of tensor 0: [L, B, H], or null
  float* taps = nullptr;                   // out, laid out as step_cotangents, or null
  const float* from_above = nullptr;       // of tensor 0: [L, B, H], or null
  float* carry = nullptr;  // [states, B, H]: dL/d(state after the last step), becomes that before the first
  int carried = 0;         // all steps in one kernel only: tensors that `carry` holds; the others begin with zero
  float* d_input_gates = nullptr;      // out [L, B, input_rows * H]; zeros where a row is held
  float* d_recurrent_gates = nullptr;  // out [L, B, recurrent_rows * H]; null for a joint cell: the same numbers
};

constexpr int most_fused_inputs = 4;

/// A cell's kernels for a device. `engine/cuda/cells/<name>.cu` makes one from the formulas, in a line.
struct DeviceCell {
  CellShape shape;

  // One step, pointwise, between products that the engine makes. `recurrent` [B, recurrent_rows * H]: the products of
  // this step without their bias.
  void (*step_forward)(const Context&, const StepsForward&, int step, const float* recurrent) = nullptr;
  /// Reads what step + 1 left in `carry` (but treats it as zero where that step resets the row), writes the gates'
  /// cotangents and, to `carry`, what does not pass through a product; the engine then adds the product.
  void (*step_backward)(const Context&, const StepsBackward&, int step) = nullptr;
  /// Zeroes the rows of `carry` that step 0 resets.
  void (*finish_backward)(const Context&, const StepsBackward&) = nullptr;
  // The same for the early rows, where there are late ones; d_gated: [B, H].
  void (*step_forward_early)(const Context&, const StepsForward&, int step, const float* recurrent) = nullptr;
  void (*step_backward_early)(const Context&, const StepsBackward&, int step, const float* d_gated) = nullptr;

  // All steps in one kernel, recurrent weights in registers; null where the cell has late rows or no recurrent ones.
  /// Whether this device runs it for H units (and D narrow inputs without input_gates).
  bool (*whole_fits)(int hidden) = nullptr;
  void (*whole_forward)(const Context&, const StepsForward&) = nullptr;
  void (*whole_backward)(const Context&, const StepsBackward&) = nullptr;

  // The map from raw to effective recurrent weights [recurrent_rows * H, H]; null: they are the same.
  void (*apply_weights)(const Context&, const CellOptions&, int hidden, const float* raw, float* effective) = nullptr;
  /// Adds the adjoint at d_effective to d_raw.
  void (*adjoint_weights)(const Context&, const CellOptions&, int hidden, const float* d_effective,
                          float* d_raw) = nullptr;
};

}  // namespace throughtime::cuda

#pragma once

#include <cstddef>

#include "throughtime/cell.h"

namespace throughtime {

/// Consecutive steps of one layer and ONE row, products included: with a single row, what lies between a product and
/// the pointwise work costs as much as either. Hp = `units`: hidden units padded to whole registers.
struct RowForward {
  int steps = 0;
  int inputs = 0, hidden = 0, units = 0;  // D, H, Hp
  int panel_units = 0;                    // units side by side in a panel of the weights; the last one may have fewer
  const CellOptions* options = nullptr;
  const float* input = nullptr;  // x: [steps][input_stride]
  std::size_t input_stride = 0;
  const float* input_weights = nullptr;      // [panel][D][input_rows * its units]
  const float* recurrent_weights = nullptr;  // [panel][H][recurrent_rows * its units]
  const float* input_bias = nullptr;         // in the order of the panels; of a joint cell both biases
  const float* recurrent_bias = nullptr;
  const float* before = nullptr;  // the state before the first step, tensor k at [k * Hp]; null: where `states` has it
  float* states = nullptr;        // tensor k before step l at [k * state_plane + l * Hp], after it one step further
  float* saved = nullptr;         // number k of step l at [k * saved_plane + l * saved_step]
  std::size_t state_plane = 0, saved_plane = 0, saved_step = 0;
};

/// The same steps back, last one first.
struct RowBackward {
  int steps = 0;
  int hidden = 0, units = 0;  // H, Hp
  int panel_columns = 0;      // columns of a panel of the weights; the last one may have fewer
  const CellOptions* options = nullptr;
  const float* weights = nullptr;  // [panel][recurrent_rows * Hp][its columns]
  const float* before = nullptr;   // as above
  const float* states = nullptr;
  const float* saved = nullptr;
  std::size_t state_plane = 0, saved_plane = 0, saved_step = 0;
  float* cotangent = nullptr;    // dL/d(state), carried back: tensor k at [k * Hp]
  float* d_input = nullptr;      // out: gate g of step l at [l * d_input_stride + g * Hp]
  float* d_recurrent = nullptr;  // likewise; unused for a joint cell
  std::size_t d_input_stride = 0, d_recurrent_stride = 0;
};

/// What a cell may offer beside its CellKernels; null where it does not.
struct RowKernels {
  void (*forward)(const RowForward&) = nullptr;
  void (*backward)(const RowBackward&) = nullptr;
};

/// The kernels of a cell, chosen for the instructions of this machine.
RowKernels row_kernels(const CellType& cell);

}  // namespace throughtime

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace throughtime {

namespace cuda {
struct DeviceCell;  // kernels for a GPU, made of the same formulas by one line in a .cu (docs/cells.md)
}

/// What a cell is made of, in blocks of H rows or columns (H = hidden units of the layer).
struct CellShape {
  int input_rows = 0;          // gates computed from the input: weight_ih is [input_rows * H, D]
  int recurrent_rows = 0;      // gates computed from the state: weight_hh is [recurrent_rows * H, H]
  int late_rows = 0;           // the last of them multiply the gated state that `forward_early` makes, not h
  int states = 1;              // state tensors per unit; tensor 0 is the output h
  int saved = 0;               // numbers per unit that the tape keeps for the backward step
  int gated = -1;              // which of them is the gated state (late_rows > 0)
  bool joint = false;          // only input + recurrent ever matters: one sum serves both
  bool recurrent_bias = true;  // bias_hh exists beside bias_ih
  int forget_row = -1;         // the gate that `forget_bias` raises, if any
};

/// Numbers that belong to a cell but are not trained.
struct CellOptions {
  double step = 0.01;       // epsilon of the antisymmetric cells
  double diffusion = 0.01;  // gamma of the antisymmetric cells
};

/// A map from the raw recurrent parameters to the effective recurrent matrix [recurrent_rows * H, H]; see `Weights` of
/// simd/cell-inl.h.
template <class Real>
struct WeightMap {
  void (*apply)(const CellOptions&, int hidden, const Real* raw, Real* effective) = nullptr;
  /// Adds the adjoint of `apply` at `d_effective` to `d_raw`.
  void (*adjoint)(const CellOptions&, int hidden, const Real* d_effective, Real* d_raw) = nullptr;
};

/// One step of one layer, over `rows` rows and `units` units, pointwise. Every pointer names a matrix of
/// `rows` rows; a block of gate g, state k or saved number k begins `g * block` (or `k * plane`) further on.
template <class Real>
struct PointwiseForward {
  int rows = 0;
  int units = 0;
  const CellOptions* options = nullptr;
  const Real* input = nullptr;      // from x: gate g of unit u at [row * input_stride + g * input_block + u]
  const Real* recurrent = nullptr;  // pre-activations from h; null for a joint cell, whose input holds the sum
  std::size_t input_stride = 0, input_block = 0;
  std::size_t recurrent_stride = 0, recurrent_block = 0;
  const Real* state = nullptr;  // before the step: tensor k at [k * state_plane + row * row_stride + u]
  Real* next = nullptr;         // after the step, same layout with `next_plane`
  Real* saved = nullptr;        // number k at [k * saved_plane + row * row_stride + u]
  std::size_t state_plane = 0, next_plane = 0, saved_plane = 0;
  std::size_t row_stride = 0;
};

template <class Real>
struct PointwiseBackward {
  int rows = 0;
  int units = 0;
  const CellOptions* options = nullptr;
  const Real* saved = nullptr;  // as above
  const Real* state = nullptr;  // the state before the step
  const Real* next = nullptr;   // the state after the step
  std::size_t saved_plane = 0, state_plane = 0, next_plane = 0;
  std::size_t row_stride = 0;
  const Real* d_next = nullptr;   // cotangent of the state after the step: [k * d_plane + row * row_stride + u]
  Real* d_state = nullptr;        // out: the part of dL/d(state before) that does not pass through a product
  const Real* d_gated = nullptr;  // early part only: cotangent of the gated state, [row * row_stride + u]
  std::size_t d_plane = 0;
  Real* d_input = nullptr;      // out: gate g at [row * d_input_stride + g * d_block + u]
  Real* d_recurrent = nullptr;  // out, same layout; null for a joint cell (equal to d_input)
  std::size_t d_input_stride = 0, d_recurrent_stride = 0, d_block = 0;
};

/// A cell's pointwise work for one number type. The `early` pair exists only where late_rows > 0.
template <class Real>
struct CellKernels {
  void (*forward)(const PointwiseForward<Real>&) = nullptr;
  void (*backward)(const PointwiseBackward<Real>&) = nullptr;
  void (*forward_early)(const PointwiseForward<Real>&) = nullptr;
  void (*backward_early)(const PointwiseBackward<Real>&) = nullptr;
};

/// Consecutive steps of one layer and ONE row, products included: with a single row, what lies between a product and
/// the pointwise work costs as much as either. Hp = `units`: hidden units padded to whole registers.
struct RowForward {
  int steps = 0;
  int inputs = 0, hidden = 0, units = 0;  // D, H, Hp
  int panel_units = 0;                    // units side by side in a panel of the weights; the last one may have fewer
  int first_unit = 0, last_unit = 0;      // those that are stepped, whole panels; last_unit 0: all
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
  // What of the steps is done: for those units, whole panels of columns (last_unit 0: all), the cotangents of the gates
  // with what enters before them, and what they send back through the recurrent weights.
  int first_unit = 0, last_unit = 0;
  bool gates = true, products = true;
  const CellOptions* options = nullptr;
  const float* weights = nullptr;  // [panel][recurrent_rows * Hp][its columns]
  const float* before = nullptr;   // as above
  const float* states = nullptr;
  const float* saved = nullptr;
  std::size_t state_plane = 0, saved_plane = 0, saved_step = 0;
  float* cotangent = nullptr;  // dL/d(state), carried back: tensor k at [k * Hp]
  // dL/dh that enters from outside after step l, at [slot of l * Hp]; null: nothing does.
  const float* entering = nullptr;
  const std::int32_t* entering_slot = nullptr;  // of each step, -1: nothing enters there; null: slot l
  float* d_input = nullptr;                     // out: gate g of step l at [l * d_input_stride + g * Hp]
  float* d_recurrent = nullptr;                 // likewise; unused for a joint cell
  std::size_t d_input_stride = 0, d_recurrent_stride = 0;
};

/// Rows that lie side by side in a register: a number of a unit, for kAcross rows. Layers of at most kAcrossUnits units
/// fill registers so, and not with their units.
inline constexpr std::size_t kAcross = 16;
inline constexpr int kAcrossUnits = 16;

/// Consecutive steps of one layer and kAcross rows, products included. A matrix [.., kAcross] of a step is `..._step`
/// numbers behind that of the step before.
struct AcrossForward {
  int steps = 0;
  int inputs = 0, hidden = 0;  // D, H
  const CellOptions* options = nullptr;
  const float* input = nullptr;  // x [D, kAcross]
  std::size_t input_step = 0;
  const float* input_weights = nullptr;      // [D][input_rows * kAcrossUnits]: the units of a gate side by side
  const float* recurrent_weights = nullptr;  // [H][recurrent_rows * kAcrossUnits]
  const float* input_bias = nullptr;         // [input_rows * kAcrossUnits]; of a joint cell both biases
  const float* recurrent_bias = nullptr;
  float* states = nullptr;  // tensor k [H, kAcross] at k * state_plane; before the first step, then after each of them
  float* saved = nullptr;   // number k [H, kAcross] at k * saved_plane
  std::size_t state_plane = 0, saved_plane = 0;
  std::size_t state_step = 0;  // also of `saved`
};

/// The same steps back, last one first.
struct AcrossBackward {
  int steps = 0;
  int hidden = 0;  // H
  const CellOptions* options = nullptr;
  const float* weights = nullptr;  // [recurrent_rows * H, H], as the parameters have them
  const float* states = nullptr;   // as above
  const float* saved = nullptr;
  std::size_t state_plane = 0, saved_plane = 0, state_step = 0;
  float* cotangent = nullptr;       // dL/d(state), carried back: tensor k [H, kAcross] at k * H * kAcross
  bool to_start = false;            // all of it before the first step, too
  const float* entering = nullptr;  // dL/dh that enters after step l: [H, kAcross] at its slot * state_step; null: none
  const std::int32_t* entering_slot = nullptr;  // of each step, -1: nothing enters there; null: slot l
  float* d_input = nullptr;                     // out: gates [input_rows * H, kAcross] of each step
  float* d_recurrent = nullptr;                 // likewise; unused for a joint cell
  std::size_t d_input_step = 0, d_recurrent_step = 0;
};

/// What a cell may offer beside its CellKernels; null where it does not.
struct RowKernels {
  void (*forward)(const RowForward&) = nullptr;
  void (*backward)(const RowBackward&) = nullptr;
  void (*across_forward)(const AcrossForward&) = nullptr;
  void (*across_backward)(const AcrossBackward&) = nullptr;
};

/// How a row that has no others beside it goes through its steps: in calls of RowKernels, or as any other batch. The
/// two add products up in a different order.
enum class RowSteps { fused, general };

/// Everything an engine knows about a cell.
struct CellType {
  std::string name;
  std::string description;
  std::vector<std::string> reads;  // which of the CellOptions
  CellShape shape;
  CellKernels<double> reference;
  CellKernels<float> (*fast)() = nullptr;  // chosen for the instructions of this machine
  RowKernels (*rows)() = nullptr;          // likewise; null, or empty kernels: RowSteps::general
  /// Length of the raw recurrent block; null: recurrent_rows * H * H, used as it is.
  std::vector<int> (*raw_shape)(int hidden) = nullptr;
  WeightMap<double> reference_map;
  WeightMap<float> fast_map;
  const cuda::DeviceCell* (*device)() = nullptr;  // null, or null returned: no kernels (but built-in cells have theirs)
};

/// The cell of that name; refuses unknown names with the nearest known one.
const CellType& find_cell(const std::string& name);
/// All cells, in the order of registration.
std::vector<const CellType*> all_cells();
/// Adds a user's cell. Call it before models are made (it is not thread-safe); refuses a name already taken.
void register_cell(CellType cell);

}  // namespace throughtime

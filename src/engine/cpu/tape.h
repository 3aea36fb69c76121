#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/cpu/few_rows/across_tape.h"
#include "engine/cpu/few_rows/row_plan.h"
#include "engine/cpu/packing.h"
#include "throughtime/engine.h"
#include "throughtime/index.h"

namespace throughtime::cpu {

/// Rows of a slice at most, and rows of (step, row) pairs that one weight-gradient product sums over.
inline constexpr int kSliceRows = 32;
inline constexpr int kChunkRows = 128;

/// Multiplications of a window's steps forth that are not worth a second thread: some 30 us forth and back.
inline constexpr std::size_t kFewProducts = 1'500'000;

/// Numbers behind the last gate of a row: keeps rows from falling onto the same cache sets when a product walks down
/// a column.
inline constexpr int kSkew = 16;

/// Some rows of a slice, which one thread works on, and the number of its own workspace for masks.
struct Rows {
  int begin = 0, end = 0;
  int lane = 0;

  int count() const { return end - begin; }
};

/// What a slice keeps of one layer. R = rows of the slice, Hp and Dp = padded widths, L = steps kept.
struct LayerTape {
  std::size_t hidden = 0;                        // Hp
  std::size_t inputs = 0;                        // Dp
  Array states;                                  // [states][L + 1][R][Hp]; slot 0 is the initial state
  Array saved;                                   // [saved][L][R][Hp]
  Array input;                                   // [L][R][Dp]; empty where the layer below's output is read as it is
  std::size_t state_plane = 0, saved_plane = 0;  // numbers between tensors
};

/// Whether an input is so narrow that its weight gradient is better summed with its rows as columns.
inline bool narrow(int inputs) { return inputs < kPad; }

/// Gradient of the packed matrices, summed over the steps and rows of one slice.
struct LayerGradient {
  Array input_weights;      // [input_rows][Hp][Dp]; with narrow inputs [D][input_rows][Hp], see narrow()
  Array recurrent_weights;  // [recurrent_rows][Hp][Hp]
  Array input_bias;         // [input_rows][Hp]
  Array recurrent_bias;     // [recurrent_rows][Hp]
};
struct LinearGradient {
  LinearGradient() = default;
  explicit LinearGradient(const PackedLinear& linear, int constants = 0)
      : weights(padded(linear.outputs) * padded(linear.inputs)),
        bias(padded(linear.outputs + constants)),
        outputs(linear.outputs) {}
  Array weights;  // [outputs, padded][inputs, padded]
  Array bias;     // [outputs, then the head's constants; padded]
  int outputs = 0;
};

/// Workspaces of one layer, for one chunk of C steps.
struct LayerWork {
  Array input_sums, recurrent_sums;  // pre-activations of one step: [panel][R][columns]
  Array state;                       // [states][R][Hp]: the state before a step with resets
  Array cotangent;                   // [states][R][Hp]: dL/d(state), carried backwards
  Array held;                        // likewise: of rows that are held at the current step
  Array d_input, d_recurrent;        // [C][R][rows * Hp + kSkew]
  Array d_gated;                     // [R][Hp]
  Array previous;                    // [C][R][Hp]: outputs before each step, where rows were reset
};

/// Workspaces of the head, for at most kChunkRows rows.
struct HeadWork {
  Array hidden, inner, outputs;  // [rows][padded width (+ kSkew)]
  Array d_hidden, d_inner;
  std::vector<std::int32_t> step, row;  // of each gathered row
  std::vector<double> loss;             // of each
  std::vector<char> right;              // whether its prediction is the target

  // Of a head with layers of its own. `outputs` are then those of all branches of a group of rows, as many as fill the
  // rows of a product: what is as large as branches times outputs does not grow with the gathered rows.
  Array y;                           // [rows][what its linear layers put out, each padded; + kSkew]
  std::vector<std::size_t> y_begin;  // of each linear layer; at the end the stride of a row
  Array x;                           // [rows][branches][padded width + kSkew]; going back dL/dx
  std::vector<double> scratch;       // of its kernels, for each lane
  std::size_t scratch_stride = 0;
  int group = 0;  // rows
};

/// Rows [first, first + rows) of a batch, which are carried through a whole window, and over which gradients are summed
/// in a fixed order: by one thread, or by a crew (crew.h).
struct Slice {
  int first = 0;
  int rows = 0;   // R
  int chunk = 0;  // C: steps that are worked on together
  int kept = 0;   // L of the arrays below: the tape's steps, or C where nothing is kept

  Array raw;  // [L][R][raw inputs, padded], where an encoder follows
  std::vector<LayerTape> layers;
  Array d_top;                          // [losses][R][Hp]: what the head sends back, where the weight is not 0
  std::vector<std::int32_t> loss_slot;  // [L]: the place in d_top of a step with a loss, else -1
  std::vector<LayerWork> work;
  Array d_below;  // [C][R][widest input, padded]
  Array d_raw;    // [L][R][raw inputs, padded], where an embedding is trained
  Array mask;     // [lanes][widest]
  std::size_t mask_stride = 0;
  HeadWork head;

  std::vector<LayerGradient> layer_gradients;
  LinearGradient encoder_gradient, head_inner_gradient, head_gradient;
  std::vector<LinearGradient> head_layer_gradients;
  std::vector<const float*> flat;  // [P] of a small model: where each number of the gradient lies above; else empty
  double loss = 0;                 // sum of weight * loss of the last unroll
  double correct = 0;              // sum of the weights of its right predictions
  double penalties[2] = {};        // and of what its outputs cost: activation, slowness
  std::vector<float> slowness;     // [R]: slowness / H times the scale of the row's differences; empty: no such penalty
  int head_rows = 0;               // rows that the head's gradients sum over; 0: they hold nothing

  Rows all() const { return {0, rows, 0}; }
  /// dL/dh that the head sent back to row `row` at a step with a loss.
  float* sent_back(int step, int row) {
    const std::size_t width = layers.back().hidden;
    return d_top.data() + (elements(loss_slot[step], rows) + row) * width;
  }
  float* state(int layer, int tensor, int slot) {
    LayerTape& t = layers[layer];
    return t.states.data() + tensor * t.state_plane + elements(slot, rows) * t.hidden;
  }
};

/// Whether a batch of at most kSliceRows rows is so little work that a second thread would lose more by the hand-over
/// than it gains. A matter of the shape alone, as all cuts are.
bool few_rows(const Model& model, const TapeShape& shape);

class CpuTape final : public Tape {
 public:
  /// `threads`: that may work on one slice. `few`: few_rows of this shape, where layers are small enough.
  CpuTape(const Model& model, const PackedModel& packed, const TapeShape& shape, int threads, bool few);

  std::size_t activation_bytes() const override { return activation_bytes_; }
  std::size_t bytes() const override { return bytes_; }

  /// Room for windows across rows as well.
  void add_across(const Model& model);

  const bool is_few;  // few_rows: one slice, whose gradients are summed where they belong
  std::vector<Slice> slices;
  std::unique_ptr<AcrossTape> across;  // null: no window goes that way
  std::unique_ptr<RowPlan> plan;       // of windows of one row in one piece; null: there are none
  // The unroll that the tape holds.
  int steps = 0;
  bool training = false;
  std::uint64_t version = 0;  // of the parameters
  std::int32_t parameters = -1;
  bool head_ready = false;    // d_top and the head's gradients are those of the whole window
  bool in_one_piece = false;  // unrolled as one row in one piece (RowWindow)
  bool is_across = false;     // unrolled across rows (AcrossWindow)

 private:
  void add_layer(const Model& model, Slice& slice, std::size_t index);
  static void add_head_layers(const Model& model, Slice& slice, std::size_t rows, int threads);
  void count(const Slice& slice);

  std::size_t activation_bytes_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace throughtime::cpu

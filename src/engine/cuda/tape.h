#pragma once

#include <cstdint>
#include <vector>

#include "engine/cuda/device_array.h"
#include "throughtime/engine.h"
#include "throughtime/index.h"

namespace throughtime::cuda {

/// What one layer leaves for the way back. Slots are steps of the window, or of a piece of it where nothing is kept.
struct LayerTape {
  DeviceArray<float> states;  // [tensors][slots + 1][B][H]: slot l is the state after l steps, as the step left it
  DeviceArray<float> saved;   // [saved][slots][B][H]
  DeviceArray<float> inputs;  // [slots][B][D]; empty where the layer reads the states below as they are
  DeviceArray<float> carry;   // [tensors][B][H]: dL/d(state), carried back
  int carried = 0;            // tensors that it holds; the others are zero as yet
  DeviceArray<float> effective, d_effective;  // [recurrent_rows * H, H]; empty where the raw weights are used
  DeviceArray<float> dropped, d_dropped;      // what a mask leaves of the raw block; empty without weight drop
  std::size_t state_plane = 0, saved_plane = 0;
};

/// Room that one piece of a window uses at a time. C: the steps of a piece.
struct PieceSpace {
  DeviceArray<float> input_gates;      // [C][B][input_rows * H]; on the way back their cotangents
  DeviceArray<float> recurrent_gates;  // [C][B][recurrent_rows * H] of the cells that are not joint, cotangents
  DeviceArray<float> products;         // [B][recurrent_rows * H]: one step's
  DeviceArray<float> gated;            // [B][H]: cotangent of a gated state
  DeviceArray<float> d_inputs;         // [C][B][widest input]
  DeviceArray<float> d_raw;            // [C][B][raw inputs]: behind an encoder
  DeviceArray<float> before;           // [C][B][H]: states before the steps, zero at resets
  DeviceArray<float> parts;            // of products that are cut
  DeviceArray<float> columns;          // partial sums of rows, as wide as the widest
  DeviceArray<float> differences;      // [C][B]: squares of differences, where they are penalised
};

/// Room of a head with layers of its own, R rows at a time.
struct BranchSpace {
  std::vector<DeviceArray<float>> y;  // of linear layer k: [R][its outputs]
  DeviceArray<float> x, d_x;          // [R][branches][width]
  DeviceArray<double> numbers;        // [R][branches][branch_numbers]
  DeviceArray<float> mixed;           // [R][outputs]
};

/// Room of the head: R rows at a time.
struct HeadSpace {
  int rows = 0;
  DeviceArray<float> features, d_features;  // [R][top H]
  DeviceArray<float> inner, d_inner;        // [R][head hidden]
  DeviceArray<float> outputs;               // [R][branches][outputs]
  DeviceArray<float> losses, correct;       // [R]
  BranchSpace branches;
};

class CudaTape final : public Tape {
 public:
  CudaTape(const Model& model, const TapeShape& shape);
  std::size_t activation_bytes() const override;
  std::size_t bytes() const override;

  /// Steps that go through the layers together.
  int piece() const { return piece_; }
  /// Where step `step` of a piece that begins at `begin` is kept.
  int slot(int step, int begin) const { return shape().keep == Keep::nothing ? step - begin : step; }
  /// Vectors dL/d(state) of a window whose norms alone are asked for: [slots + 1][B][S]. Allocated when first wanted.
  float* tap_space();

  const Model& model;
  std::vector<LayerTape> layers;
  DeviceArray<float> raw;        // [slots][B][raw inputs]: in front of an encoder
  DeviceArray<float> d_outputs;  // [slots][B][top H]: cotangents that the head leaves
  PieceSpace space;
  HeadSpace head;
  int unrolled = 0;              // steps of the last unroll
  bool training = false;         // whether it drew masks
  std::int32_t parameters = -1;  // the buffer it read, and how often that had been changed
  std::uint64_t version = 0;
  /// The places whose outputs are still in `head.outputs`, as the unroll left them; empty: none.
  std::vector<std::int32_t> kept_places;

 private:
  int piece_ = 0;
  DeviceArray<float> taps_;
};

/// Bytes of a tape, before it is made.
double tape_bytes(const Model& model, const TapeShape& shape);

}  // namespace throughtime::cuda

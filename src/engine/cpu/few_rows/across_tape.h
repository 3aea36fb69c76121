#pragma once

#include <cstdint>
#include <vector>

#include "core/array.h"
#include "throughtime/engine.h"
#include "throughtime/model.h"

namespace throughtime::cpu {

/// What a window across rows keeps (AcrossWindow), instead of the slices: numbers of kAcross rows side by side. N =
/// such blocks of rows, L = steps of the window, H = units without padding.
struct AcrossLayer {
  std::size_t width = 0;                         // H * kAcross: from one block to the next
  std::size_t step = 0;                          // N * width: from one step to the next
  std::size_t state_plane = 0, saved_plane = 0;  // numbers between tensors
  AlignedArray<float> states;                    // [states][L + 1][N][H][kAcross]
  AlignedArray<float> saved;                     // [saved][L][N][H][kAcross]
  AlignedArray<float> cotangent;                 // [N][states][H][kAcross]
  AlignedArray<float> d_input, d_recurrent;      // [L][N][gates * H][kAcross]
};

struct AcrossTape {
  AcrossTape(const Model& model, const TapeShape& shape);
  std::size_t bytes() const;

  int blocks = 0;  // N
  std::vector<AcrossLayer> layers;
  AlignedArray<float> input;            // [L][N][D][kAcross]
  AlignedArray<float> d_below;          // [L][N][widest input of the upper layers][kAcross]
  AlignedArray<float> outputs;          // [outputs][kAcross]
  AlignedArray<float> rows;             // [kAcross][outputs, padded]: the same row by row
  AlignedArray<float> features, d_top;  // [losses][N][H][kAcross]: of the steps with a loss, in their order
  AlignedArray<float> d_outputs;        // [losses][N][outputs][kAcross]
  std::vector<std::int32_t> loss_slot;  // [L]: the place of a step with a loss among them, else -1
  int losses = 0;                       // of the last unroll
};

}  // namespace throughtime::cpu

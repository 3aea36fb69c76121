#pragma once

#include "engine/cuda/device_cell.h"

namespace throughtime::cuda {

/// Steps of one layer: in one kernel where the cell has it and it fits, else a product and a pointwise kernel each.
struct LayerForward {
  const DeviceCell* cell = nullptr;
  int whole = 0;
  StepsForward steps;
  float* products = nullptr;  // [B, recurrent_rows * H]
};
void issue(const Context&, const LayerForward&);

struct LayerBackward {
  const DeviceCell* cell = nullptr;
  int whole = 0;
  StepsBackward steps;
  float* d_gated = nullptr;  // [B, H]
};
void issue(const Context&, const LayerBackward&);

/// Effective recurrent weights from raw ones, and back.
struct MapWeights {
  const DeviceCell* cell = nullptr;
  CellOptions options;
  int hidden = 0;
  int adjoint = 0;  // 1: adds to `to`, the raw gradient
  const float* from = nullptr;
  float* to = nullptr;
};
void issue(const Context&, const MapWeights&);

}  // namespace throughtime::cuda

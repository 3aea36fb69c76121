#pragma once

#include <cstdint>

namespace throughtime::cuda {

struct Context;

/// Features [n, width] of the places that carry a loss: entry i = from[places[i]]; and back, to[places[i]] = entry i.
/// `back` leaves all other places as they are.
struct MovePlaces {
  int entries = 0, width = 0, back = 0;
  const std::int32_t* places = nullptr;
  const float* from = nullptr;
  float* to = nullptr;
};
void issue(const Context&, const MovePlaces&);

/// The losses of n rows of outputs. A target is a label, values, or both, as the head wants.
struct HeadLoss {
  int entries = 0, outputs = 0;               // n, width of z
  int constants = 0;                          // the last outputs are trained numbers, copied into z first
  int target_stride = 0;                      // numbers from one target to the next; 0: none
  const std::int32_t* labels = nullptr;       // [n], or null
  const float* values = nullptr;              // targets, entry i at [value_entry[i] * target_stride]
  const std::int32_t* value_entry = nullptr;  // [n], or null: i
  const float* weights = nullptr;             // [n]
  const float* constant_values = nullptr;     // [constants]
  int levels = 0;                             // of quantiles; 0: none
  const double* level_values = nullptr;       // [levels]
  float* z = nullptr;                         // [n, outputs]; where `d_z` is set it becomes weight * dloss/dz
  int d_z = 0;
  float* losses = nullptr;   // out [n], or null
  float* correct = nullptr;  // out [n]: the weight where the largest output (the first of equals) is the label, or null
};

/// Turns z [n, outputs] into predictions in place.
struct HeadPredict {
  int entries = 0, outputs = 0, constants = 0;
  const float* constant_values = nullptr;
  float* z = nullptr;
};

/// A head's kernels for a device.
struct DeviceHead {
  void (*loss)(const Context&, const HeadLoss&) = nullptr;
  void (*predict)(const Context&, const HeadPredict&) = nullptr;
};
/// The kernels of a built-in head; null: there are none of that name.
const DeviceHead* find_device_head(const char* name);

/// sum [1] += the sum over i of a[i] (times weights[i] where given), in double, in a fixed order. One block.
struct AddSum {
  int entries = 0;
  const float* a = nullptr;
  const float* weights = nullptr;
  float* sum = nullptr;
};
void issue(const Context&, const AddSum&);

}  // namespace throughtime::cuda

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

constexpr int most_own_layers = 4;  // HeadLayers::most
constexpr int branch_numbers = 5;   // that the kernels of a loss hand on, for each branch

/// n rows of a head with layers of its own (HeadLayers in throughtime/head.h). The branches of a row lie behind each
/// other, so that the output layer reads them all as the rows of one product.
struct HeadBranches {
  int entries = 0, outputs = 0, branches = 0, width = 0;  // n, width of z and of x
  double epsilon = 0;
  float* y[most_own_layers] = {};  // y[k] [n, outputs of linear layer k]
  float* x = nullptr;              // [n, branches, width]
  float* z = nullptr;              // [n, branches, outputs]
  double* numbers = nullptr;       // [n, branches, branch_numbers], and
  float* mixed = nullptr;          // [n, outputs]: room for the kernels of a loss
};

/// The losses of these rows. `loss.z` are theirs, and loss.outputs a row's: branches * outputs. Without `loss.d_z`
/// neither y nor z change; with it y becomes weight * dloss/dy, too, as far as the loss reads y.
struct BranchesLoss {
  HeadBranches rows;
  HeadLoss loss;
};

/// Predictions of these rows: those of entry i go to to[places[i]]. Neither y nor z change.
struct BranchesPredict {
  HeadBranches rows;
  const std::int32_t* places = nullptr;
  float* to = nullptr;  // [?, outputs]
};

/// The kernels of a head with layers of its own, in the order of LayeredKernels (throughtime/head.h).
struct DeviceBranches {
  void (*spread)(const Context&, const HeadBranches&) = nullptr;
  void (*loss)(const Context&, const BranchesLoss&) = nullptr;
  void (*predict)(const Context&, const BranchesPredict&) = nullptr;
  void (*collect)(const Context&, const HeadBranches&) = nullptr;
};
extern const DeviceBranches mixture_of_softmaxes_branches;

/// A head's kernels for a device: two, or, of one with layers of its own, those of its branches.
struct DeviceHead {
  void (*loss)(const Context&, const HeadLoss&) = nullptr;
  void (*predict)(const Context&, const HeadPredict&) = nullptr;
  const DeviceBranches* branches = nullptr;
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

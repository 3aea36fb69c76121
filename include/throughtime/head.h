#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace throughtime {

struct HeadConfig;

/// What a head needs as its target.
enum class TargetKind {
  label_or_distribution,  // a class, or a distribution over the classes
  values,                 // one number per output
  label_and_interval,     // a class, and how long it takes until it comes: at least 0
  probabilities,          // one number from 0 to 1 per output
};

/// Whether a target of that kind may be a label.
inline bool takes_label(TargetKind kind) {
  return kind == TargetKind::label_or_distribution || kind == TargetKind::label_and_interval;
}

/// What the outputs of a head say about a target that is a number. They lie behind each other: the first of all
/// targets, then the second of all targets, and so on.
enum class HeadBand {
  none,       // one output, the number itself
  deviation,  // its mean, and its deviation
  quantiles,  // a quantile for each level of the model (HeadConfig::levels)
};

/// The target of one row: a label (>= 0), or `values`, one for each target; of label_and_interval both, with `values`
/// [1]. `levels` are the model's, for heads of quantiles.
template <class Real>
struct RowTarget {
  std::int32_t label = -1;
  const Real* values = nullptr;
  std::span<const double> levels = {};
};

/// Layers of its own that a head has between the features of a row and its output layer, for one model: linear layers
/// that read the features and put out y; the head makes inputs x [branches, width] of y, one for each branch, and the
/// output layer makes z [branches, outputs] of x.
struct HeadLayers {
  struct Linear {
    std::string name;  // of its blocks: head.NAME.weight [outputs, features], head.NAME.bias [outputs]
    int outputs = 0;
    bool bias = true;
  };
  static constexpr std::size_t most = 4;  // linear layers

  std::vector<Linear> linear;  // none: the head has no layers of its own, its output layer reads the features
  int branches = 1;
  int width = 0;       // of x
  double epsilon = 0;  // HeadConfig::epsilon
  bool any() const { return !linear.empty(); }
};

/// One row of a head with layers of its own.
template <class Real>
struct LayeredRow {
  const HeadLayers* layers = nullptr;
  int outputs = 0;
  Real* y[HeadLayers::most] = {};  // y[k] [outputs of linear layer k]
  Real* x = nullptr;               // [branches], each `x_stride` numbers behind the one before
  std::size_t x_stride = 0;
  Real* z = nullptr;  // likewise
  std::size_t z_stride = 0;
  double* scratch = nullptr;  // [scratch_per_branch * branches], what a kernel needs while it runs
};

/// The kernels of such a head. A row passes through `spread`, the mask on x and the output layer, `predict` if somebody
/// wants predictions, `loss`; and where it goes back through the output layer, the mask and `collect`.
template <class Real>
struct LayeredKernels {
  static constexpr std::size_t scratch_per_branch = 4;

  /// Makes x of y. y may become what the kernels below want to find there.
  void (*spread)(const LayeredRow<Real>& row) = nullptr;
  /// Writes predictions [outputs]; changes neither y nor z.
  void (*predict)(const LayeredRow<Real>& row, Real* predictions) = nullptr;
  /// Returns the loss; z is used up. Where `back`, z becomes weight * dloss/dz, and y the same as far as the loss reads
  /// it. Where `likeliest` is not null it receives the output with the largest prediction.
  double (*loss)(const LayeredRow<Real>& row, const RowTarget<Real>& target, Real weight, bool back,
                 std::int32_t* likeliest) = nullptr;
  /// x holds dL/dx: y becomes dL/dy.
  void (*collect)(const LayeredRow<Real>& row) = nullptr;

  bool complete() const { return spread && predict && loss && collect; }
};

/// A loss on the outputs z [outputs] of the linear layers, one row at a time.
template <class Real>
struct HeadKernels {
  /// Returns the loss. Where `d_z` is not null it receives weight * dloss/dz; it may alias `z`.
  double (*loss)(int outputs, const Real* z, const RowTarget<Real>& target, Real weight, Real* d_z) = nullptr;
  /// Turns outputs into predictions, in place (probabilities, means).
  void (*predict)(int outputs, Real* z) = nullptr;
  /// Instead of these two, for a head with layers of its own.
  LayeredKernels<Real> layered = {};
};

/// What a head says of itself.
struct HeadShape {
  TargetKind target = TargetKind::values;
  int beside = 0;     // outputs behind those of the classes
  int constants = 0;  // the last of them are trained numbers, the same at every step: no linear layer makes them
  HeadBand band = HeadBand::none;
};

/// Everything an engine knows about a head.
struct HeadType {
  std::string name;
  std::string description;
  TargetKind target = TargetKind::values;
  int beside = 0;  // this and the next two as in HeadShape
  int constants = 0;
  HeadBand band = HeadBand::none;
  HeadKernels<double> reference;
  HeadKernels<float> (*fast)() = nullptr;
  /// Layers of its own, for a model with so many features (and embedded tokens of that width; 0: none); refuses
  /// settings that cannot be. Null: it has none.
  HeadLayers (*layers)(const HeadConfig& config, int features, int embedding) = nullptr;

  /// Whether `model.head` may name it in place of a task's own: it says more of the same targets.
  bool replaces() const { return band != HeadBand::none || layers != nullptr; }
  /// Outputs for each target, of a model with so many levels.
  int outputs_per_target(std::size_t levels) const {
    return band == HeadBand::none ? 1 : band == HeadBand::deviation ? 2 : static_cast<int>(levels);
  }
};

/// The head of that name; refuses unknown names with the nearest known one.
const HeadType& find_head(const std::string& name);
std::vector<const HeadType*> all_heads();
/// Adds a user's head; refuses a name already taken.
void register_head(HeadType head);

}  // namespace throughtime

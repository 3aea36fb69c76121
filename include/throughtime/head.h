#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace throughtime {

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

/// A loss on the outputs z [outputs] of the linear layers, one row at a time.
template <class Real>
struct HeadKernels {
  /// Returns the loss. Where `d_z` is not null it receives weight * dloss/dz; it may alias `z`.
  double (*loss)(int outputs, const Real* z, const RowTarget<Real>& target, Real weight, Real* d_z) = nullptr;
  /// Turns outputs into predictions, in place (probabilities, means).
  void (*predict)(int outputs, Real* z) = nullptr;
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

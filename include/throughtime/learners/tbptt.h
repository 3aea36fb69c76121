#pragma once

#include "throughtime/learners/estimate.h"
#include "throughtime/learners/method.h"

namespace throughtime {

/// steps/losses/stride of a window from the truncation K: paper 2K+1/K/K, ref 2K-1/K/K, plain K/K/K, original K/1/1,
/// double-tf 2K-1/2K-1/2K-1. buffer is K/K/K, and the gradients of the next K-1 losses come back into the window too.
/// custom: given one by one.
enum class TbpttPreset { custom, paper, ref, plain, original, double_tf, buffer };
constexpr auto names_of(TbpttPreset) {
  return choice_names("custom", "paper", "ref", "plain", "original", "double-tf", "buffer");
}

/// What the rate is multiplied by: 1, sqrt(K) or K.
enum class RateScaling { none, sqrt, linear };
constexpr auto names_of(RateScaling) { return choice_names("none", "sqrt", "linear"); }

/// Truncated back-propagation: windows of `steps` cells, a loss on the last `losses`, moved by `stride`.
struct TbpttConfig {
  TbpttPreset preset = TbpttPreset::custom;
  int truncation = 0;       // presets: K
  int steps = 0;            // custom: cells in a window
  int losses = 0;           // custom: its last steps that carry a loss
  int stride = 0;           // custom: steps between windows
  int chunk = 0;            // no window looks back over a multiple of this many steps; 0: off
  bool ref_stream = false;  // with chunk: the released code's stale states at the ends of a chunk
  RateScaling rate_scaling = RateScaling::none;
  bool clip_by_losses = false;   // the clip norm is divided by the losses of a window
  EstimateConfig estimate = {};  // where estimates are logged (estimate.logged)
};

/// The same, with K chosen so that the relative bias of the gradient stays below estimate.delta.
struct AdaptiveTbpttConfig {
  TbpttPreset preset = TbpttPreset::paper;
  int truncation = 0;       // K_0, before the first estimate; 0: estimate.shortest
  int chunk = 0;            // no window looks back over a multiple of this many steps; 0: off
  bool ref_stream = false;  // with chunk: the released code's stale states at the ends of a chunk
  RateScaling rate_scaling = RateScaling::sqrt;
  bool clip_by_losses = false;  // the clip norm is divided by the losses of a window
  EstimateConfig estimate = {};
};

/// Refuses settings that cannot work on stretches of that shape.
void check_learner(const TbpttConfig& config, const Model& model, const StretchShape& shape);
std::unique_ptr<Learner> make_learner(const TbpttConfig& config, Trainee& trainee, const StretchShape& shape);
StreamNeeds stream_needs(const TbpttConfig& config);
void describe(TbpttConfig& config, OptionList& list);
/// A truncation that is longer than a stretch; a rate as below.
std::vector<std::string> learner_notes(const TbpttConfig& config, const StretchShape& shape,
                                       const OptimizerConfig& optimizer);
EstimateSettings estimate_settings(const TbpttConfig& config);

/// Refuses settings that cannot work on stretches of that shape.
void check_learner(const AdaptiveTbpttConfig& config, const Model& model, const StretchShape& shape);
std::unique_ptr<Learner> make_learner(const AdaptiveTbpttConfig& config, Trainee& trainee, const StretchShape& shape);
StreamNeeds stream_needs(const AdaptiveTbpttConfig& config);
void describe(AdaptiveTbpttConfig& config, OptionList& list);
/// A rate that grows with K, where steps do not grow with the gradient.
std::vector<std::string> learner_notes(const AdaptiveTbpttConfig& config, const StretchShape& shape,
                                       const OptimizerConfig& optimizer);
EstimateSettings estimate_settings(const AdaptiveTbpttConfig& config);

}  // namespace throughtime

#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "learners/adaptive_tbptt/phi.h"
#include "throughtime/archive.h"

namespace throughtime {

/// When the next estimate is due: at once where asked, then after `every` updates, or once per epoch where that is 0.
class EstimateClock {
 public:
  EstimateClock(int every, bool at_once) : every_(every), due_(at_once) {}

  bool is_due(std::int64_t updates) const { return due_ || (every_ > 0 && updates - estimated_at_ >= every_); }
  /// There was an estimate.
  void restart(std::int64_t updates) {
    due_ = false;
    estimated_at_ = updates;
  }
  void end_epoch() { due_ = due_ || every_ == 0; }
  void archive(Archive& archive) {
    archive.flag("due", due_);
    archive.integer("estimated_at", estimated_at_);
  }

 private:
  int every_;
  bool due_;
  std::int64_t estimated_at_ = 0;  // updates then
};

/// Refuses estimates that cannot be made in training on stretches of that shape.
void check_estimates(const EstimateConfig& config, const Model& model, const StretchShape& shape);
/// Rounds of a stream that estimates draw their places from.
int stream_past(const EstimateConfig& config);

/// Estimates of the decay during training: lines 3-7 of Algorithm 1. Draws that choose K and draws that are only logged
/// have numbers of their own, so that logging changes nothing.
class TruncationEstimator {
 public:
  /// Of a configuration that `check_estimates` takes.
  TruncationEstimator(Engine& engine, const EstimateConfig& config, const StretchShape& shape);

  /// There are places to draw: always, but at the beginning of a stream.
  bool ready() { return collector_.places_of(0).steps > 0; }
  /// K = kappa-hat(delta): the integer part of the mean over config.repeats draws.
  int choose(Buffer parameters);
  /// Notes beta and the relative bias at `truncation`: of config.logged further draws, or of those that chose it.
  void log(Buffer parameters, int truncation);

  /// What was noted last, beside the K in use and the steps that training has learned from.
  std::vector<Diagnostic> diagnostics(int truncation, std::int64_t rows) const;
  std::size_t activation_bytes() const { return collector_.activation_bytes(); }
  void archive(Archive& archive);

 private:
  void note(const std::vector<PhiMeans>& draws, int truncation);

  EstimateConfig config_;  // R is known
  PhiCollector collector_;
  // All of them with room for config.lags from the beginning: an estimate allocates nothing.
  DecayEstimate estimate_;                // of the draw that is looked at
  std::vector<PhiMeans> chosen_by_;       // [repeats]: the draws of the last choice
  std::vector<PhiMeans> logged_;          // [logged]: those that are only logged
  PhiMeans mean_;                         // of the noted draws
  std::vector<double> biases_;            // of each of them
  std::uint64_t choices_ = 0, logs_ = 0;  // draws so far
  std::int64_t rows_ = 0;                 // steps read to choose K, in a row of the data: (burn-in + R) for every draw
  double beta_ = std::numeric_limits<double>::quiet_NaN();
  double bias_ = beta_, bias_low_ = beta_, bias_high_ = beta_;
  double kappa_ = beta_;  // of the noted draws
};

}  // namespace throughtime

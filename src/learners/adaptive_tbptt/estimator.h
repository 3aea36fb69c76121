#pragma once

#include <limits>
#include <vector>

#include "learners/adaptive_tbptt/phi.h"
#include "throughtime/archive.h"

namespace throughtime {

/// Estimates of the decay during training: lines 3-7 of Algorithm 1. Draws that choose K and draws that are only logged
/// have numbers of their own, so that logging changes nothing.
class TruncationEstimator {
 public:
  TruncationEstimator(Engine& engine, const EstimateConfig& config, int batch, PositionFunction positions);

  /// There are places to draw: always, but at the beginning of a stream.
  bool ready() { return collector_.places_of(0).steps > 0; }
  /// K = kappa-hat(delta): the integer part of the mean over config.repeats draws.
  int choose(Buffer parameters);
  /// Notes beta and the relative bias at `truncation`: of config.logged further draws, or of those that chose it.
  void log(Buffer parameters, int truncation);

  /// Steps that were read to choose K, in a row of the data: (burn-in + R) for every draw.
  std::int64_t rows() const { return rows_; }
  std::vector<Diagnostic> diagnostics() const;
  std::size_t activation_bytes() const { return collector_.activation_bytes(); }
  void archive(Archive& archive);

 private:
  void note(const std::vector<PhiMeans>& draws, int truncation);

  EstimateConfig config_;
  PhiCollector collector_;
  // All of them with room for config.lags from the beginning: an estimate allocates nothing.
  DecayEstimate estimate_;                // of the draw that is looked at
  std::vector<PhiMeans> chosen_by_;       // [repeats]: the draws of the last choice
  std::vector<PhiMeans> logged_;          // [logged]: those that are only logged
  PhiMeans mean_;                         // of the noted draws
  std::vector<double> biases_;            // of each of them
  std::uint64_t choices_ = 0, logs_ = 0;  // draws so far
  std::int64_t rows_ = 0;
  double beta_ = std::numeric_limits<double>::quiet_NaN();
  double bias_ = beta_, bias_low_ = beta_, bias_high_ = beta_;
  double kappa_ = beta_;  // of the noted draws
};

}  // namespace throughtime

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "learners/adaptive_tbptt/burn_in.h"
#include "learners/adaptive_tbptt/decay.h"
#include "learners/adaptive_tbptt/lag_gradients.h"
#include "throughtime/learner.h"

namespace throughtime {

/// Draws of phi_k at random places of the training data.
struct PhiSample {
  PhiMeans means;
  std::vector<double> draws;  // [S, R + 1]: the phi_k of each place
};

/// Refuses estimates that this model or its training data does not allow. `batch`: places per draw where the
/// configuration leaves them open.
void check_places(const EstimateConfig& config, const Model& model, int batch, const PositionFunction& positions);

/// Measures phi_k = |dL_s/dh_{s-k}| for lags 0 ... R (Eq. 18): from the zero state over the burn-in, then R cells whose
/// states are kept, then a pull-back of cotangents alone. Touches nothing but its own buffers: parameters, gradients,
/// optimizers, learners' states and the counters of other random numbers stay as they are.
class PhiCollector {
 public:
  /// Refuses what `check_places` does.
  PhiCollector(Engine& engine, const EstimateConfig& config, int batch, PositionFunction positions);

  /// Draw number `draw`: another number, other places. It lives until the next call, which allocates nothing.
  const PhiSample& collect(Buffer parameters, std::uint64_t draw);
  /// The places of that draw.
  const Window& places_of(std::uint64_t draw) { return positions_(draw, places_, steps()); }

  int places() const { return places_; }                        // S
  int steps() const { return config_.burn_in + config_.lags; }  // read at each place
  std::size_t activation_bytes() const { return tape_->activation_bytes(); }

 private:
  void pull_back(const Window& window, Buffer parameters);
  void take_norms();
  void take_vectors();
  void take_means();
  double norm(const double* cotangent) const;
  void weigh(Buffer parameters, std::uint64_t draw);
  void measure_gradients(const Window& window, Buffer parameters, std::uint64_t draw);
  double largest_jacobian(Buffer parameters, std::uint64_t draw);

  Engine& engine_;
  EstimateConfig config_;
  PositionFunction positions_;
  int places_;
  int state_size_;
  bool needs_vectors_;
  BurnIn burn_in_;
  std::unique_ptr<Tape> tape_;
  Buffer state_, taps_;          // [S, state]; norms [R + 1, S] or vectors [R + 1, S, state]
  std::vector<double> values_;   // of taps_
  std::vector<double> weights_;  // [state]: of the weighted norm
  std::vector<double> sum_;      // [state]: of the mean vectors
  PhiSample sample_;
  Window part_;
  std::unique_ptr<ImmediateJacobian> jacobian_;  // norm = weighted, gradient_size = exact
  std::unique_ptr<LagGradients> gradients_;      // gradient_size = exact
};

}  // namespace throughtime

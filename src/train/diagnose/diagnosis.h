#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "train/run/trainer.h"

namespace throughtime {

/// What `diagnose` is asked for; -1: as the run's configuration says.
struct DiagnosisRequest {
  int positions = -1;                     // S
  int lags = -1;                          // R
  int burn_in = -1;                       // steps before the first of them
  std::vector<std::string> options = {};  // key=value of estimates, over the run's
  bool measure = true;                    // the true bias too, where the full gradient fits into memory
};

/// A truncation length and what it means.
struct TruncationFacts {
  int truncation = 0;                        // K
  double phi = 0;                            // mean gradient norm at that lag; 0 beyond R
  double absolute_bias = 0;                  // E(K), of Eq. 23, in units of M
  double relative_bias = 0;                  // Delta(K), of Eq. 24
  std::optional<double> measured_bias = {};  // |g_K - g| / |g| of the sampled places
  std::size_t activation_bytes = 0;          // of windows BPTT(2K, K)
};

/// The K that keeps the estimated relative bias below delta.
struct TruncationChoice {
  double delta = 0;
  int truncation = 0;
  bool reached = false;  // false: no K up to the longest does
  std::size_t activation_bytes = 0;
  std::optional<double> measured_bias = {};  // at that K
  double bound_factor = 0;  // 1 / (1 - delta): how much larger the bound of Theorem 2 is than without bias
};

/// How fast the gradients of a model decay on its data, and how long a truncation must be.
struct Diagnosis {
  int positions = 0, lags = 0, burn_in = 0, tail = 0, longest = 0, batch = 0;
  int truncation = 0;  // K of the run's own windows; 0: it has none
  double beta = 0;
  bool decays = false;                   // beta < 1: the geometric decay that the bounds assume
  std::string measured;                  // why there is no measured bias; empty: there is one
  std::vector<TruncationFacts> lengths;  // K = 0 ... R
  std::vector<TruncationChoice> choices;
  std::vector<double> draws;  // [positions, lags + 1]: phi_k of every place
};

/// Whether key=value is about estimates alone and can be asked for after training.
bool is_estimate_option(const std::string& assignment);

/// Looks at a trained or fresh model. Changes nothing in the trainer but the engine's scratch memory.
Diagnosis diagnose(Trainer& trainer, const DiagnosisRequest& request);

/// The largest K worth a row or a point: from there on the bias is below a thousandth.
int last_shown_length(const Diagnosis& diagnosis);
/// What follows for whoever trains the model, one sentence or two per entry.
std::vector<std::string> advice_of(const Diagnosis& diagnosis);
/// One JSON object.
std::string diagnosis_json(const Diagnosis& diagnosis, const std::string& name);

}  // namespace throughtime

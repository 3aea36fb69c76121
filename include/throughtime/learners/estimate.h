#pragma once

#include <vector>

#include "throughtime/choice.h"
#include "throughtime/learners/method.h"

namespace throughtime {

/// beta by regression (Eq. 22), by the largest slope (Eq. 21), or by a quantile of the slopes.
enum class DecayRule { regression, max, quantile };
constexpr auto names_of(DecayRule) { return choice_names("regression", "max", "quantile"); }

/// Norm of dL/dh: of the whole state, summed over layers, or weighted by the size of dh/dW.
enum class PhiNorm { euclidean, per_layer, weighted };
constexpr auto names_of(PhiNorm) { return choice_names("euclidean", "per_layer", "weighted"); }

/// C_k: the sum of mean norms (1.6), the norm of summed mean vectors, or that of the parameter gradient.
enum class GradientSize { norms, vectors, exact };
constexpr auto names_of(GradientSize) { return choice_names("norms", "vectors", "exact"); }

/// What the released code does in another way; the numbers are those of docs/adaptive-tbptt.md.
enum class DecayVariant {
  mean_of_logs,        // the mean after the logarithm
  phi_from_one,        // 11: phi_0 is left out and tau is one lag later
  tau_twice,           // 12: phi_tau in the sum and in the tail
  tight_tail,          // 13: the tail of a geometric sequence for K >= tau
  ols_all_lags,        // 14: the regression takes every lag with log phi >= -50
  max_from_tau,        // 15: only pairs that begin at tau
  global_lower_bound,  // 16: one lower bound for all K, from C one lag further on
  unit_bias,           // 18: with beta >= 1 the bias is 1 for K < tau, instead of unknown
};
constexpr auto names_of(DecayVariant) {
  return choice_names("mean_of_logs", "phi_from_one", "tau_twice", "tight_tail", "ols_all_lags", "max_from_tau",
                      "global_lower_bound", "unit_bias");
}

/// How the decay of gradients is estimated: adaptive_tbptt, tbptt where it logs estimates, fptt with adaptive windows
/// (docs/adaptive-tbptt.md).
struct EstimateConfig {
  double delta = 0.1;  // the relative bias that is tolerated
  int shortest = 2;    // K_min
  int longest = 100;   // K_max
  int lags = 0;        // R; 0: 100, or what a row of the data has after the burn-in
  int tail = 0;        // tau: beta comes from the lags tau ... R; 0: the integer part of 0.9 R
  int positions = 0;   // S; 0: as many as the batch has rows
  int burn_in = 20;    // steps from the zero state before the R cells
  int repeats = 1;     // estimates behind one choice of K: the integer part of their mean
  int every = 0;       // updates between estimates; 0: once per epoch
  bool first = true;   // estimate before the first update, as Algorithm 1; false: K_0 until the next one is due
  int logged = 0;      // further estimates that are only logged, for bars; they do not count as data
  DecayRule decay = DecayRule::regression;
  double quantile = 0.1;  // alpha of the quantile
  PhiNorm norm = PhiNorm::euclidean;
  GradientSize gradient_size = GradientSize::norms;
  bool dropout = true;  // on during estimates
  std::vector<DecayVariant> variants = {};

  bool operator==(const EstimateConfig&) const = default;
};

/// What every method with estimates reads: all but `repeats` and `first`, which belong to those that choose by them,
/// adaptive_tbptt and fptt.
void describe(EstimateConfig& config, OptionList& list);

}  // namespace throughtime

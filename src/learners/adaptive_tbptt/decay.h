#pragma once

#include <cstdint>
#include <vector>

#include "throughtime/learners/estimate.h"

namespace throughtime {

// How fast gradients decay and how long a truncation must be, from mean norms alone: Sections 4.2 and 4.3 of Aicher,
// Foti and Fox (2019), with their symbols. No engine, no model.

/// What was collected at random places: mean norms over them.
struct PhiMeans {
  std::vector<double> phi;            // [R + 1]: mean of phi_k = |dL_s/dh_{s-k}|
  std::vector<double> log_phi = {};   // [R + 1]: mean of log phi_k over the places where it is positive (mean_of_logs)
  std::vector<double> gradient = {};  // [R + 1]: C_k where it is no sum of phi: |sum of mean vectors|, or |g_k| / M
};

/// Everything that the estimators need to know; the flags are those of DecayVariant.
struct DecayOptions {
  int tail = 0;  // tau
  DecayRule decay = DecayRule::regression;
  double quantile = 0.1;
  bool mean_of_logs = false;
  bool phi_from_one = false;
  bool tau_twice = false;
  bool tight_tail = false;
  bool ols_all_lags = false;
  bool max_from_tau = false;
  bool global_lower_bound = false;
  bool unit_bias = false;
};

/// Room for R + 1 numbers in each list.
void reserve(PhiMeans& means, int lags);

/// beta, E and Delta of one estimate.
class DecayEstimate {
 public:
  /// With room for means of R = `lags` lags: `fit` never allocates. tau = options.tail lies between 1 and R - 1.
  DecayEstimate(const DecayOptions& options, int lags);
  DecayEstimate(const PhiMeans& means, const DecayOptions& options);
  /// The estimate of these means takes the place of the one before.
  void fit(const PhiMeans& means);

  double beta() const { return beta_; }
  /// Whether is met: beta is a number below 1.
  bool decays() const { return beta_ < 1; }
  int tail() const { return options_.tail; }
  int lags() const { return static_cast<int>(phi_.size()) - 1; }  // R
  const std::vector<double>& phi() const { return phi_; }

  /// E(K): bound of the absolute bias, divided by M (Eq. 23).
  double absolute_bias(int k) const;
  /// Delta(K): estimate of the relative bias (Eq. 24); infinity where nothing can be said.
  double relative_bias(int k) const;
  /// kappa-hat: the smallest K in [shortest, longest] whose relative bias is below delta, else longest (Eq. 25).
  int truncation(double delta, int shortest, int longest) const;

 private:
  double gradient_size(int k) const;  // C_k
  double log_beta();

  DecayOptions options_;
  std::vector<double> phi_;       // [R + 1]
  std::vector<double> gradient_;  // [R + 1]
  std::vector<double> largest_;   // [R + 1]: D(k), max over j <= k of C_j - E(j)
  std::vector<double> y_;         // [R + 1]: log phi_k; -infinity marks a lag to skip
  std::vector<double> slopes_;    // room for those of all pairs of lags from tau on
  double beta_ = 0;
};

/// log beta from y_k = log phi_k at lags first, first + 1, ...; -infinity marks a lag to skip. With fewer than two
/// usable lags the tail is zero: -infinity.
double regression_slope(const std::vector<double>& y, int first, int last);
double max_slope(const std::vector<double>& y, int first, int last, bool from_first_only = false);
/// `slopes`: room for one number per pair of lags.
double quantile_slope(const std::vector<double>& y, int first, int last, double alpha, std::vector<double>& slopes);

/// How much larger a relative bias of delta makes the bound of Theorem 2 on the gradient: 1 / (1 - delta).
inline double bias_factor(double delta) { return 1 / (1 - delta); }

/// With as many lags as a row of `row_steps` steps (0: endless) has after the burn-in, at most 100, where open.
EstimateConfig with_fitting_lags(EstimateConfig config, std::int64_t row_steps);
/// The options that a configuration of `lags` lags describes; refuses values that cannot be.
DecayOptions decay_options(const EstimateConfig& config);

}  // namespace throughtime

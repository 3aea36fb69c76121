#include "learners/adaptive_tbptt/estimator.h"

#include <algorithm>
#include <cmath>

#include "throughtime/error.h"
#include "throughtime/index.h"

namespace throughtime {
namespace {

/// Of a sorted list, between neighbours.
double quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  if (sorted[above] == sorted[below]) return sorted[below];  // infinite ones too
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

/// The mean over draws of the same size.
void mean_of(const std::vector<PhiMeans>& draws, PhiMeans& mean) {
  mean = draws.front();
  for (std::size_t i = 1; i < draws.size(); ++i) {
    for (std::size_t k = 0; k < mean.phi.size(); ++k) mean.phi[k] += draws[i].phi[k];
    for (std::size_t k = 0; k < mean.log_phi.size(); ++k) mean.log_phi[k] += draws[i].log_phi[k];
    for (std::size_t k = 0; k < mean.gradient.size(); ++k) mean.gradient[k] += draws[i].gradient[k];
  }
  for (std::vector<double>* list : {&mean.phi, &mean.log_phi, &mean.gradient})
    for (double& value : *list) value /= static_cast<double>(draws.size());
}

}  // namespace

void check_estimates(const EstimateConfig& config, const Model& model, const StretchShape& shape) {
  const EstimateConfig fitting = with_fitting_lags(config, shape.row_steps);
  decay_options(fitting);
  if (config.repeats < 1) refuse("estimate", "repeats must be at least 1, got {}", config.repeats);
  if (config.logged < 0) refuse("estimate", "logged_estimates must be 0 or more, got {}", config.logged);
  if (config.every < 0) refuse("estimate", "estimate_every must be 0 (once per epoch) or more, got {}", config.every);
  check_places(fitting, model, shape.batch, shape.positions);
}

int stream_past(const EstimateConfig& config) {
  constexpr int choices = 1000;  // ends of a place
  const EstimateConfig endless = with_fitting_lags(config, 0);
  require_range("estimate", "lags", endless.lags, 1, 1'000'000);
  require_range("estimate", "burn_in", endless.burn_in, 0, 1'000'000);
  return endless.burn_in + endless.lags + choices;
}

TruncationEstimator::TruncationEstimator(Engine& engine, const EstimateConfig& config, const StretchShape& shape)
    : config_(with_fitting_lags(config, shape.row_steps)),
      collector_(engine, config_, shape.batch, shape.positions),
      estimate_(decay_options(config_), config_.lags) {
  chosen_by_.resize(elements(config_.repeats));
  logged_.resize(elements(config_.logged));
  for (PhiMeans& means : chosen_by_) reserve(means, config_.lags);
  for (PhiMeans& means : logged_) reserve(means, config_.lags);
  reserve(mean_, config_.lags);
  biases_.reserve(std::max(chosen_by_.size(), logged_.size()));
}

int TruncationEstimator::choose(Buffer parameters) {
  double sum = 0;
  for (PhiMeans& means : chosen_by_) {
    means = collector_.collect(parameters, 2 * choices_++).means;
    estimate_.fit(means);
    sum += estimate_.truncation(config_.delta, config_.shortest, config_.longest);
    rows_ += collector_.steps();
  }
  return static_cast<int>(sum / config_.repeats);
}

void TruncationEstimator::log(Buffer parameters, int truncation) {
  if (config_.logged == 0) return note(chosen_by_, truncation);
  for (PhiMeans& means : logged_) means = collector_.collect(parameters, 2 * logs_++ + 1).means;
  note(logged_, truncation);
}

void TruncationEstimator::note(const std::vector<PhiMeans>& draws, int truncation) {
  mean_of(draws, mean_);
  estimate_.fit(mean_);
  beta_ = estimate_.beta();
  bias_ = estimate_.relative_bias(truncation);
  kappa_ = estimate_.truncation(config_.delta, config_.shortest, config_.longest);
  biases_.clear();
  for (const PhiMeans& draw : draws) {
    estimate_.fit(draw);
    biases_.push_back(estimate_.relative_bias(truncation));
  }
  std::sort(biases_.begin(), biases_.end());
  bias_low_ = quantile(biases_, 0.025);
  bias_high_ = quantile(biases_, 0.975);
}

std::vector<Diagnostic> TruncationEstimator::diagnostics(int truncation, std::int64_t rows) const {
  return {{"truncation", static_cast<double>(truncation)},
          {"rows", static_cast<double>(rows)},
          {"beta", beta_},
          {"kappa", kappa_},
          {"relative_bias", bias_},
          {"relative_bias_low", bias_low_},
          {"relative_bias_high", bias_high_},
          {"estimation_rows", static_cast<double>(rows_)}};
}

void TruncationEstimator::archive(Archive& archive) {
  const Archive::Scope scope(archive, "estimate");
  archive.integer("choices", choices_);
  archive.integer("logs", logs_);
  archive.integer("rows", rows_);
  archive.any_number("beta", beta_);
  archive.any_number("kappa", kappa_);
  archive.any_number("relative_bias", bias_);
  archive.any_number("relative_bias_low", bias_low_);
  archive.any_number("relative_bias_high", bias_high_);
}

}  // namespace throughtime

#include "learners/adaptive_tbptt/decay.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "throughtime/error.h"
#include "throughtime/index.h"

namespace throughtime {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
constexpr double smallest_log = -50;  // ols_all_lags drops what lies below

bool usable(const std::vector<double>& y, int k) { return y[k] != -infinite; }

int count_usable(const std::vector<double>& y, int first, int last) {
  int count = 0;
  for (int k = first; k <= last; ++k) count += usable(y, k) ? 1 : 0;
  return count;
}

double slope(const std::vector<double>& y, int from, int to) { return (y[to] - y[from]) / (to - from); }

bool DecayOptions::*flag_of(DecayVariant variant) {
  switch (variant) {
    case DecayVariant::mean_of_logs:
      return &DecayOptions::mean_of_logs;
    case DecayVariant::phi_from_one:
      return &DecayOptions::phi_from_one;
    case DecayVariant::tau_twice:
      return &DecayOptions::tau_twice;
    case DecayVariant::tight_tail:
      return &DecayOptions::tight_tail;
    case DecayVariant::ols_all_lags:
      return &DecayOptions::ols_all_lags;
    case DecayVariant::max_from_tau:
      return &DecayOptions::max_from_tau;
    case DecayVariant::global_lower_bound:
      return &DecayOptions::global_lower_bound;
    case DecayVariant::unit_bias:
      break;
  }
  return &DecayOptions::unit_bias;
}

}  // namespace

void reserve(PhiMeans& means, int lags) {
  for (std::vector<double>* list : {&means.phi, &means.log_phi, &means.gradient}) list->reserve(elements(lags) + 1);
}

double regression_slope(const std::vector<double>& y, int first, int last) {
  const int count = count_usable(y, first, last);
  if (count < 2) return -infinite;
  double mean_k = 0, mean_y = 0;
  for (int k = first; k <= last; ++k) {
    if (!usable(y, k)) continue;
    mean_k += k;
    mean_y += y[k];
  }
  mean_k /= count;
  mean_y /= count;
  double products = 0, squares = 0;
  for (int k = first; k <= last; ++k) {
    if (!usable(y, k)) continue;
    products += (k - mean_k) * (y[k] - mean_y);
    squares += (k - mean_k) * (k - mean_k);
  }
  return products / squares;
}

double max_slope(const std::vector<double>& y, int first, int last, bool from_first_only) {
  // A mean of slopes never exceeds the largest one: neighbours are enough for all pairs.
  double largest = -infinite;
  int from = -1;
  for (int k = first; k <= last; ++k) {
    if (!usable(y, k)) continue;
    if (from >= 0) {
      const double one = slope(y, from, k);
      if (!(one <= largest)) largest = one;  // a slope that is no number stays
    }
    if (from < 0 || !from_first_only) from = k;
  }
  return largest;
}

double quantile_slope(const std::vector<double>& y, int first, int last, double alpha, std::vector<double>& slopes) {
  slopes.clear();
  for (int j = first; j <= last; ++j)
    for (int k = j + 1; k <= last; ++k)
      if (usable(y, j) && usable(y, k)) slopes.push_back(slope(y, j, k));
  if (slopes.empty()) return -infinite;
  std::sort(slopes.begin(), slopes.end());
  const double place = (1 - alpha) * static_cast<double>(slopes.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, slopes.size() - 1);
  return slopes[below] + (place - static_cast<double>(below)) * (slopes[above] - slopes[below]);
}

DecayEstimate::DecayEstimate(const DecayOptions& options, int lags) : options_(options) {
  if (options.phi_from_one) ++options_.tail;
  require_range("estimate", "tau", options_.tail, 1, lags - 1);
  for (std::vector<double>* list : {&phi_, &gradient_, &largest_, &y_}) list->reserve(elements(lags) + 1);
  const std::size_t fitted = elements(lags - options_.tail) + 1;
  if (options.decay == DecayRule::quantile) slopes_.reserve(fitted * (fitted - 1) / 2);
}

DecayEstimate::DecayEstimate(const PhiMeans& means, const DecayOptions& options)
    : DecayEstimate(options, static_cast<int>(means.phi.size()) - 1) {
  fit(means);
}

void DecayEstimate::fit(const PhiMeans& means) {
  phi_ = means.phi;
  gradient_ = means.gradient;
  y_ = options_.mean_of_logs ? means.log_phi : means.phi;
  if (!options_.mean_of_logs)
    for (double& value : y_) value = std::log(value);
  if (options_.phi_from_one) {
    phi_[0] = 0;
    y_[0] = -infinite;
  }
  const auto finite = [](double value) { return std::isfinite(value); };
  const bool numbers = std::ranges::all_of(phi_, finite) && std::ranges::all_of(gradient_, finite);
  beta_ = numbers ? std::exp(log_beta()) : unknown;
  if (gradient_.empty()) {
    double sum = 0;
    for (const double phi : phi_) gradient_.push_back(sum += phi);
  }
  double largest = -infinite;
  largest_.clear();
  for (int k = 0; k <= lags(); ++k)
    largest_.push_back(largest = std::max(largest, gradient_size(k) - absolute_bias(k)));
}

double DecayEstimate::log_beta() {
  if (options_.decay == DecayRule::max) return max_slope(y_, options_.tail, lags(), options_.max_from_tau);
  if (options_.decay == DecayRule::quantile)
    return quantile_slope(y_, options_.tail, lags(), options_.quantile, slopes_);
  if (!options_.ols_all_lags) return regression_slope(y_, options_.tail, lags());
  for (double& value : y_)
    if (value < smallest_log) value = -infinite;
  return regression_slope(y_, 0, lags());
}

double DecayEstimate::gradient_size(int k) const { return gradient_[std::min(k, lags())]; }

double DecayEstimate::absolute_bias(int k) const {
  const int tau = options_.tail;
  if (!decays()) return options_.unit_bias && k < tau ? 1 : infinite;
  // Without a slope (fewer than two usable lags) the tail counts as zero.
  const double at_tau = beta_ > 0 ? phi_[tau] : 0;
  if (k >= tau) return at_tau * std::pow(beta_, k - tau + (options_.tight_tail ? 1 : 0)) / (1 - beta_);
  const bool twice = options_.tau_twice && !(options_.phi_from_one && k == tau - 1);
  double sum = twice ? at_tau : 0;
  for (int j = k + 1; j < tau; ++j) sum += phi_[j];
  return sum + at_tau / (1 - beta_);
}

double DecayEstimate::relative_bias(int k) const {
  double least;  // D(K): what the gradient's size is at least
  if (options_.global_lower_bound) {
    least = -infinite;
    for (int j = 0; j < lags(); ++j) least = std::max(least, gradient_size(j + 1) - absolute_bias(j));
  } else {
    least = largest_[std::min(k, lags())];
    if (k > lags()) least = std::max(least, gradient_size(k) - absolute_bias(k));
  }
  return least > 0 ? absolute_bias(k) / least : infinite;
}

int DecayEstimate::truncation(double delta, int shortest, int longest) const {
  for (int k = shortest; k < longest; ++k)
    if (relative_bias(k) < delta) return k;
  return longest;
}

EstimateConfig with_fitting_lags(EstimateConfig config, std::int64_t row_steps) {
  constexpr std::int64_t usual = 100, fewest = 2;
  if (config.lags != 0) return config;
  const std::int64_t room = row_steps > 0 ? row_steps - config.burn_in : usual;
  config.lags = static_cast<int>(std::clamp(room, fewest, usual));
  return config;
}

DecayOptions decay_options(const EstimateConfig& config) {
  if (!(config.delta > 0 && config.delta < 1))
    refuse("estimate", "delta must lie between 0 and 1, both excluded, got {}", config.delta);
  if (config.lags < 2) refuse("estimate", "lags must be at least 2, got {}", config.lags);
  if (config.shortest < 1 || config.shortest > config.longest)
    refuse("estimate", "shortest (K_min) must be between 1 and longest (K_max, {}), got {}", config.longest,
           config.shortest);
  DecayOptions options;
  options.tail = config.tail > 0 ? config.tail : std::max(1, static_cast<int>(0.9 * config.lags));
  options.decay = config.decay;
  options.quantile = config.quantile;
  require_range("estimate", "quantile", config.quantile, 0.0, 1.0);
  for (const DecayVariant variant : config.variants) options.*flag_of(variant) = true;
  require_range("estimate", "tail (tau)", options.tail, 1, config.lags - (options.phi_from_one ? 2 : 1));
  return options;
}

}  // namespace throughtime

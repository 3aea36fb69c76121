#include "tasks/series/forecast_scores.h"

#include <algorithm>
#include <cmath>

#include "throughtime/error.h"

namespace throughtime {

bool ForecastScores::knows(Metric metric) {
  switch (metric) {
    case Metric::mse:
    case Metric::mae:
    case Metric::rmse:
    case Metric::esr:
    case Metric::pre_emphasis_esr:
    case Metric::original_mse:
    case Metric::original_mae:
    case Metric::original_rmse:
    case Metric::pinball:
    case Metric::coverage:
      return true;
    default:
      return false;
  }
}

void ForecastScores::add(std::size_t target, double weight, double level, double forecast, const ForecastPlace& place) {
  Sums& sums = sums_[target];
  const double error = forecast - level;
  sums.weight += weight;
  sums.squares += weight * error * error;
  sums.magnitudes += weight * std::abs(error);
  sums.signal += weight * level * level;
  if (pre_emphasis_ > 0) add_emphasised(sums, weight, level, error, place);
}

/// The filter is linear: of the difference of two sounds it makes the difference of the filtered ones. A step that
/// follows on none, as the first one, has no part in it.
void ForecastScores::add_emphasised(Sums& sums, double weight, double level, double error,
                                    const ForecastPlace& place) const {
  if (sums.before.size() <= place.row) sums.before.resize(place.row + 1);
  Before& before = sums.before[place.row];
  if (before.step + 1 == place.step) {
    const double filtered_error = error - pre_emphasis_ * before.error;
    const double filtered_level = level - pre_emphasis_ * before.level;
    sums.emphasised_squares += weight * filtered_error * filtered_error;
    sums.emphasised_signal += weight * filtered_level * filtered_level;
  }
  before = {place.step, level, error};
}

void ForecastScores::add_band(std::size_t target, double weight, double level, std::span<const double> levels,
                              std::span<const double> quantiles) {
  Sums& sums = sums_[target];
  double pinball = 0;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const double above = level - quantiles[i];
    pinball += std::max(levels[i] * above, (levels[i] - 1) * above);
  }
  sums.band_weight += weight;
  sums.pinball += weight * pinball / static_cast<double>(levels.size());
  if (level >= quantiles.front() && level <= quantiles.back()) sums.covered += weight;
}

double ForecastScores::score(Metric metric, std::size_t target) const {
  const Sums& sums = sums_[target];
  const double scale = targets_[target].scale;
  switch (metric) {
    case Metric::mse:
      return sums.squares / sums.weight / (scale * scale);
    case Metric::mae:
      return sums.magnitudes / sums.weight / scale;
    case Metric::rmse:
      return std::sqrt(sums.squares / sums.weight) / scale;
    case Metric::esr:
      return sums.squares / sums.signal;
    case Metric::pre_emphasis_esr:
      return sums.emphasised_squares / sums.emphasised_signal;
    case Metric::original_mse:
      return sums.squares / sums.weight;
    case Metric::original_mae:
      return sums.magnitudes / sums.weight;
    case Metric::original_rmse:
      return std::sqrt(sums.squares / sums.weight);
    case Metric::pinball:
      return sums.pinball / sums.band_weight / scale;
    case Metric::coverage:
      return sums.covered / sums.band_weight;
    default:
      refuse("evaluate", "{} is no metric of a forecast", metric_name(metric));
  }
}

double ForecastScores::score(Metric metric) const {
  if (metric == Metric::rmse) return std::sqrt(score(Metric::mse));
  if (metric == Metric::original_rmse) return std::sqrt(score(Metric::original_mse));
  double sum = 0;
  for (std::size_t target = 0; target < sums_.size(); ++target) sum += score(metric, target);
  return sum / static_cast<double>(sums_.size());
}

}  // namespace throughtime

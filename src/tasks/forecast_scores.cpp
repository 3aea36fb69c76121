#include "tasks/forecast_scores.h"

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

void ForecastScores::add(std::size_t target, double weight, double level, double forecast) {
  Sums& sums = sums_[target];
  const double error = forecast - level;
  sums.weight += weight;
  sums.squares += weight * error * error;
  sums.magnitudes += weight * std::abs(error);
  sums.signal += weight * level * level;
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

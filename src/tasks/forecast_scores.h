#pragma once

#include <span>
#include <vector>

#include "tasks/forecast_view.h"

namespace throughtime {

/// The metrics of a forecast, from levels in the numbers of the recording. Each is a mean over targets.
class ForecastScores {
 public:
  /// Whether a metric needs more than the loss of a step.
  static bool knows(Metric metric);

  explicit ForecastScores(const std::vector<ForecastTarget>& targets) : targets_(targets), sums_(targets.size()) {}

  /// One target of one step, and the forecast of it.
  void add(std::size_t target, double weight, double level, double forecast);
  /// The same of its quantiles: `levels` ascend, `quantiles` has one for each.
  void add_band(std::size_t target, double weight, double level, std::span<const double> levels,
                std::span<const double> quantiles);

  double score(Metric metric) const;
  /// Of one target alone.
  double score(Metric metric, std::size_t target) const;

 private:
  struct Sums {
    double weight = 0, squares = 0, magnitudes = 0, signal = 0;
    double band_weight = 0, pinball = 0, covered = 0;
  };
  const std::vector<ForecastTarget>& targets_;
  std::vector<Sums> sums_;
};

}  // namespace throughtime

#pragma once

#include <span>
#include <vector>

#include "tasks/series/forecast_view.h"

namespace throughtime {

/// A step of the recording, and in which of the rows it comes that are read side by side, each in order.
struct ForecastPlace {
  std::int64_t step = 0;
  std::size_t row = 0;
};

/// The metrics of a forecast, from levels in the numbers of the recording. Each is a mean over targets.
class ForecastScores {
 public:
  /// Whether a metric needs more than the loss of a step.
  static bool knows(Metric metric);

  /// `pre_emphasis`: the coefficient of Metric::pre_emphasis_esr; 0: that is not measured.
  explicit ForecastScores(const std::vector<ForecastTarget>& targets, double pre_emphasis = 0)
      : targets_(targets), pre_emphasis_(pre_emphasis), sums_(targets.size()) {}

  /// One target of one step, and the forecast of it.
  void add(std::size_t target, double weight, double level, double forecast, const ForecastPlace& place = {});
  /// The same of its quantiles: `levels` ascend, `quantiles` has one for each.
  void add_band(std::size_t target, double weight, double level, std::span<const double> levels,
                std::span<const double> quantiles);

  double score(Metric metric) const;
  /// Of one target alone.
  double score(Metric metric, std::size_t target) const;

 private:
  /// What a row showed last.
  struct Before {
    std::int64_t step = -2;  // no step comes after it
    double level = 0, error = 0;
  };
  struct Sums {
    double weight = 0, squares = 0, magnitudes = 0, signal = 0;
    double emphasised_squares = 0, emphasised_signal = 0;
    double band_weight = 0, pinball = 0, covered = 0;
    std::vector<Before> before;  // of each row
  };
  void add_emphasised(Sums& sums, double weight, double level, double error, const ForecastPlace& place) const;

  const std::vector<ForecastTarget>& targets_;
  double pre_emphasis_;
  std::vector<Sums> sums_;
};

}  // namespace throughtime

#pragma once

#include <span>
#include <vector>

#include "tasks/series/change_bases.h"
#include "tasks/series/forecast_view.h"
#include "tasks/series/standardisation.h"
#include "throughtime/model.h"

namespace throughtime {

/// What the predictions of a model's head say about targets that are numbers: a point, and quantiles where it has them.
class ForecastBand {
 public:
  explicit ForecastBand(const Model& model);

  /// Whether there are quantiles.
  bool any() const { return band_ != HeadBand::none; }
  const std::vector<double>& levels() const { return levels_; }
  /// Of a target: the point, and the quantiles where there are some.
  std::size_t numbers() const { return 1 + (any() ? levels_.size() : 0); }
  /// The mean, or the median: between the levels that are next to 0.5.
  double point(const double* predictions, std::size_t target) const;
  /// One for each level, in ascending order: what was learned apart may have crossed.
  void quantiles(const double* predictions, std::size_t target, std::span<double> out) const;

 private:
  HeadBand band_;
  std::size_t targets_;
  std::vector<double> levels_;
  std::vector<double> normal_;  // quantiles of the standard normal distribution at the levels
};

/// What the predictions of a step say about a target, as levels of the recording: out[0] is the point, the quantiles of
/// a band follow (ForecastBand::numbers() in all).
void write_levels(const ForecastView& view, const ForecastBand& band, Split split, std::int64_t step,
                  std::size_t target, const double* predictions, std::span<double> out);

/// "0.80 wanted": the share of targets that a band of these levels should hold.
std::string wanted_coverage(const std::vector<double>& levels);

/// The x below which a standard normal number lies with probability `share`, between 0 and 1.
double normal_quantile(double share);

/// Turns a step's predictions into levels of the recording: undoes the scales, and adds to each target what
/// ChangeBases::take says. A change whose column is not known stays a change.
void to_levels(const Model& model, const Standardisation& scales, std::span<const double> bases,
               std::span<double> predictions);
/// The names of those predictions: "OT", "OT 10 %" of a quantile, "OT deviation", "OT change" that stays one.
std::vector<std::string> level_names(const Model& model, const Standardisation& scales, const ChangeBases& bases);

}  // namespace throughtime

#include "tasks/series/forecast_band.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "throughtime/index.h"

namespace throughtime {

double normal_quantile(double share) {
  double low = -40, high = 40;
  for (int i = 0; i < 200 && low < high; ++i) {
    const double middle = 0.5 * (low + high);
    (0.5 * std::erfc(-middle / std::numbers::sqrt2) < share ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

ForecastBand::ForecastBand(const Model& model)
    : band_(model.head().band), targets_(elements(model.target_width())), levels_(model.config().head.levels) {
  for (const double level : levels_) normal_.push_back(normal_quantile(level));
}

double ForecastBand::point(const double* predictions, std::size_t target) const {
  if (band_ != HeadBand::quantiles) return predictions[target];
  std::vector<double> ordered(levels_.size());
  quantiles(predictions, target, ordered);
  const auto after = std::lower_bound(levels_.begin(), levels_.end(), 0.5);
  if (after == levels_.end()) return ordered.back();
  const auto i = elements(after - levels_.begin());
  if (i == 0 || *after == 0.5) return ordered[i];
  const double share = (0.5 - levels_[i - 1]) / (levels_[i] - levels_[i - 1]);
  return ordered[i - 1] + share * (ordered[i] - ordered[i - 1]);
}

void ForecastBand::quantiles(const double* predictions, std::size_t target, std::span<double> out) const {
  for (std::size_t i = 0; i < levels_.size(); ++i)
    out[i] = band_ == HeadBand::quantiles ? predictions[i * targets_ + target]
                                          : predictions[target] + normal_[i] * predictions[targets_ + target];
  std::ranges::sort(out);
}

void write_levels(const ForecastView& view, const ForecastBand& band, Split split, std::int64_t step,
                  std::size_t target, const double* predictions, std::span<double> out) {
  const ForecastTarget& scales = view.targets()[target];
  const double base = view.base(split, step, target) + scales.mean;
  out[0] = band.point(predictions, target);
  if (band.any()) band.quantiles(predictions, target, out.subspan(1));
  for (double& number : out) number = base + scales.deviation * number;
}

std::string wanted_coverage(const std::vector<double>& levels) {
  const double share = levels.back() - levels.front();
  const bool percents = std::abs(share - std::round(100 * share) / 100) < 1e-9;
  return percents ? fmt::format("{:.2f} wanted", share) : fmt::format("{:.4g} wanted", share);
}

void to_levels(const Model& model, const Standardisation& scales, std::span<const double> bases,
               std::span<double> predictions) {
  const std::size_t targets = scales.targets.size();
  if (targets == 0) return;  // classes have no scales
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    const ColumnScale& scale = scales.targets[i % targets];
    predictions[i] *= scale.deviation;
    if (model.head().band == HeadBand::deviation && i >= targets) continue;
    predictions[i] += scale.mean + bases[i % targets];
  }
}

std::vector<std::string> level_names(const Model& model, const Standardisation& scales, const ChangeBases& bases) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < elements(model.outputs()); ++i) {
    const ColumnScale& scale = scales.targets[i % scales.targets.size()];
    const std::size_t part = i / scales.targets.size();
    std::string name = scale.column;
    if (!scale.change_of.empty() && !bases.knows(i % scales.targets.size())) name += " change";
    if (model.head().band == HeadBand::quantiles)
      name += fmt::format(" {:g} %", 100 * model.config().head.levels[part]);
    if (model.head().band == HeadBand::deviation && part == 1) name += " deviation";
    names.push_back(name);
  }
  return names;
}

}  // namespace throughtime

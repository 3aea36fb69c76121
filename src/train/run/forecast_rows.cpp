#include "train/run/forecast_rows.h"

#include <fmt/format.h>

namespace throughtime {

std::vector<std::string> ForecastRows::names() const {
  const std::vector<ForecastTarget>& targets = view_.targets();
  std::vector<std::string> truths, forecasts;
  for (const ForecastTarget& target : targets) {
    const std::string ending = targets.size() == 1 ? "" : "_" + target.name;
    truths.push_back("truth" + ending);
    forecasts.push_back("forecast" + ending);
    if (!band_.any()) continue;
    for (const double level : band_.levels())
      forecasts.push_back(fmt::format("forecast{} {:g} %", ending, 100 * level));
  }
  truths.insert(truths.end(), forecasts.begin(), forecasts.end());
  return truths;
}

std::vector<Cell> ForecastRows::cells(Split split, std::int64_t step, std::span<const double> predictions) const {
  const std::vector<ForecastTarget>& targets = view_.targets();
  std::vector<Cell> truths, forecasts;
  std::vector<double> quantiles(band_.levels().size());
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const double base = view_.base(split, step, i) + targets[i].mean;
    const auto to_level = [&](double output) { return base + targets[i].deviation * output; };
    truths.push_back(view_.level(split, step, i));
    forecasts.push_back(to_level(band_.point(predictions.data(), i)));
    if (!band_.any()) continue;
    band_.quantiles(predictions.data(), i, quantiles);
    for (const double quantile : quantiles) forecasts.push_back(to_level(quantile));
  }
  truths.insert(truths.end(), forecasts.begin(), forecasts.end());
  return truths;
}

}  // namespace throughtime

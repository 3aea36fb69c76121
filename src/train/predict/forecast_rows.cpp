#include "train/predict/forecast_rows.h"

#include <fmt/format.h>

#include <charconv>
#include <string>

namespace throughtime {
namespace {

/// Levels are kept as floats: 235.69 of a file is 235.69000244140625. The shortest number that becomes this float.
double as_written(double level) {
  const auto kept = static_cast<float>(level);
  if (static_cast<double>(kept) != level) return level;
  const std::string text = fmt::format("{}", kept);
  std::from_chars(text.data(), text.data() + text.size(), level);
  return level;
}

}  // namespace

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
  std::vector<double> numbers(band_.numbers());
  for (std::size_t i = 0; i < targets.size(); ++i) {
    truths.push_back(as_written(view_.level(split, step, i)));
    write_levels(view_, band_, split, step, i, predictions.data(), numbers);
    forecasts.insert(forecasts.end(), numbers.begin(), numbers.end());
  }
  truths.insert(truths.end(), forecasts.begin(), forecasts.end());
  return truths;
}

}  // namespace throughtime

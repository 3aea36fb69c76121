#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tasks/series/forecast_view.h"

namespace throughtime {

/// Columns that a forecast of one target may look at, whole recordings of `rows` rows.
struct RivalData {
  std::size_t rows = 0;
  std::size_t training_rows = 0;              // from the first one on
  std::span<const double> level;              // [rows] of the target's column
  std::vector<std::span<const double>> seen;  // what a linear forecast reads: [rows] each
};

/// The forecast of a target `horizon` steps after row t, for each t.
using RivalForecast = std::function<double(std::size_t)>;

/// Makes the forecast of a target column at a horizon.
using MakeForecast = std::function<RivalForecast(const RivalData&, int)>;

/// What forecasts of a recording may look at, each horizon for itself.
struct RivalRules {
  std::vector<int> horizons;
  bool changes = false;  // the model predicts changes, which are added to the past
  int season = 0;        // steps; 0: there is none

  /// Whether the target's past is known: at horizon 0 only where changes are added to it.
  bool sees_past(int horizon) const { return horizon > 0 || changes; }
};

/// A forecast that needs no net, and what it says.
struct SimpleForecast {
  std::string name, text;
  MakeForecast make;
};

/// The last value; the mean of the training part where no past is known.
MakeForecast naive_forecast(const RivalRules& rules);
/// The others beside it: seasonal, mean, and ridge, as far as the horizons and the training rows allow. At a horizon
/// without a past, seasonal is the mean, and ridge reads the `inputs`, whole recordings, which must live on.
std::vector<SimpleForecast> simple_forecasts(const RivalRules& rules, std::size_t training_rows,
                                             const std::vector<std::span<const double>>& inputs);

/// The level at t; where `horizon` is 0, that of the row before.
RivalForecast last_value(const RivalData& data, int horizon);
/// The level a whole number of seasons before the target, the last one that is known at t.
RivalForecast seasonal_value(const RivalData& data, int horizon, int season);
/// The mean of the training part.
RivalForecast training_mean(const RivalData& data);
/// A linear function of the last `lags` rows of what is seen, fitted to the training part with a weak ridge penalty.
/// For horizon 0 the row itself is among them.
RivalForecast ridge(const RivalData& data, int horizon, int lags);
/// What a forecast says one row before: of horizon 1, a forecast of the row itself that has not seen it.
RivalForecast one_row_before(RivalForecast forecast);
/// The lags that `ridge` can have: at most 48, and few enough for the training part.
int ridge_lags(const RivalData& data, int horizon);

}  // namespace throughtime

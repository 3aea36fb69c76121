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

/// The level at t; where `horizon` is 0, that of the row before.
RivalForecast last_value(const RivalData& data, int horizon);
/// The level a whole number of seasons before the target, the last one that is known at t.
RivalForecast seasonal_value(const RivalData& data, int horizon, int season);
/// The mean of the training part.
RivalForecast training_mean(const RivalData& data);
/// A linear function of the last `lags` rows of what is seen, fitted to the training part with a weak ridge penalty.
/// For horizon 0 the row itself is among them.
RivalForecast ridge(const RivalData& data, int horizon, int lags);
/// The lags that `ridge` can have: at most 48, and few enough for the training part.
int ridge_lags(const RivalData& data, int horizon);

}  // namespace throughtime

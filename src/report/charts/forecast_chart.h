#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "report/charts/chart.h"
#include "report/groups.h"
#include "report/report.h"
#include "train/predict/forecast.h"

namespace throughtime {

/// Truth, forecast and band of one target over the rows of the recording.
Chart forecast_chart(const RunForecast& forecast, const ForecastCurve& curve, const std::string& name);
/// Forecast minus truth.
Chart residual_chart(const RunForecast& forecast, const ForecastCurve& curve, const std::string& name);
/// Both for every target, one after the other.
std::vector<Chart> forecast_charts(const RunForecast& forecast, const std::string& name);

/// Pictures below each other in one SVG document.
std::string stacked_svg(const std::vector<Chart>& charts);
/// Where the residuals of a picture `path` go: "picture.png" -> "picture-residuals.png"; with several targets each has
/// a number: "picture-2.png".
std::filesystem::path picture_path(const std::filesystem::path& path, std::size_t target, bool residuals);

/// The forecasts of the first run of each group that is a series and whose data is there; what is missing becomes a
/// line of `troubles`.
std::vector<GroupForecast> report_forecasts(const std::vector<RunGroup>& groups, std::int64_t rows,
                                            std::vector<std::string>& troubles);

}  // namespace throughtime

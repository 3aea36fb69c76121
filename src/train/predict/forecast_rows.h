#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tasks/series/forecast_band.h"
#include "tasks/series/forecast_view.h"
#include "train/predict/forecast_cells.h"

namespace throughtime {

/// Truth and forecast of a recording's targets, as levels in the units of the file, with the quantiles of a band.
class ForecastRows {
 public:
  /// Both must outlive it.
  ForecastRows(const ForecastView& view, const Model& model) : view_(view), band_(model) {}

  std::vector<std::string> names() const;
  /// Of predictions [outputs] as the engine gives them at that step of a split.
  std::vector<Cell> cells(Split split, std::int64_t step, std::span<const double> predictions) const;

 private:
  const ForecastView& view_;
  ForecastBand band_;
};

}  // namespace throughtime

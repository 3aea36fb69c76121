#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tasks/series/forecast_view.h"
#include "train/run/trainer.h"

namespace throughtime {

/// A target over the rows of its recording: what it was, and what a run said before.
struct ForecastCurve {
  ForecastTarget target;
  std::vector<double> row;  // of the recording, where the target lies
  std::vector<double> truth, forecast;
  std::vector<double> naive = {};  // the last value that was known; empty at horizon 0, where none is
  std::vector<double> low, high;   // the lowest and the highest quantile; empty: the head has no band
};

struct RunForecast {
  std::string split;
  std::vector<ForecastCurve> targets;
  std::vector<double> levels;  // of the band; empty: there is none
};

/// What a run says about the last `rows` steps of a split (0: all). The model reads the whole split up to them. Refuses
/// a task whose targets are no numbers of a recording, and an empty split.
RunForecast forecast_of(Trainer& trainer, Split split, std::int64_t rows);

}  // namespace throughtime

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tasks/series/forecast_view.h"
#include "train/run/trainer.h"

namespace throughtime {

/// Which run is evaluated, and on what.
struct EvaluationRequest {
  std::string run;
  std::string split = "test";
  bool best = false;                        // with the weights that validation chose (takes_best), not the last
  std::vector<std::string> overrides = {};  // key=value: where its files lie now

  /// Refuses a name that no split has.
  Split which() const;
};

/// An evaluation, and what needs no net on the same split.
struct Judged {
  Evaluation evaluation;
  std::vector<double> baselines;  // of the first metrics
  std::vector<Rival> rivals;
  std::vector<ForecastTarget> targets = {};
  std::vector<double> each = {};         // the first metric of each target
  std::vector<double> band_levels = {};  // of a head with a band
};

/// The run with its data; refuses a task without that split.
std::unique_ptr<Trainer> open_for(const EvaluationRequest& request);
Judged judge(Trainer& trainer, const EvaluationRequest& request);
/// One JSON object.
std::string judged_json(const EvaluationRequest& request, const Judged& judged);

}  // namespace throughtime

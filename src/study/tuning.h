#pragma once

#include <string>
#include <vector>

#include "study/trials.h"

namespace throughtime {

/// One key with the values to try: `key=a,b,c`. Commas within brackets belong to a value.
struct GridAxis {
  std::string key;
  std::vector<std::string> values;
};
GridAxis parse_axis(const std::string& text);
/// Every combination as a list of assignments `key=value`, the last axis fastest.
std::vector<std::vector<std::string>> grid_points(const std::vector<GridAxis>& axes);

/// A configuration and the values of its options to try.
struct TuningRequest {
  std::string config;  // a file
  std::string arm = {};
  std::vector<std::string> overrides = {};
  std::vector<std::string> grid;  // an axis each
};

/// One point of the grid.
struct Trial {
  std::string setting;  // "optimizer.rate=0.01 model.hidden=32"
  std::string name;     // the same as the name of a directory
  RunConfig config;
  Outcome outcome = {};
};
/// The trials of a grid in NAME-tune/SETTING, all of them checked. Refuses a grid that validations cannot judge.
std::vector<Trial> make_trials(const TuningRequest& request);
/// The one whose validation has the best train.best_by; fails where no trial has one.
const Trial& best_trial(const std::vector<Trial>& trials);

/// The run of the best setting, and what it learns from.
struct FinalRun {
  RunConfig config;
  std::string data = {};  // in words
  Outcome outcome = {};
};
/// The best setting on all training data: what was held out of it is given back, where the task can do that and the
/// run needs no validations.
FinalRun final_run(const Trial& best, const TuningRequest& request);

/// Whether trials are chosen by something else (train.best_by) than the loss and the task's metric.
bool is_other_score(const Trial& trial);
/// One JSON object of all of it; `validation_score` is the value of `best_by`.
std::string tuning_json(const std::vector<Trial>& trials, const Trial& best, const FinalRun& last);

}  // namespace throughtime

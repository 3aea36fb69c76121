#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "report/runs.h"
#include "reproduce/claims/rule.h"
#include "train/options/config.h"

namespace throughtime {

/// Values of each option, as TOML texts.
using SweepGrid = std::vector<std::pair<std::string, std::vector<std::string>>>;

/// Other values for some arms.
struct SweepCase {
  std::string where;  // an assignment key=value: the arms that read this option and have this value
  SweepGrid grid;     // in place of the values that the grid of all has for these options
};

/// The `[result.sweep]` of a result: settings that a paper chooses for each of its methods, and what it chooses by.
struct Sweep {
  Measure measure;        // of a training curve, or a number of the result that knows nothing of the test
  bool higher = false;    // the highest is the best; else the lowest
  int seeds = 3;          // of every point
  int first_seed = 1001;  // so that no run that chooses is judged too
  SweepGrid grid;
  std::vector<SweepCase> instead;
  std::vector<std::string> keep;  // assignments key=value: an arm with such a value is about it, and keeps it

  bool empty() const { return grid.empty(); }
};

/// A point of the grid: assignments key=value.
using SweepPoint = std::vector<std::string>;

/// The points of one arm: the product of the values of each option that a run of it reads, but for those that it keeps.
std::vector<SweepPoint> sweep_points(const Sweep& sweep, const RunConfig& arm);

/// The place of the best mean over the seeds. A point with a seed that has no number is worse than every other; of
/// equal ones it is the first. `values`: [points][seeds], at least one point.
std::size_t best_point(const Sweep& sweep, const std::vector<std::vector<double>>& values);

/// What was chosen for each arm.
using SweepChoices = std::map<std::string, SweepPoint>;

}  // namespace throughtime

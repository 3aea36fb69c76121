#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "train/run/trainer.h"

namespace throughtime {

/// What a finished run says of itself (its result.json); NaN where it has no such number.
struct Outcome {
  std::string run;
  std::string failure;  // why it has no result; empty: it has one
  std::string metric;   // the task's first
  std::int64_t iterations = 0;
  std::int64_t best_iteration = 0;
  double seconds = 0;
  std::size_t activation_bytes = 0;
  double train_loss = std::numeric_limits<double>::quiet_NaN();
  double validation_loss = std::numeric_limits<double>::quiet_NaN();  // of the best validation
  double validation_metric = std::numeric_limits<double>::quiet_NaN();
  double test_loss = std::numeric_limits<double>::quiet_NaN();
  double test_metric = std::numeric_limits<double>::quiet_NaN();
  bool interrupted = false;
};

/// Takes the result of a run that is done, goes on with one that is not, or starts it; so a set of trials that was
/// stopped goes on where it was. A run that fails (a loss that is no number) is an outcome too. Refuses a directory
/// that holds a run of another configuration.
Outcome run_trial(const RunConfig& config, Observer& observer, bool test);

/// One key with the values to try: `key=a,b,c`. Commas within brackets belong to a value.
struct GridAxis {
  std::string key;
  std::vector<std::string> values;
};
GridAxis parse_axis(const std::string& text);
/// Every combination as a list of assignments `key=value`, the last axis fastest.
std::vector<std::vector<std::string>> grid_points(const std::vector<GridAxis>& axes);

/// Mean and sample deviation; the deviation of one number is 0. NaN of none.
struct Spread {
  double mean = 0;
  double deviation = 0;
};
Spread spread_of(const std::vector<double>& values);

}  // namespace throughtime

#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "train/run/trainer.h"

namespace throughtime {

/// What a run of a set gave; NaN where it has no such number.
struct Outcome {
  std::string run;
  std::string failure;  // why it has no result; empty: it has one
  std::string metric;   // the task's first
  std::int64_t iterations = 0;
  std::int64_t best_iteration = 0;
  double updates = 0;  // a count; adaptive truncation makes another number with each seed
  double seconds = 0;
  std::size_t activation_bytes = 0;
  double train_loss = std::numeric_limits<double>::quiet_NaN();
  double validation_loss = std::numeric_limits<double>::quiet_NaN();   // of the best validation
  double validation_score = std::numeric_limits<double>::quiet_NaN();  // what train.best_by chose it by
  double validation_metric = std::numeric_limits<double>::quiet_NaN();
  // Of the weights that validation chose, where it chose some, else of the last ones.
  double test_loss = std::numeric_limits<double>::quiet_NaN();
  double test_metric = std::numeric_limits<double>::quiet_NaN();
  double last_test_metric = std::numeric_limits<double>::quiet_NaN();  // of the last weights
  double baseline = std::numeric_limits<double>::quiet_NaN();          // of the test split
  double skill = std::numeric_limits<double>::quiet_NaN();             // skill_of the two
  bool interrupted = false;
};

/// Refuses where the run's directory holds a run of another configuration.
void require_same_run(const RunConfig& config);

/// Takes the result of a run that is done, goes on with one that is not, or starts it; so a set of trials that was
/// stopped goes on where it was. A run that fails (a loss that is no number) is an outcome too; a device that
/// fails is none (DeviceFailure). Refuses a directory that holds a run of another configuration.
Outcome run_trial(const RunConfig& config, Observer& observer, bool test);

/// check_run of a run that has not begun: whatever the last run of a set asks for must not be refused only after the
/// first has been trained.
void check_new_run(const RunConfig& config);

}  // namespace throughtime

#pragma once

#include <string>
#include <vector>

#include "bench/measure.h"
#include "throughtime/engine.h"
#include "throughtime/task.h"

namespace throughtime::bench {

/// A task whose batches are timed: `batch-add`, `batch-mnist`, ...
struct BatchCase {
  std::string name;
  TaskConfig task;
};

/// Every generated task, and every data set that the library knows.
const std::vector<BatchCase>& all_batch_cases();
bool is_batch_case(const std::string& name);
/// Refuses an unknown name with the known ones.
const BatchCase& find_batch_case(const std::string& name);

/// How long a task takes to make a batch of 128 rows, beside an iteration that learns from one of that length.
struct BatchResult {
  std::string name;
  int threads = 1;
  int steps = 0;
  double make_ms = 0;
  double iteration_ms = 0;  // of bptt-lstm-b128-h128 with as many steps
  double share = 0;         // median over pairs of make / iteration

  /// What a generator or reader may take.
  static constexpr double most = 0.05;
};

/// Makes one training batch after the other. Refuses, as the task does, where its data is not there.
BatchResult run_batch_case(const BatchCase& chosen, const EngineConfig& engine, const Effort& effort);

/// One JSON object on one line.
std::string json_line(const BatchResult& result);

}  // namespace throughtime::bench

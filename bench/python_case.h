#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/measure.h"

namespace throughtime::bench {

/// Where python_overheads.py is, and what it compares with.
struct PythonConfig {
  std::string python = "/usr/bin/python3";
  std::string directory;  // holds python_overheads.py
  std::string command;    // the program whose `train` stands beside `fit`
  bool quick = false;     // fewer rows, fewer epochs
};

/// Rows a second, by the wall clock and by the thread's own, which stands still while other programs run.
struct Rates {
  double wall = 0, cpu = 0;
};

/// A loop over rows: a prediction, then an update through the last ten steps of an LSTM of 32 units, on one thread.
struct PythonCall {
  std::string name;   // of the package; `cpp`: OnlineLearner without Python; `torch`
  Rates rates;        // medians over rounds
  double of_cpp = 1;  // median over rounds of its rows a CPU second / those of `cpp` in that round
};

/// Steps a second of `fit` and of the command on the same arrays: medians over rounds.
struct PythonTraining {
  std::string name;  // `whole`: from a call to its return, and a whole process; `later`: without a run of one epoch
  Rates fit, train;
  double of_train = 1;  // median over rounds of the steps a CPU second of `fit` / those of the command in that round
};

/// What calling the package costs.
struct PythonResult {
  std::vector<PythonCall> calls;
  std::vector<PythonTraining> trainings;
  double import_ms = 0, import_cpu_ms = 0;  // beyond NumPy's

  /// How many times the rows of the loop in PyTorch; none where there is no PyTorch.
  std::optional<double> times_torch(const PythonCall& call) const;
};

/// Versions of what is measured.
struct PythonDescription {
  std::string throughtime, numpy;
  std::optional<std::string> torch;
};

/// Refuses a Python that is not there, has no NumPy or finds no library, or a folder without the program, each with
/// what to do.
PythonDescription describe_python(const PythonConfig& config);

/// The same loop in PyTorch is measured where `python` has one.
PythonResult run_python_case(const PythonConfig& config, const PythonDescription& python, const Effort& effort);

/// One JSON object a line.
std::string json_lines(const PythonResult& result);

}  // namespace throughtime::bench

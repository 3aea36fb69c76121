#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "throughtime/task.h"
#include "train/run/dynamic_evaluation.h"

namespace throughtime {

/// What `throughtime evaluate --dynamic` is told beside what every evaluation is.
struct DynamicArguments {
  bool asked = false;
  bool tune = false;
  std::vector<double> rates, decays;  // none: the scaling's own; several: to choose from
  std::string scaling = "mean";
  DynamicConfig config;
};

/// What every evaluation is told.
struct EvaluatedRun {
  std::string run, split_name;
  Split split = Split::test;
  bool best = false, json = false;
  std::vector<std::string> overrides;
};

void add_dynamic_options(CLI::App& command, DynamicArguments& arguments);
void evaluate_dynamically(const EvaluatedRun& run, const DynamicArguments& arguments);

}  // namespace throughtime

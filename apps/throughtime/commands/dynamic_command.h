#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "train/evaluate/dynamic_comparison.h"

namespace throughtime {

/// What `throughtime evaluate --dynamic` is told beside what every evaluation is.
struct DynamicArguments {
  bool asked = false;
  std::string scaling = "mean";
  DynamicRequest request;
};

void add_dynamic_options(CLI::App& command, DynamicArguments& arguments);
void evaluate_dynamically(const EvaluationRequest& run, const DynamicArguments& arguments, bool json);

}  // namespace throughtime

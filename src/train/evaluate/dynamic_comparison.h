#pragma once

#include <functional>
#include <string>
#include <vector>

#include "train/evaluate/dynamic_evaluation.h"
#include "train/evaluate/judged.h"

namespace throughtime {

/// What an evaluation that goes on learning is asked for.
struct DynamicRequest {
  bool tune = false;                            // choose rate and decay on validation data, then test once
  std::vector<double> rates = {}, decays = {};  // none: the scaling's own; several: to choose from
  DynamicConfig config = {};
};

/// Hears how it goes.
struct DynamicListener {
  std::function<void(const GradientStatistics&)> collected = {};
  std::function<void(const DynamicTrial&)> tried = {};
};

/// A run with and without learning on the way.
struct DynamicComparison {
  DynamicConfig config = {};  // with the rate and the decay that were taken
  Evaluation still = {}, moving = {};
  std::vector<DynamicTrial> trials = {};  // none: nothing was chosen
};

DynamicComparison compare_dynamically(const EvaluationRequest& request, const DynamicRequest& dynamic,
                                      const DynamicListener& listener = {});
/// One JSON object.
std::string comparison_json(const EvaluationRequest& request, const DynamicComparison& comparison);

}  // namespace throughtime

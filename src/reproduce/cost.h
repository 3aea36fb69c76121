#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "reproduce/result.h"
#include "train/config.h"

namespace throughtime {

/// What the runs of a result take together, in seconds of one core: n cores need an n-th of it.
struct Cost {
  double quick = 0, full = 0;
};

/// Times the arms of quick scale for a moment and takes the rest from counted work: parameters * steps * rows *
/// iterations. Full scale is that work at the same seconds for each unit of it (the mean over the arms for one that
/// quick scale leaves out): a rough number. What several results have in common is timed once.
class CostEstimator {
 public:
  /// `overrides`: engine and data; `seconds`: how long an arm is trained.
  CostEstimator(std::vector<std::string> overrides, double seconds)
      : overrides_(std::move(overrides)), seconds_(seconds) {}
  Cost estimate(const ResultSpec& spec);

 private:
  RunConfig config_of(const ResultSpec& spec, const std::string& arm, Scale scale) const;
  double seconds_of_run(const RunConfig& config);
  double work_of(const RunConfig& config);

  std::vector<std::string> overrides_;
  double seconds_;
  std::map<std::string, double> runs_, evaluations_, works_;  // by all of the configuration that matters
};

/// Estimates by result, as they are kept beside the stored results (RESULTS/costs.json).
using Costs = std::map<std::string, Cost>;
Costs read_costs(const std::filesystem::path& results);
void write_costs(const std::filesystem::path& results, const Costs& costs);

}  // namespace throughtime

#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "reproduce/result.h"
#include "train/options/config.h"

namespace throughtime {

/// What the runs of a result take together, in seconds of one core: n cores need an n-th of it.
struct Cost {
  double quick = 0, full = 0;
};

/// Times the arms of quick scale for a moment and takes the rest from counted work. An iteration is products * steps
/// * rows of work, and training and evaluations take as much longer at full scale as that is more (with the rates of
/// the timed arm nearest in work for one that quick scale leaves out); what it takes to start a run stays. A rough
/// number. What several results have in common is timed once.
class CostEstimator {
 public:
  /// `overrides`: engine and data; `seconds`: how long an arm is trained.
  CostEstimator(std::vector<std::string> overrides, double seconds)
      : overrides_(std::move(overrides)), seconds_(seconds) {}
  Cost estimate(const ResultSpec& spec);

 private:
  /// What a run asks for.
  struct Amount {
    double work = 0, iterations = 0, evaluations = 0;  // of an iteration; how many of them; validations and the test
  };
  /// Seconds to start a run, and for each unit of work of an iteration and of an evaluation.
  struct Rates {
    double start = 0, iteration = 0, evaluation = 0;
    double seconds(const Amount& run) const {
      return start + run.work * (run.iterations * iteration + run.evaluations * evaluation);
    }
  };
  RunConfig config_of(const ResultSpec& spec, const std::string& arm, Scale scale) const;
  Amount amount_of(const RunConfig& config);
  Rates rates_of(const RunConfig& config);

  std::vector<std::string> overrides_;
  double seconds_;
  std::map<std::string, Amount> amounts_;  // these and the others by all of the configuration that matters
  std::map<std::string, Rates> rates_;
  std::map<std::string, double> evaluations_;
};

/// Estimates by result, as they are kept beside the stored results (RESULTS/costs.json).
using Costs = std::map<std::string, Cost>;
Costs read_costs(const std::filesystem::path& results);
void write_costs(const std::filesystem::path& results, const Costs& costs);

/// What a result takes at a scale.
struct ExpectedCost {
  double seconds = 0;     // of one core; NaN: not known
  bool measured = false;  // in stored runs of all its arms and seeds; else it is an estimate
};
ExpectedCost expected_cost(const ResultSpec& spec, Scale scale, const Costs& costs,
                           const std::filesystem::path& results);

/// "35 s", "40 min", "7 h", "3 days".
std::string time_text(double seconds);
/// "3 x 5 runs, ~40 min", or "3 x 5 runs, 35 s" where all of them were run and stored under `results`.
std::string cost_text(const ResultSpec& spec, Scale scale, const Costs& costs, const std::filesystem::path& results);

}  // namespace throughtime

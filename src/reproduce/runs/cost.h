#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "reproduce/results/result.h"
#include "train/options/config.h"

namespace throughtime {

/// What the runs of a result take together, in seconds of one core: n cores need an n-th of it.
struct Cost {
  double quick = 0, full = 0;
  double epoch = 0;  // one epoch of one run at full scale, the mean over the arms; 0: its data have none
};

/// Times the arms of both scales for a moment, at least an iteration of each. Evaluations are timed at quick scale, and
/// take as much longer at full scale as an iteration has more work (products * steps * rows). So does an iteration of
/// an arm that cannot be timed: one without its data, or of more than half a minute. What several results have in
/// common is timed once. A sweep is not part of it: expected_cost adds it.
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
  Rates rates_of(const RunConfig& config, bool evaluates = true);
  /// Of full scale; `guess`: what quick scale says of it.
  Rates full_rates(const RunConfig& config, const Rates& guess);

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
  double seconds = 0;          // of one core, the sweep among them; NaN: not known
  std::size_t sweep_runs = 0;  // that choose the settings of the arms
  bool measured = false;       // in stored runs of all its arms and seeds, and no sweep; else it is an estimate
};
ExpectedCost expected_cost(const ResultSpec& spec, Scale scale, const Costs& costs,
                           const std::filesystem::path& results);

/// "35 s", "40 min", "7 h", "3 days".
std::string time_text(double seconds);
/// "3 x 5 runs and 30 of the sweep, ~40 min, ~90 s an epoch", or "3 x 5 runs, 35 s" where all of them were run and
/// stored under `results`.
std::string cost_text(const ResultSpec& spec, Scale scale, const Costs& costs, const std::filesystem::path& results);

}  // namespace throughtime

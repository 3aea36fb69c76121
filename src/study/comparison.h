#pragma once

#include <string>
#include <vector>

#include "study/trials.h"

namespace throughtime {

/// Learners to be trained side by side on one configuration.
struct ComparisonRequest {
  std::string config;  // a file
  std::string arm = {};
  std::vector<std::string> overrides = {};
  std::vector<std::string> learners;
  int seeds = 1;  // runs of each, with seeds that count up from train.seed
};

/// All runs of one learner.
struct Contender {
  std::string learner;
  std::vector<RunConfig> configs;  // one for each seed
  std::vector<Outcome> outcomes = {};

  /// The numbers of the runs that have one.
  std::vector<double> values(double Outcome::*field) const;
  std::size_t failures() const;
  /// The last run with an answer stands for what all of them share; an empty one where there is none.
  Outcome sample() const;
};

/// The runs of all learners in NAME-compare/LEARNER-seed-N, all of them checked. Everything but the learner's name, the
/// budget too, is that of the file.
std::vector<Contender> make_contenders(const ComparisonRequest& request);
/// The task's metric; "metric" where no run has an answer.
std::string metric_of(const std::vector<Contender>& contenders);
/// One JSON object: the runs, failures, mean and deviation of the test metric (of the weights that validation chose,
/// where it chose some), the same of the last weights, mean time.
std::string contender_json(const Contender& contender);

}  // namespace throughtime

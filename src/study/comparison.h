#pragma once

#include <string>
#include <vector>

#include "study/trials.h"

namespace throughtime {

/// What is to be trained side by side: learners on one configuration, or arms of a file.
struct ComparisonRequest {
  std::string config;    // a file
  std::string arm = {};  // that the learners share
  std::vector<std::string> overrides = {};
  std::vector<std::string> learners = {};  // none: arms are compared
  std::vector<std::string> arms = {};      // none: all of the file
  int seeds = 1;                           // runs of each, with seeds that count up from train.seed
};

/// All runs of one learner or of one arm.
struct Contender {
  std::string name;
  std::vector<RunConfig> configs;  // one for each seed
  std::vector<Outcome> outcomes = {};

  /// The numbers of the runs that have one.
  std::vector<double> values(double Outcome::*field) const;
  std::size_t failures() const;
  /// The last run with an answer stands for what all of them share; an empty one where there is none.
  Outcome sample() const;
};

/// The runs of all learners in NAME-compare/LEARNER-seed-N, or of all arms in NAME-compare/ARM-seed-N, all of them
/// checked. Learners share everything else, the budget too; an arm has what the file gives it.
std::vector<Contender> make_contenders(const ComparisonRequest& request);
/// The task's metric; "metric" where no run has an answer.
std::string metric_of(const std::vector<Contender>& contenders);
/// One JSON object, its name under `key` ("learner" or "arm"): the runs, failures, mean and deviation of the test
/// metric (of the weights that validation chose, where it chose some), the same of the last weights, updates, mean
/// time.
std::string contender_json(const Contender& contender, const std::string& key);

}  // namespace throughtime

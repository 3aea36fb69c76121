#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace throughtime {

/// One number of a run: what is taken of which curve, or of the result.
struct Measure {
  std::string metric;
  std::string how = "last";  // one of measure_names()
  double level = 0;          // reach, share

  /// Its name in stored results: "validation_mse, lowest".
  std::string key() const;
};
std::vector<std::string> measure_names();

/// One condition on the measures of arms.
struct Rule {
  std::string kind;                // one of rule_names()
  std::vector<std::string> arms;   // each must meet it; falling, rising: in this order
  std::vector<std::string> than;   // less, greater: each arm against each of these
  Measure measure;
  double low = 0, high = 0;        // above, between; below, between
  double share = 0;                // below, above, between: of the seeds; 0: the mean over them
  double margin = 0;               // less, greater: at least so much; falling, rising: forgiven; within: the distance
  double p = 0;                    // less, greater: Welch's two-sided p is below it; 0: not asked
  bool trend = false;              // its sign alone is the claim's direction

  bool compares_arms() const;
};
std::vector<std::string> rule_names();
/// The rule as a sentence.
std::string rule_text(const Rule& rule);

/// Numbers by arm, by measure (Measure::key) and by seed; NaN of a run that broke.
using SeedValues = std::vector<std::pair<std::uint64_t, double>>;
using ArmValues = std::map<std::string, std::map<std::string, SeedValues>>;
/// The numbers of all seeds; empty where there are none.
std::vector<double> values_of(const ArmValues& values, const std::string& arm, const Measure& measure);

enum class Answer { no, unknown, yes };
/// What the runs say to one rule.
struct Check {
  Answer met = Answer::unknown;    // as it is written
  Answer trend = Answer::unknown;  // its sign, beyond two standard errors; of rules that compare arms
};
Check check_rule(const Rule& rule, const ArmValues& values, const std::map<std::string, double>& paper);

enum class Scale { quick, full };
struct Verdict {
  std::string word;
  std::vector<Check> checks;  // one for each rule
};
/// full, with at least `seeds` seeds of every arm that a rule names: "reproduced", "trend only" or "not reproduced".
/// quick, or fewer seeds: "trend", "no trend" or "too small to tell". Without any numbers: "not run".
Verdict judge(const std::vector<Rule>& rules, const ArmValues& values, const std::map<std::string, double>& paper,
              Scale scale, std::size_t seeds);

}  // namespace throughtime

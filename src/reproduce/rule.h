#pragma once

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
  std::string kind;               // one of rule_names()
  std::vector<std::string> arms;  // each must meet it; falling, rising: in this order
  std::vector<std::string> than;  // less, greater, near, ratio: each arm against each of these; lowest, highest: the
                                  // others; widening, narrowing: the partner of each arm
  Measure measure;
  double low = 0, high = 0;  // above, between, ratio; below, between, ratio
  double share = 0;          // below, above, between: of the seeds; 0: the mean over them
  double margin = 0;   // less, greater: at least so much; falling, rising: forgiven; within, near, spread: at most
  double percent = 0;  // the same as a share of the paper's value (within), of the other mean, of the smallest (spread)
  double p = 0;        // less, greater: Welch's two-sided p is below it; 0: not asked
  bool trend = false;  // its sign alone is the claim's direction

  /// Kinds whose sign can be a trend: they say which of two numbers is the larger one.
  bool has_sign() const;
  /// What it needs numbers of: `arms` and `than`.
  std::vector<std::string> named_arms() const;
};
std::vector<std::string> rule_names();
/// Whether a kind takes `than`.
bool takes_others(const std::string& kind);
/// The rule as a sentence.
std::string rule_text(const Rule& rule);

/// Numbers by arm, by measure (Measure::key) and by seed; NaN of a run that broke.
using SeedValues = std::vector<std::pair<std::uint64_t, double>>;
using ArmValues = std::map<std::string, std::map<std::string, SeedValues>>;
/// The numbers of all seeds; empty where there are none.
std::vector<double> values_of(const ArmValues& values, const std::string& arm, const Measure& measure);

/// A sum of arms, each times its weight: over equal seeds (paired) where all arms ran the same ones, else from
/// independent means.
struct Contrast {
  double value = 0;
  double standard_error = 0;  // NaN where there are fewer than two seeds
  bool paired = false;
};
Contrast contrast_of(const ArmValues& values, const Measure& measure,
                     const std::vector<std::pair<std::string, double>>& weights);

enum class Answer { no, unknown, yes };
/// What the runs say to one rule.
struct Check {
  Answer met = Answer::unknown;    // as it is written
  Answer trend = Answer::unknown;  // its sign, beyond two standard errors; of rules that have one
  std::string seen;                // the numbers behind it
};
Check check_rule(const Rule& rule, const ArmValues& values, const std::map<std::string, double>& paper);

}  // namespace throughtime

#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "throughtime/choice.h"

namespace throughtime {

/// What is taken of a curve, or a number of the result.
enum class MeasureHow {
  last,
  final,
  median,
  end,
  mean,
  lowest,
  highest,
  reach,
  share,
  rise,
  decay,
  relapses,
  result,
  dynamic
};
constexpr auto names_of(MeasureHow) {
  return choice_names("last", "final", "median", "end", "mean", "lowest", "highest", "reach", "share", "rise", "decay",
                      "relapses", "result", "dynamic");
}

/// One number of a run.
struct Measure {
  std::string metric;  // a curve, or the name of a number of the result
  MeasureHow how = MeasureHow::last;
  double level = 0;  // reach, share, relapses

  /// Its name in stored results: "validation_mse, lowest".
  std::string key() const;
  /// What an infinite one means.
  std::string infinite_text() const;
};

enum class RuleKind {
  below,
  above,
  between,
  within,
  less,
  greater,
  near,
  falling,
  rising,
  lowest,
  highest,
  spread,
  ratio,
  widening,
  narrowing
};
constexpr auto names_of(RuleKind) {
  return choice_names("below", "above", "between", "within", "less", "greater", "near", "falling", "rising", "lowest",
                      "highest", "spread", "ratio", "widening", "narrowing");
}

/// One condition on the measures of arms.
struct Rule {
  RuleKind kind = RuleKind::below;
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
/// A table of the kinds: the keys that each reads, and what it asks.
std::string rule_kinds_markdown();
/// Whether a kind is about an order of arms, or of their differences. A trend of one asks for a test of its ends and,
/// with three arms or more, for the order of the means between them.
bool asks_for_order(RuleKind kind);
/// Whether a kind takes `than`.
bool takes_others(RuleKind kind);
/// The rule as a sentence.
std::string rule_text(const Rule& rule);

/// Numbers by arm, by measure (Measure::key) and by seed; NaN of a run that broke, infinity where a run never came so
/// far (reach) or an estimate has no bound (median).
using SeedValues = std::vector<std::pair<std::uint64_t, double>>;
using ArmValues = std::map<std::string, std::map<std::string, SeedValues>>;
/// The mean of some numbers; the median where one of them is infinite.
double centre_of(const std::vector<double>& values);
/// How many of them are infinite.
std::size_t count_unreached(const std::vector<double>& values);
/// The numbers of all seeds; empty where there are none.
std::vector<double> values_of(const ArmValues& values, const std::string& arm, const Measure& measure);

/// A sum of arms, each times its weight: over equal seeds (paired) where all arms ran the same ones, else from
/// independent means (Welch).
struct Contrast {
  double value = 0;
  double standard_error = 0;  // NaN where there are fewer than two seeds
  double degrees_of_freedom = 0;
  bool paired = false;
};
Contrast contrast_of(const ArmValues& values, const Measure& measure,
                     const std::vector<std::pair<std::string, double>>& weights);

enum class Answer { no, unknown, yes };  // the least favourable first
constexpr auto names_of(Answer) { return choice_names("no", "cannot be told", "yes"); }
/// A trend is told where the two-sided p of its t test is below this.
inline constexpr double trend_level = 0.05;
/// What a t test says of a direction.
struct Told {
  Answer answer = Answer::unknown;                      // yes or no where p is below trend_level
  double p = std::numeric_limits<double>::quiet_NaN();  // two-sided; NaN: no test could be made
};
/// Several directions that must all hold: one that goes the other way decides, else the one that is least certain.
Told all_of(const Told& first, const Told& second);

/// What the runs say to one rule.
struct Check {
  Answer met = Answer::unknown;  // as it is written
  Told trend = {};               // its sign; of rules that have one
  std::string seen = {};         // the numbers behind it
};
Check check_rule(const Rule& rule, const ArmValues& values, const std::map<std::string, double>& paper);

}  // namespace throughtime

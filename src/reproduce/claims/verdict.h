#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "reproduce/claims/rule.h"

namespace throughtime {

enum class Scale { quick, full };
constexpr auto names_of(Scale) { return choice_names("quick", "full"); }

/// What a run learned, whatever the claim is about. nothing: it made hardly any update, or its loss is above that of a
/// uniform guess; baseline: it is no better than the task's naive baseline; more: it is.
enum class Learned { nothing, baseline, more };
constexpr auto names_of(Learned) { return choice_names("nothing", "baseline", "more"); }
/// By arm, one for each seed; an arm that is left out is not known and counts as one that learned.
using LearnedByArm = std::map<std::string, std::vector<Learned>>;

enum class VerdictWord {
  not_run,
  reproduced,
  trend_only,
  not_reproduced,
  trend,
  no_trend,
  holds,
  does_not_hold,
  too_small,
  too_few,
  proves_nothing
};
constexpr auto names_of(VerdictWord) {
  return choice_names("not run", "reproduced", "trend only", "not reproduced", "trend", "no trend", "holds",
                      "does not hold", "too small to tell", "too few seeds", "proves nothing");
}

struct Verdict {
  VerdictWord word = VerdictWord::not_run;
  std::vector<Check> checks = {};                       // one for each rule
  double p = std::numeric_limits<double>::quiet_NaN();  // of the trends together; NaN: the claim has none, or no test
};

/// What the runs of a claim gave.
struct Evidence {
  const ArmValues& values;
  const std::map<std::string, double>& paper;  // its values, by arm
  Scale scale = Scale::quick;
  std::size_t seeds = 0;      // that full scale asks for
  LearnedByArm learned = {};  // of the runs that the claim may ask about
};

/// The rules that decide a claim below full scale: its trends; of a claim without one those that ask for no number of
/// the paper, which belongs to its setting.
std::vector<Rule> deciding_rules(const std::vector<Rule>& rules);
/// Of all arms that the rules name: 0 where one of them was not run.
std::size_t fewest_seeds(const std::vector<Rule>& rules, const ArmValues& values);
/// Whether the runs speak against the claim: not_reproduced, no_trend, does_not_hold.
bool failed(const Verdict& verdict);
/// full, with at least `seeds` seeds of every arm that a rule names: reproduced, trend_only, not_reproduced, or
/// too_small where all rules are met but a trend is not told. quick, or fewer seeds: trend or no_trend, of a claim
/// without a trend holds or does_not_hold; too_small or too_few (one seed) where that cannot be said. Without any
/// numbers: not_run. proves_nothing: most runs of an arm learned nothing, or no arm of a trend is better than the
/// baseline.
Verdict judge(const std::vector<Rule>& rules, const Evidence& evidence);

}  // namespace throughtime

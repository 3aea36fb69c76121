#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "reproduce/rule.h"

namespace throughtime {

enum class Scale { quick, full };
constexpr auto names_of(Scale) { return choice_names("quick", "full"); }

enum class VerdictWord { not_run, reproduced, trend_only, not_reproduced, trend, no_trend, too_small };
constexpr auto names_of(VerdictWord) {
  return choice_names("not run", "reproduced", "trend only", "not reproduced", "trend", "no trend",
                      "too small to tell");
}

struct Verdict {
  VerdictWord word = VerdictWord::not_run;
  std::vector<Check> checks;  // one for each rule
};
/// Of all arms that the rules name: 0 where one of them was not run.
std::size_t fewest_seeds(const std::vector<Rule>& rules, const ArmValues& values);
/// Whether the runs speak against the claim: not_reproduced, no_trend.
bool failed(const Verdict& verdict);
/// full, with at least `seeds` seeds of every arm that a rule names: reproduced, trend_only or not_reproduced. quick,
/// or fewer seeds: trend, no_trend or too_small. Without any numbers: not_run.
Verdict judge(const std::vector<Rule>& rules, const ArmValues& values, const std::map<std::string, double>& paper,
              Scale scale, std::size_t seeds);

}  // namespace throughtime

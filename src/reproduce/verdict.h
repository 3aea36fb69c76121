#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "reproduce/rule.h"

namespace throughtime {

enum class Scale { quick, full };
inline constexpr const char* not_run = "not run";
struct Verdict {
  std::string word;
  std::vector<Check> checks;  // one for each rule
};
/// Of all arms that the rules name: 0 where one of them was not run.
std::size_t fewest_seeds(const std::vector<Rule>& rules, const ArmValues& values);
/// Whether the runs speak against the claim: "not reproduced", "no trend".
bool failed(const Verdict& verdict);
/// full, with at least `seeds` seeds of every arm that a rule names: "reproduced", "trend only" or "not reproduced".
/// quick, or fewer seeds: "trend", "no trend" or "too small to tell". Without any numbers: not_run.
Verdict judge(const std::vector<Rule>& rules, const ArmValues& values, const std::map<std::string, double>& paper,
              Scale scale, std::size_t seeds);

}  // namespace throughtime

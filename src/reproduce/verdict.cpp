#include "reproduce/verdict.h"

#include <algorithm>

namespace throughtime {
namespace {

/// Whether any arm of a rule has numbers, be they enough to decide it or not.
bool was_run(const Rule& rule, const ArmValues& values) {
  const std::vector<std::string> arms = rule.named_arms();
  return std::any_of(arms.begin(), arms.end(),
                     [&](const std::string& arm) { return !values_of(values, arm, rule.measure).empty(); });
}

}  // namespace

std::size_t fewest_seeds(const std::vector<Rule>& rules, const ArmValues& values) {
  std::size_t fewest = SIZE_MAX;
  for (const Rule& rule : rules)
    for (const std::string& arm : rule.named_arms())
      fewest = std::min(fewest, values_of(values, arm, rule.measure).size());
  return fewest;
}

bool failed(const Verdict& verdict) {
  return verdict.word == VerdictWord::not_reproduced || verdict.word == VerdictWord::no_trend;
}

Verdict judge(const std::vector<Rule>& rules, const ArmValues& values, const std::map<std::string, double>& paper,
              Scale scale, std::size_t seeds) {
  Verdict verdict;
  bool any = false, all_met = true, directed = false;
  Answer trend = Answer::yes;
  for (const Rule& rule : rules) {
    verdict.checks.push_back(check_rule(rule, values, paper));
    const Check& check = verdict.checks.back();
    any = any || was_run(rule, values);
    all_met = all_met && check.met == Answer::yes;
    directed = directed || rule.trend;
    if (rule.trend) trend = std::min(trend, check.trend);
  }
  if (!any) return verdict;
  if (!directed) trend = Answer::unknown;
  if (scale == Scale::full && fewest_seeds(rules, values) >= seeds) {
    verdict.word = all_met                ? VerdictWord::reproduced
                   : trend == Answer::yes ? VerdictWord::trend_only
                                          : VerdictWord::not_reproduced;
  } else {
    verdict.word = trend == Answer::yes  ? VerdictWord::trend
                   : trend == Answer::no ? VerdictWord::no_trend
                                         : VerdictWord::too_small;
  }
  return verdict;
}

}  // namespace throughtime

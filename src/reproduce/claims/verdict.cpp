#include "reproduce/claims/verdict.h"

#include <algorithm>

namespace throughtime {
namespace {

bool has_trend(const std::vector<Rule>& rules) {
  return std::any_of(rules.begin(), rules.end(), [](const Rule& rule) { return rule.trend; });
}

/// Whether any arm of a rule has numbers, be they enough to decide it or not.
bool was_run(const Rule& rule, const ArmValues& values) {
  const std::vector<std::string> arms = rule.named_arms();
  return std::any_of(arms.begin(), arms.end(),
                     [&](const std::string& arm) { return !values_of(values, arm, rule.measure).empty(); });
}

/// Whether more than half of the runs of an arm learned no more than that.
bool mostly(const LearnedByArm& learned, const std::string& arm, Learned most) {
  const auto found = learned.find(arm);
  if (found == learned.end()) return false;
  const auto runs = std::count_if(found->second.begin(), found->second.end(), [&](Learned one) { return one <= most; });
  return 2 * static_cast<std::size_t>(runs) > found->second.size();
}

bool proves_nothing(const std::vector<Rule>& rules, const LearnedByArm& learned) {
  bool all_at_baseline = !rules.empty() && has_trend(rules);
  for (const Rule& rule : rules)
    for (const std::string& arm : rule.named_arms()) {
      if (mostly(learned, arm, Learned::nothing)) return true;
      all_at_baseline = all_at_baseline && mostly(learned, arm, Learned::baseline);
    }
  return all_at_baseline;
}

/// What the checks of some rules say together.
struct Findings {
  Answer met = Answer::yes;
  Told trend{Answer::yes, 0};
};
Findings findings_of(const std::vector<Rule>& rules, const Evidence& evidence) {
  Findings all;
  for (const Rule& rule : rules) {
    const Check check = check_rule(rule, evidence.values, evidence.paper);
    all.met = std::min(all.met, check.met);
    if (rule.trend) all.trend = all_of(all.trend, check.trend);
  }
  if (!has_trend(rules)) all.trend = {};
  return all;
}

VerdictWord word_at_full_scale(const Findings& all, bool directed) {
  if (all.met != Answer::no && directed && all.trend.answer == Answer::unknown) return VerdictWord::too_small;
  if (all.met == Answer::yes) return VerdictWord::reproduced;
  return all.trend.answer == Answer::yes ? VerdictWord::trend_only : VerdictWord::not_reproduced;
}

VerdictWord word_below_full_scale(const Findings& all, bool directed) {
  switch (directed ? all.trend.answer : all.met) {
    case Answer::yes:
      return directed ? VerdictWord::trend : VerdictWord::holds;
    case Answer::no:
      return directed ? VerdictWord::no_trend : VerdictWord::does_not_hold;
    case Answer::unknown:
      break;
  }
  return VerdictWord::too_small;
}

}  // namespace

std::vector<Rule> deciding_rules(const std::vector<Rule>& rules) {
  const bool directed = has_trend(rules);
  std::vector<Rule> deciding;
  for (const Rule& rule : rules)
    if (directed ? rule.trend : rule.kind != RuleKind::within) deciding.push_back(rule);
  return deciding;
}

std::size_t fewest_seeds(const std::vector<Rule>& rules, const ArmValues& values) {
  std::size_t fewest = SIZE_MAX;
  for (const Rule& rule : rules)
    for (const std::string& arm : rule.named_arms())
      fewest = std::min(fewest, values_of(values, arm, rule.measure).size());
  return fewest;
}

bool failed(const Verdict& verdict) {
  return verdict.word == VerdictWord::not_reproduced || verdict.word == VerdictWord::no_trend ||
         verdict.word == VerdictWord::does_not_hold;
}

Verdict judge(const std::vector<Rule>& rules, const Evidence& evidence) {
  Verdict verdict;
  const bool directed = has_trend(rules);
  for (const Rule& rule : rules) verdict.checks.push_back(check_rule(rule, evidence.values, evidence.paper));
  if (std::none_of(rules.begin(), rules.end(), [&](const Rule& rule) { return was_run(rule, evidence.values); }))
    return verdict;
  const bool full = evidence.scale == Scale::full && fewest_seeds(rules, evidence.values) >= evidence.seeds;
  const std::vector<Rule> asked = full ? rules : deciding_rules(rules);
  const Findings all = findings_of(asked, evidence);
  verdict.p = all.trend.p;
  if (proves_nothing(asked, evidence.learned))
    verdict.word = VerdictWord::proves_nothing;
  else if (full)
    verdict.word = word_at_full_scale(all, directed);
  else if (asked.empty() || fewest_seeds(asked, evidence.values) == 0)
    verdict.word = VerdictWord::too_small;
  else
    verdict.word =
        fewest_seeds(asked, evidence.values) == 1 ? VerdictWord::too_few : word_below_full_scale(all, directed);
  return verdict;
}

}  // namespace throughtime

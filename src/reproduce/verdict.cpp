#include "reproduce/verdict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "report/axis.h"
#include "report/statistics.h"

namespace throughtime {
namespace {

double mean_of(const ArmValues& values, const std::string& arm, const Measure& measure) {
  return summary_of(values_of(values, arm, measure)).mean;
}

Answer answer_of(bool yes) { return yes ? Answer::yes : Answer::no; }

/// The arms that a rule needs numbers of.
std::vector<std::string> named_arms(const Rule& rule) {
  std::vector<std::string> arms = rule.arms;
  arms.insert(arms.end(), rule.than.begin(), rule.than.end());
  return arms;
}

/// Whether one number lies where below, above or between want it; a NaN never does.
bool in_bounds(const Rule& rule, double value) {
  if (rule.kind == "below") return value < rule.high;
  if (rule.kind == "above") return value > rule.low;
  return value >= rule.low && value <= rule.high;
}

bool arm_in_bounds(const Rule& rule, const std::vector<double>& values) {
  if (rule.share == 0) return in_bounds(rule, summary_of(values).mean);
  const auto held =
      std::count_if(values.begin(), values.end(), [&](double value) { return in_bounds(rule, value); });
  return static_cast<double>(held) >= rule.share * static_cast<double>(values.size()) - 1e-9;
}

/// +1 where a larger second value is wanted: less and rising want first < second.
double wanted_sign(const Rule& rule) { return rule.kind == "less" || rule.kind == "rising" ? 1 : -1; }

/// less, greater: the arm is on its side by the margin, and Welch's t says so where it is asked.
bool differs_enough(const Rule& rule, const std::vector<double>& arm, const std::vector<double>& other) {
  const Comparison comparison = welch(arm, other);
  const double gap = wanted_sign(rule) * (summary_of(other).mean - summary_of(arm).mean);
  return gap >= rule.margin && (rule.p == 0 || comparison.p < rule.p);
}

/// The sign of a difference, told only beyond two standard errors.
Answer sign_of(const Rule& rule, const std::vector<double>& first, const std::vector<double>& second) {
  if (first.size() < 2 || second.size() < 2) return Answer::unknown;
  const Comparison comparison = welch(first, second);
  const double gap = wanted_sign(rule) * comparison.difference;
  if (!std::isfinite(gap) || std::abs(gap) <= 2 * comparison.standard_error) return Answer::unknown;
  return answer_of(gap > 0);
}

/// falling, rising: every step within the margin, and the whole way strictly.
bool in_order(const Rule& rule, const ArmValues& values) {
  const double sign = wanted_sign(rule);
  for (std::size_t i = 1; i < rule.arms.size(); ++i) {
    const double before = mean_of(values, rule.arms[i - 1], rule.measure);
    if (!(sign * (mean_of(values, rule.arms[i], rule.measure) - before) >= -rule.margin)) return false;
  }
  return sign * (mean_of(values, rule.arms.back(), rule.measure) - mean_of(values, rule.arms.front(), rule.measure)) > 0;
}

bool met(const Rule& rule, const ArmValues& values, const std::map<std::string, double>& paper) {
  if (rule.kind == "falling" || rule.kind == "rising") return in_order(rule, values);
  return std::all_of(rule.arms.begin(), rule.arms.end(), [&](const std::string& arm) {
    const std::vector<double> own = values_of(values, arm, rule.measure);
    if (rule.kind == "within") return std::abs(summary_of(own).mean - paper.at(arm)) <= rule.margin;
    if (!rule.compares_arms()) return arm_in_bounds(rule, own);
    return std::all_of(rule.than.begin(), rule.than.end(), [&](const std::string& other) {
      return differs_enough(rule, own, values_of(values, other, rule.measure));
    });
  });
}

/// The least favourable of the comparisons: one that goes the other way decides, then one that cannot be told.
Answer trend_of(const Rule& rule, const ArmValues& values) {
  const auto of = [&](const std::string& arm) { return values_of(values, arm, rule.measure); };
  if (rule.kind == "falling" || rule.kind == "rising") return sign_of(rule, of(rule.arms.front()), of(rule.arms.back()));
  Answer worst = Answer::yes;
  for (const std::string& arm : rule.arms)
    for (const std::string& other : rule.than) worst = std::min(worst, sign_of(rule, of(arm), of(other)));
  return worst;
}

std::size_t fewest_seeds(const std::vector<Rule>& rules, const ArmValues& values) {
  std::size_t fewest = SIZE_MAX;
  for (const Rule& rule : rules)
    for (const std::string& arm : named_arms(rule))
      fewest = std::min(fewest, values_of(values, arm, rule.measure).size());
  return fewest;
}

}  // namespace

std::vector<std::string> measure_names() { return {"last", "final", "lowest", "reach", "share", "rise", "result"}; }
std::vector<std::string> rule_names() {
  return {"below", "above", "between", "within", "less", "greater", "falling", "rising"};
}

std::string Measure::key() const {
  const bool leveled = how == "reach" || how == "share";
  return leveled ? fmt::format("{}, {} {}", metric, how, short_number(level)) : fmt::format("{}, {}", metric, how);
}

bool Rule::compares_arms() const {
  return kind == "less" || kind == "greater" || kind == "falling" || kind == "rising";
}

std::string rule_text(const Rule& rule) {
  const auto number = [](double value) { return short_number(value); };
  std::string text = fmt::format("{} of {}", rule.measure.key(), fmt::join(rule.arms, ", "));
  if (rule.kind == "below") text += " below " + number(rule.high);
  if (rule.kind == "above") text += " above " + number(rule.low);
  if (rule.kind == "between") text += fmt::format(" between {} and {}", number(rule.low), number(rule.high));
  if (rule.kind == "within") text += fmt::format(" within {} of the paper's value", number(rule.margin));
  if (rule.kind == "falling" || rule.kind == "rising") {
    text += fmt::format(" {} in this order", rule.kind);
    if (rule.margin > 0) text += fmt::format(" (steps back up to {} forgiven)", number(rule.margin));
  }
  if (rule.kind == "less" || rule.kind == "greater") {
    text += rule.margin < 0 ? fmt::format(" {} than that of {} or at most {} worse", rule.kind,
                                          fmt::join(rule.than, ", "), number(-rule.margin))
                            : fmt::format(" {} than that of {}", rule.kind, fmt::join(rule.than, ", "));
    if (rule.margin > 0) text += fmt::format(" by at least {}", number(rule.margin));
    if (rule.p > 0) text += fmt::format(", Welch's p below {}", number(rule.p));
  }
  if (rule.share > 0) text += fmt::format(" in at least {}% of the seeds", number(100 * rule.share));
  return text;
}

std::vector<double> values_of(const ArmValues& values, const std::string& arm, const Measure& measure) {
  std::vector<double> numbers;
  const auto of_arm = values.find(arm);
  if (of_arm == values.end()) return numbers;
  const auto found = of_arm->second.find(measure.key());
  if (found == of_arm->second.end()) return numbers;
  for (const auto& [seed, value] : found->second) numbers.push_back(value);
  return numbers;
}

Check check_rule(const Rule& rule, const ArmValues& values, const std::map<std::string, double>& paper) {
  for (const std::string& arm : named_arms(rule))
    if (values_of(values, arm, rule.measure).empty()) return {};
  return {answer_of(met(rule, values, paper)), rule.compares_arms() ? trend_of(rule, values) : Answer::unknown};
}

Verdict judge(const std::vector<Rule>& rules, const ArmValues& values, const std::map<std::string, double>& paper,
              Scale scale, std::size_t seeds) {
  Verdict verdict{"not run", {}};
  bool any = false, all_met = true;
  Answer trend = Answer::yes;
  for (const Rule& rule : rules) {
    verdict.checks.push_back(check_rule(rule, values, paper));
    const Check& check = verdict.checks.back();
    any = any || check.met != Answer::unknown;
    all_met = all_met && check.met == Answer::yes;
    if (rule.trend) trend = std::min(trend, check.trend);
  }
  if (!any) return verdict;
  if (scale == Scale::full && fewest_seeds(rules, values) >= seeds) {
    verdict.word = all_met ? "reproduced" : trend == Answer::yes ? "trend only" : "not reproduced";
  } else {
    verdict.word = trend == Answer::yes ? "trend" : trend == Answer::no ? "no trend" : "too small to tell";
  }
  return verdict;
}

}  // namespace throughtime

#include "reproduce/rule.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "report/axis.h"
#include "report/statistics.h"

namespace throughtime {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

bool is_one_of(RuleKind kind, std::initializer_list<RuleKind> kinds) {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

double mean_of(const ArmValues& values, const std::string& arm, const Measure& measure) {
  return summary_of(values_of(values, arm, measure)).mean;
}

std::vector<double> means_of(const ArmValues& values, const std::vector<std::string>& arms, const Measure& measure) {
  std::vector<double> means;
  for (const std::string& arm : arms) means.push_back(mean_of(values, arm, measure));
  return means;
}

Answer answer_of(bool yes) { return yes ? Answer::yes : Answer::no; }

/// What a rule allows or asks for, beside the number that `percent` speaks of.
double allowance(const Rule& rule, double reference) {
  return rule.percent != 0 ? rule.percent / 100 * std::abs(reference) : rule.margin;
}

/// Whether one number lies where below, above or between want it; a NaN never does.
bool in_bounds(const Rule& rule, double value) {
  if (rule.kind == RuleKind::below) return value < rule.high;
  if (rule.kind == RuleKind::above) return value > rule.low;
  return value >= rule.low && value <= rule.high;
}

bool arm_in_bounds(const Rule& rule, const std::vector<double>& values) {
  if (rule.share == 0) return in_bounds(rule, summary_of(values).mean);
  const auto held = std::count_if(values.begin(), values.end(), [&](double value) { return in_bounds(rule, value); });
  return static_cast<double>(held) >= rule.share * static_cast<double>(values.size()) - 1e-9;
}

/// +1 where the rule wants its first number to be the smaller one.
double wanted_sign(const Rule& rule) {
  return is_one_of(rule.kind, {RuleKind::less, RuleKind::rising, RuleKind::lowest, RuleKind::widening, RuleKind::below})
             ? 1
             : -1;
}

/// One arm against another: less, greater, near, ratio.
bool pair_meets(const Rule& rule, const std::vector<double>& arm, const std::vector<double>& other) {
  const double own = summary_of(arm).mean, reference = summary_of(other).mean;
  const double allowed = allowance(rule, reference);
  if (rule.kind == RuleKind::near) return std::abs(own - reference) <= allowed;
  if (rule.kind == RuleKind::ratio) return own / reference >= rule.low && own / reference <= rule.high;
  const bool told = rule.p == 0 || welch(arm, other).p < rule.p;
  const double gap = wanted_sign(rule) * (reference - own);
  return told && (allowed == 0 ? gap > 0 : gap >= allowed);
}

/// Every step within the margin, and the whole way strictly.
bool in_order(const Rule& rule, const std::vector<double>& numbers) {
  const double sign = wanted_sign(rule);
  for (std::size_t i = 1; i < numbers.size(); ++i)
    if (!(sign * (numbers[i] - numbers[i - 1]) >= -allowance(rule, numbers[i - 1]))) return false;
  return sign * (numbers.back() - numbers.front()) > 0;
}

/// The differences of the arms and their partners.
std::vector<double> gaps_of(const Rule& rule, const ArmValues& values) {
  std::vector<double> gaps;
  for (std::size_t i = 0; i < rule.arms.size(); ++i)
    gaps.push_back(mean_of(values, rule.arms[i], rule.measure) - mean_of(values, rule.than[i], rule.measure));
  return gaps;
}

/// The arm with the best mean for lowest, highest; one that broke is the worst.
std::string best_of(const Rule& rule, const ArmValues& values, const std::vector<std::string>& arms) {
  const auto worth = [&](const std::string& arm) {
    const double mean = mean_of(values, arm, rule.measure);
    return std::isfinite(mean) ? wanted_sign(rule) * mean : infinity;
  };
  return *std::min_element(arms.begin(), arms.end(),
                           [&](const std::string& a, const std::string& b) { return worth(a) < worth(b); });
}

bool best_is_among_arms(const Rule& rule, const ArmValues& values) {
  const std::string best = best_of(rule, values, rule.named_arms());
  return std::isfinite(mean_of(values, best, rule.measure)) &&
         std::find(rule.arms.begin(), rule.arms.end(), best) != rule.arms.end();
}

bool spread_is_small(const Rule& rule, const ArmValues& values) {
  const std::vector<double> means = means_of(values, rule.arms, rule.measure);
  if (!std::all_of(means.begin(), means.end(), [](double mean) { return std::isfinite(mean); })) return false;
  const auto [low, high] = std::minmax_element(means.begin(), means.end());
  return *high - *low <= allowance(rule, *low);
}

bool met(const Rule& rule, const ArmValues& values, const std::map<std::string, double>& paper) {
  if (is_one_of(rule.kind, {RuleKind::falling, RuleKind::rising}))
    return in_order(rule, means_of(values, rule.arms, rule.measure));
  if (is_one_of(rule.kind, {RuleKind::widening, RuleKind::narrowing})) return in_order(rule, gaps_of(rule, values));
  if (is_one_of(rule.kind, {RuleKind::lowest, RuleKind::highest})) return best_is_among_arms(rule, values);
  if (rule.kind == RuleKind::spread) return spread_is_small(rule, values);
  return std::all_of(rule.arms.begin(), rule.arms.end(), [&](const std::string& arm) {
    const std::vector<double> own = values_of(values, arm, rule.measure);
    if (rule.kind == RuleKind::within)
      return std::abs(summary_of(own).mean - paper.at(arm)) <= allowance(rule, paper.at(arm));
    if (!takes_others(rule.kind)) return arm_in_bounds(rule, own);
    return std::all_of(rule.than.begin(), rule.than.end(), [&](const std::string& other) {
      return pair_meets(rule, own, values_of(values, other, rule.measure));
    });
  });
}

/// The sign of a number, told only beyond two standard errors.
Answer sign_of(double value, double standard_error) {
  if (!std::isfinite(value) || !std::isfinite(standard_error) || std::abs(value) <= 2 * standard_error)
    return Answer::unknown;
  return answer_of(value > 0);
}

Answer sign_of(const Rule& rule, const ArmValues& values, const std::string& first, const std::string& second) {
  const Contrast contrast = contrast_of(values, rule.measure, {{second, 1}, {first, -1}});
  return sign_of(wanted_sign(rule) * contrast.value, contrast.standard_error);
}

/// The least favourable of the comparisons: one that goes the other way decides, then one that cannot be told.
Answer trend_of(const Rule& rule, const ArmValues& values) {
  const std::string &first = rule.arms.front(), &last = rule.arms.back();
  if (is_one_of(rule.kind, {RuleKind::falling, RuleKind::rising})) return sign_of(rule, values, first, last);
  if (is_one_of(rule.kind, {RuleKind::lowest, RuleKind::highest}))
    return sign_of(rule, values, best_of(rule, values, rule.arms), best_of(rule, values, rule.than));
  if (is_one_of(rule.kind, {RuleKind::widening, RuleKind::narrowing})) {
    const Contrast contrast =
        contrast_of(values, rule.measure, {{last, 1}, {rule.than.back(), -1}, {first, -1}, {rule.than.front(), 1}});
    return sign_of(wanted_sign(rule) * contrast.value, contrast.standard_error);
  }
  Answer worst = Answer::yes;
  for (const std::string& arm : rule.arms) {
    if (is_one_of(rule.kind, {RuleKind::below, RuleKind::above})) {
      const Summary own = summary_of(values_of(values, arm, rule.measure));
      const double bound = rule.kind == RuleKind::below ? rule.high : rule.low;
      worst = std::min(worst, sign_of(wanted_sign(rule) * (bound - own.mean), own.standard_error));
    }
    for (const std::string& other : rule.than) worst = std::min(worst, sign_of(rule, values, arm, other));
  }
  return worst;
}

std::string number(double value) { return std::isfinite(value) ? short_number(value) : "no number"; }

std::string numbers(const std::vector<double>& values) {
  std::string text;
  for (const double value : values) text += (text.empty() ? "" : ", ") + number(value);
  return text;
}

/// "-0.12 ± 0.02, p 0.003": arm minus other, the standard error of equal seeds where there are such, Welch's p.
std::string difference_text(const Rule& rule, const ArmValues& values, const std::string& arm,
                            const std::string& other) {
  const Contrast contrast = contrast_of(values, rule.measure, {{arm, 1}, {other, -1}});
  std::string text = number(contrast.value);
  if (!std::isfinite(contrast.standard_error)) return text;
  text += fmt::format(" ± {}", short_number(contrast.standard_error, 2));
  const double p = welch(values_of(values, arm, rule.measure), values_of(values, other, rule.measure)).p;
  return std::isfinite(p) ? text + fmt::format(", p {}", short_number(p, 2)) : text;
}

/// The numbers that decide a rule, as short as they can be told.
std::string seen_of(const Rule& rule, const ArmValues& values) {
  if (is_one_of(rule.kind, {RuleKind::widening, RuleKind::narrowing}))
    return "differences " + numbers(gaps_of(rule, values));
  if (is_one_of(rule.kind, {RuleKind::lowest, RuleKind::highest})) {
    const std::string best = best_of(rule, values, rule.named_arms());
    return fmt::format("{} {}", best, number(mean_of(values, best, rule.measure)));
  }
  if (!takes_others(rule.kind)) return numbers(means_of(values, rule.arms, rule.measure));
  std::string text;
  for (const std::string& arm : rule.arms)
    for (const std::string& other : rule.than) {
      const double ratio = mean_of(values, arm, rule.measure) / mean_of(values, other, rule.measure);
      text += (text.empty() ? "" : "; ") +
              (rule.kind == RuleKind::ratio ? number(ratio) : difference_text(rule, values, arm, other));
    }
  return text;
}

/// "0.05", or "3% of that" where it is a share.
std::string margin_text(const Rule& rule, const char* of) {
  return rule.percent != 0 ? fmt::format("{}%{}", short_number(std::abs(rule.percent)), of)
                           : short_number(std::abs(rule.margin));
}

std::string comparison_text(const Rule& rule) {
  const std::string others = fmt::format("{}", fmt::join(rule.than, ", "));
  if (rule.kind == RuleKind::near) return fmt::format(" within {} of {}", margin_text(rule, ""), others);
  if (rule.kind == RuleKind::ratio)
    return fmt::format(" over that of {} between {} and {}", others, number(rule.low), number(rule.high));
  if (is_one_of(rule.kind, {RuleKind::lowest, RuleKind::highest}))
    return fmt::format(" has the {}, not {}", name_of(rule.kind), others);
  if (is_one_of(rule.kind, {RuleKind::widening, RuleKind::narrowing}))
    return fmt::format(" minus that of {} is {} in this order", others, name_of(rule.kind));
  std::string text = fmt::format(" {} than that of {}", name_of(rule.kind), others);
  if (rule.margin < 0 || rule.percent < 0) text += fmt::format(" or at most {} worse", margin_text(rule, ""));
  if (rule.margin > 0 || rule.percent > 0) text += fmt::format(" by at least {}", margin_text(rule, " of it"));
  return rule.p > 0 ? text + fmt::format(", Welch's p below {}", number(rule.p)) : text;
}

}  // namespace

bool takes_others(RuleKind kind) {
  return is_one_of(kind, {RuleKind::less, RuleKind::greater, RuleKind::near, RuleKind::ratio, RuleKind::lowest,
                          RuleKind::highest, RuleKind::widening, RuleKind::narrowing});
}

std::string Measure::key() const {
  const bool leveled = how == MeasureHow::reach || how == MeasureHow::share;
  const std::string text = fmt::format("{}, {}", metric, name_of(how));
  return leveled ? fmt::format("{} {}", text, short_number(level)) : text;
}

bool Rule::has_sign() const {
  return !is_one_of(kind, {RuleKind::between, RuleKind::within, RuleKind::near, RuleKind::spread, RuleKind::ratio});
}

std::vector<std::string> Rule::named_arms() const {
  std::vector<std::string> named = arms;
  named.insert(named.end(), than.begin(), than.end());
  return named;
}

std::string rule_text(const Rule& rule) {
  std::string text = fmt::format("{} of {}", rule.measure.key(), fmt::join(rule.arms, ", "));
  if (takes_others(rule.kind)) return text + comparison_text(rule);
  if (rule.kind == RuleKind::below) text += " below " + number(rule.high);
  if (rule.kind == RuleKind::above) text += " above " + number(rule.low);
  if (rule.kind == RuleKind::between) text += fmt::format(" between {} and {}", number(rule.low), number(rule.high));
  if (rule.kind == RuleKind::within) text += fmt::format(" within {} of the paper's value", margin_text(rule, ""));
  if (rule.kind == RuleKind::spread)
    text += fmt::format(" differ by at most {}", margin_text(rule, " of the smallest"));
  if (is_one_of(rule.kind, {RuleKind::falling, RuleKind::rising})) {
    text += fmt::format(" {} in this order", name_of(rule.kind));
    if (rule.margin != 0 || rule.percent != 0)
      text += fmt::format(" (steps back up to {} forgiven)", margin_text(rule, ""));
  }
  if (rule.share > 0) text += fmt::format(" in at least {}% of the seeds", number(100 * rule.share));
  return text;
}

std::vector<double> values_of(const ArmValues& values, const std::string& arm, const Measure& measure) {
  std::vector<double> found_values;
  const auto of_arm = values.find(arm);
  if (of_arm == values.end()) return found_values;
  const auto found = of_arm->second.find(measure.key());
  if (found == of_arm->second.end()) return found_values;
  for (const auto& [seed, value] : found->second) found_values.push_back(value);
  return found_values;
}

Contrast contrast_of(const ArmValues& values, const Measure& measure,
                     const std::vector<std::pair<std::string, double>>& weights) {
  std::map<std::uint64_t, std::pair<std::size_t, double>> by_seed;  // arms with that seed, their sum
  Contrast contrast;
  double variance = 0;
  std::size_t largest = 0;
  for (const auto& [arm, weight] : weights) {
    const Summary own = summary_of(values_of(values, arm, measure));
    contrast.value += weight * own.mean;
    variance += weight * weight * own.standard_error * own.standard_error;
    largest = std::max(largest, own.count);
    if (own.count == 0) continue;
    for (const auto& [seed, value] : values.at(arm).at(measure.key())) {
      ++by_seed[seed].first;
      by_seed[seed].second += weight * value;
    }
  }
  contrast.standard_error = std::sqrt(variance);
  const bool same_seeds =
      by_seed.size() == largest &&
      std::all_of(by_seed.begin(), by_seed.end(), [&](const auto& one) { return one.second.first == weights.size(); });
  if (!same_seeds || largest < 2) return contrast;
  std::vector<double> sums;
  for (const auto& [seed, sum] : by_seed) sums.push_back(sum.second);
  contrast.standard_error = summary_of(sums).standard_error;
  contrast.paired = true;
  return contrast;
}

Check check_rule(const Rule& rule, const ArmValues& values, const std::map<std::string, double>& paper) {
  for (const std::string& arm : rule.named_arms())
    if (values_of(values, arm, rule.measure).empty()) return {};
  return {answer_of(met(rule, values, paper)), rule.has_sign() ? trend_of(rule, values) : Answer::unknown,
          seen_of(rule, values)};
}

}  // namespace throughtime

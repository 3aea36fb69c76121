#include "reproduce/claims/rule.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "report/charts/axis.h"
#include "report/statistics.h"

namespace throughtime {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

template <class Kind>
bool is_one_of(Kind kind, std::initializer_list<Kind> kinds) {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

double mean_of(const ArmValues& values, const std::string& arm, const Measure& measure) {
  return centre_of(values_of(values, arm, measure));
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
  if (rule.share == 0) return in_bounds(rule, centre_of(values));
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
  const double own = centre_of(arm), reference = centre_of(other);
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

/// The direction that gaps have: that of the paper where it has numbers, else our own.
double sign_of_gaps(const Rule& rule, const std::map<std::string, double>& paper, double own) {
  const auto arm = paper.find(rule.arms.front()), other = paper.find(rule.than.front());
  const double gap = arm != paper.end() && other != paper.end() ? arm->second - other->second : own;
  return gap < 0 ? -1 : 1;
}

/// The differences of the arms and their partners.
std::vector<double> gaps_of(const Rule& rule, const ArmValues& values) {
  std::vector<double> gaps;
  for (std::size_t i = 0; i < rule.arms.size(); ++i)
    gaps.push_back(mean_of(values, rule.arms[i], rule.measure) - mean_of(values, rule.than[i], rule.measure));
  return gaps;
}

/// Gaps that get smaller and keep their direction.
bool gaps_narrow(const Rule& rule, const std::vector<double>& gaps, double sign) {
  std::vector<double> sizes;
  for (const double gap : gaps) {
    if (!(sign * gap >= -allowance(rule, gap))) return false;
    sizes.push_back(std::abs(gap));
  }
  return in_order(rule, sizes);
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
  if (rule.kind == RuleKind::widening) return in_order(rule, gaps_of(rule, values));
  if (rule.kind == RuleKind::narrowing) {
    const std::vector<double> gaps = gaps_of(rule, values);
    return gaps_narrow(rule, gaps, sign_of_gaps(rule, paper, gaps.front()));
  }
  if (is_one_of(rule.kind, {RuleKind::lowest, RuleKind::highest})) return best_is_among_arms(rule, values);
  if (rule.kind == RuleKind::spread) return spread_is_small(rule, values);
  return std::all_of(rule.arms.begin(), rule.arms.end(), [&](const std::string& arm) {
    const std::vector<double> own = values_of(values, arm, rule.measure);
    if (rule.kind == RuleKind::within)
      return std::abs(centre_of(own) - paper.at(arm)) <= allowance(rule, paper.at(arm));
    if (!takes_others(rule.kind)) return arm_in_bounds(rule, own);
    return std::all_of(rule.than.begin(), rule.than.end(), [&](const std::string& other) {
      return pair_meets(rule, own, values_of(values, other, rule.measure));
    });
  });
}

/// The sign of a number, told by a t test.
Told sign_of(double value, double standard_error, double degrees_of_freedom) {
  const double p = p_of(value, standard_error, degrees_of_freedom);
  return {p < trend_level ? answer_of(value > 0) : Answer::unknown, p};
}

/// Of a sum of arms times `sign`.
Told sign_of(const Rule& rule, const ArmValues& values, double sign,
             const std::vector<std::pair<std::string, double>>& weights) {
  const Contrast contrast = contrast_of(values, rule.measure, weights);
  return sign_of(sign * contrast.value, contrast.standard_error, contrast.degrees_of_freedom);
}

/// Of one arm against another; by ranks where a run of them never came so far, for then there is no mean.
Told sign_of(const Rule& rule, const ArmValues& values, const std::string& first, const std::string& second) {
  const std::vector<double> a = values_of(values, first, rule.measure), b = values_of(values, second, rule.measure);
  if (count_unreached(a) + count_unreached(b) > 0) {
    const RankComparison test = rank_sum(a, b);
    return {test.p < trend_level ? answer_of(wanted_sign(rule) * test.difference > 0) : Answer::unknown, test.p};
  }
  return sign_of(rule, values, wanted_sign(rule), {{second, 1}, {first, -1}});
}

/// The first gap is there and the last one is smaller, and not one in the other direction.
Told narrowing_of(const Rule& rule, const ArmValues& values, const std::map<std::string, double>& paper) {
  const std::string &first = rule.arms.front(), &last = rule.arms.back();
  const std::string &first_other = rule.than.front(), &last_other = rule.than.back();
  const double sign = sign_of_gaps(rule, paper, gaps_of(rule, values).front());
  const Told there = sign_of(rule, values, sign, {{first, 1}, {first_other, -1}});
  const Told smaller = sign_of(rule, values, sign, {{first, 1}, {first_other, -1}, {last, -1}, {last_other, 1}});
  const Told turned = sign_of(rule, values, sign, {{last, 1}, {last_other, -1}});
  return turned.answer == Answer::no ? turned : all_of(there, smaller);
}

/// Of below and above: the mean of one arm against the bound.
Told bound_of(const Rule& rule, const std::vector<double>& values) {
  const Comparison test = against(values, rule.kind == RuleKind::below ? rule.high : rule.low);
  return sign_of(-wanted_sign(rule) * test.difference, test.standard_error, test.degrees_of_freedom);
}

/// The test of the first and the last of several arms.
Told ends_of(const Rule& rule, const ArmValues& values, const std::map<std::string, double>& paper) {
  const std::string &first = rule.arms.front(), &last = rule.arms.back();
  if (rule.kind == RuleKind::narrowing) return narrowing_of(rule, values, paper);
  if (rule.kind == RuleKind::widening)
    return sign_of(rule, values, 1, {{last, 1}, {rule.than.back(), -1}, {first, -1}, {rule.than.front(), 1}});
  return sign_of(rule, values, first, last);
}

/// An order needs more than its ends: the means between them must be in it, too.
Told order_of(const Rule& rule, const ArmValues& values, const std::map<std::string, double>& paper) {
  Told ends = ends_of(rule, values, paper);
  if (ends.answer == Answer::yes && rule.arms.size() > 2 && !met(rule, values, paper)) ends.answer = Answer::unknown;
  return ends;
}

Told trend_of(const Rule& rule, const ArmValues& values, const std::map<std::string, double>& paper) {
  if (asks_for_order(rule.kind)) return order_of(rule, values, paper);
  if (is_one_of(rule.kind, {RuleKind::lowest, RuleKind::highest}))
    return sign_of(rule, values, best_of(rule, values, rule.arms), best_of(rule, values, rule.than));
  Told worst{Answer::yes, 0};
  for (const std::string& arm : rule.arms) {
    if (is_one_of(rule.kind, {RuleKind::below, RuleKind::above}))
      worst = all_of(worst, bound_of(rule, values_of(values, arm, rule.measure)));
    for (const std::string& other : rule.than) worst = all_of(worst, sign_of(rule, values, arm, other));
  }
  return worst;
}

std::string number(double value) {
  if (std::isinf(value)) return "infinite";
  return std::isfinite(value) ? short_number(value) : "no number";
}

std::string numbers(const std::vector<double>& values) {
  std::string text;
  for (const double value : values) text += (text.empty() ? "" : ", ") + number(value);
  return text;
}

/// "-0.12 ± 0.02": arm minus other, the standard error of equal seeds where there are such, and Welch's p where it is
/// asked for.
std::string difference_text(const Rule& rule, const ArmValues& values, const std::string& arm,
                            const std::string& other) {
  const Contrast contrast = contrast_of(values, rule.measure, {{arm, 1}, {other, -1}});
  std::string text = number(contrast.value);
  if (!std::isfinite(contrast.standard_error)) return text;
  text += fmt::format(" ± {}", short_number(contrast.standard_error, 2));
  const double p = welch(values_of(values, arm, rule.measure), values_of(values, other, rule.measure)).p;
  return rule.p > 0 && std::isfinite(p) ? text + fmt::format(", Welch's p {}", short_number(p, 2)) : text;
}

/// "fptt: not reached in 5 of 5; bptt: not reached in 2 of 5"; empty where all runs came so far.
std::string unreached_text(const Rule& rule, const ArmValues& values) {
  std::string text;
  for (const std::string& arm : rule.named_arms()) {
    const std::vector<double> own = values_of(values, arm, rule.measure);
    if (const std::size_t unreached = count_unreached(own); unreached > 0)
      text += fmt::format("{}{}: {} in {} of {}", text.empty() ? "" : "; ", arm, rule.measure.infinite_text(),
                          unreached, own.size());
  }
  return text;
}

/// Whether arms are compared of which no run came so far: nothing can be told.
bool never_reached(const Rule& rule, const ArmValues& values) {
  if (!takes_others(rule.kind) && !asks_for_order(rule.kind)) return false;
  const std::vector<std::string> arms = rule.named_arms();
  return std::all_of(arms.begin(), arms.end(), [&](const std::string& arm) {
    const std::vector<double> own = values_of(values, arm, rule.measure);
    return count_unreached(own) == own.size();
  });
}

/// The numbers that decide a rule, as short as they can be told.
std::string seen_of(const Rule& rule, const ArmValues& values) {
  if (const std::string unreached = unreached_text(rule, values); !unreached.empty()) return unreached;
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
  const std::string arms = fmt::format("{}", fmt::join(rule.arms, ", "));
  const char* is = rule.arms.size() == 1 ? "is" : "are";
  if (rule.kind == RuleKind::near) return fmt::format("{} {} within {} of {}", arms, is, margin_text(rule, ""), others);
  if (rule.kind == RuleKind::ratio)
    return fmt::format("{} over {} {} between {} and {}", arms, others, is, number(rule.low), number(rule.high));
  if (is_one_of(rule.kind, {RuleKind::lowest, RuleKind::highest}))
    return rule.arms.size() == 1 ? fmt::format("{} is the {}, {} is not", arms, name_of(rule.kind), others)
                                 : fmt::format("one of {} is the {}, {} is not", arms, name_of(rule.kind), others);
  if (is_one_of(rule.kind, {RuleKind::widening, RuleKind::narrowing}))
    return fmt::format("{} minus {} {} {} in this order", arms, others, is, name_of(rule.kind));
  std::string text = fmt::format("{} {} {} than {}", arms, is, name_of(rule.kind), others);
  if (rule.margin < 0 || rule.percent < 0) text += fmt::format(", or at most {} worse", margin_text(rule, ""));
  if (rule.margin > 0 || rule.percent > 0) text += fmt::format(" by at least {}", margin_text(rule, " of it"));
  return rule.p > 0 ? text + fmt::format(", Welch's p below {}", number(rule.p)) : text;
}

}  // namespace

bool asks_for_order(RuleKind kind) {
  return is_one_of(kind, {RuleKind::falling, RuleKind::rising, RuleKind::widening, RuleKind::narrowing});
}

bool takes_others(RuleKind kind) {
  return is_one_of(kind, {RuleKind::less, RuleKind::greater, RuleKind::near, RuleKind::ratio, RuleKind::lowest,
                          RuleKind::highest, RuleKind::widening, RuleKind::narrowing});
}

std::string Measure::key() const {
  const bool leveled = is_one_of(how, {MeasureHow::reach, MeasureHow::share, MeasureHow::relapses});
  const std::string text = fmt::format("{}, {}", metric, name_of(how));
  return leveled ? fmt::format("{} {}", text, short_number(level)) : text;
}

std::string Measure::infinite_text() const { return how == MeasureHow::reach ? "not reached" : "without bound"; }

bool Rule::has_sign() const {
  return !is_one_of(kind, {RuleKind::between, RuleKind::within, RuleKind::near, RuleKind::spread, RuleKind::ratio});
}

std::vector<std::string> Rule::named_arms() const {
  std::vector<std::string> named = arms;
  named.insert(named.end(), than.begin(), than.end());
  return named;
}

std::string rule_text(const Rule& rule) {
  const std::string measure = fmt::format(" ({})", rule.measure.key());
  if (takes_others(rule.kind)) return comparison_text(rule) + measure;
  std::string text = fmt::format("{}", fmt::join(rule.arms, ", "));
  const char* is = rule.arms.size() == 1 ? "is" : "are";
  if (rule.kind == RuleKind::below) text += fmt::format(" {} below {}", is, number(rule.high));
  if (rule.kind == RuleKind::above) text += fmt::format(" {} above {}", is, number(rule.low));
  if (rule.kind == RuleKind::between)
    text += fmt::format(" {} between {} and {}", is, number(rule.low), number(rule.high));
  if (rule.kind == RuleKind::within)
    text += fmt::format(" {} within {} of the paper's value", is, margin_text(rule, ""));
  if (rule.kind == RuleKind::spread)
    text += fmt::format(" differ by at most {}", margin_text(rule, " of the smallest"));
  if (is_one_of(rule.kind, {RuleKind::falling, RuleKind::rising})) {
    text += fmt::format(" {} in this order", rule.kind == RuleKind::falling ? "fall" : "rise");
    if (rule.margin != 0 || rule.percent != 0)
      text += fmt::format(" and go back by at most {} in a step", margin_text(rule, ""));
  }
  if (rule.share > 0) text += fmt::format(" in at least {}% of the seeds", number(100 * rule.share));
  return text + measure;
}

Told all_of(const Told& first, const Told& second) {
  if (first.answer != second.answer && std::min(first.answer, second.answer) == Answer::no)
    return first.answer == Answer::no ? first : second;
  if (first.answer == Answer::no) return first.p < second.p ? first : second;
  const bool second_is_worse = std::isnan(second.p) || second.p > first.p;
  return std::isnan(first.p) || !second_is_worse ? first : second;
}

Check check_rule(const Rule& rule, const ArmValues& values, const std::map<std::string, double>& paper) {
  for (const std::string& arm : rule.named_arms())
    if (values_of(values, arm, rule.measure).empty()) return {};
  if (never_reached(rule, values)) return {.seen = unreached_text(rule, values)};
  return {answer_of(met(rule, values, paper)), rule.has_sign() ? trend_of(rule, values, paper) : Told(),
          seen_of(rule, values)};
}

}  // namespace throughtime

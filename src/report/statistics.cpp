#include "report/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "throughtime/error.h"

namespace throughtime {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// The continued fraction of the incomplete beta function, by Lentz's method; converges for x < (a + 1) / (a + b + 2).
double beta_fraction(double a, double b, double x) {
  constexpr double tiny = 1e-300;
  const auto away_from_zero = [](double value) { return std::abs(value) < tiny ? tiny : value; };
  double c = 1;
  double d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
  double fraction = d;
  for (int m = 1; m <= 1000; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away_from_zero(1 + even * d);
    c = away_from_zero(1 + even / c);
    fraction *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away_from_zero(1 + odd * d);
    c = away_from_zero(1 + odd / c);
    fraction *= d * c;
    if (std::abs(d * c - 1) < 1e-15) break;
  }
  return fraction;
}

/// Fills t and p of a comparison whose difference, error and degrees are known.
Comparison tested(Comparison comparison) {
  comparison.t = comparison.standard_error > 0 ? comparison.difference / comparison.standard_error : nan;
  comparison.p = student_two_sided(comparison.t, comparison.degrees_of_freedom);
  return comparison;
}

/// Twice the ranks of the values among all of them, from 2 on: whole numbers where equal values share theirs.
std::vector<std::size_t> doubled_ranks(const std::vector<double>& values) {
  std::vector<std::size_t> ranks;
  for (const double value : values) {
    const auto below = std::count_if(values.begin(), values.end(), [&](double other) { return other < value; });
    const auto equal = std::count(values.begin(), values.end(), value);
    ranks.push_back(static_cast<std::size_t>(2 * below + equal + 1));
  }
  return ranks;
}

/// How many ways there are to choose `count` of the ranks, by their sum.
std::vector<double> ways_by_sum(const std::vector<std::size_t>& ranks, std::size_t count) {
  const std::size_t largest = std::accumulate(ranks.begin(), ranks.end(), std::size_t{0});
  std::vector<std::vector<double>> ways(count + 1, std::vector<double>(largest + 1, 0));  // [chosen][sum]
  ways[0][0] = 1;
  for (const std::size_t rank : ranks)
    for (std::size_t chosen = count; chosen > 0; --chosen)
      for (std::size_t sum = largest; sum >= rank; --sum) ways[chosen][sum] += ways[chosen - 1][sum - rank];
  return ways[count];
}

}  // namespace

Summary summary_of(const std::vector<double>& values) {
  double mean = values.empty() ? nan : 0, count = 0;
  for (const double value : values) mean += (value - mean) / ++count;  // exact where all are equal
  Summary summary{.count = values.size(), .mean = mean, .deviation = nan, .standard_error = nan};
  if (values.size() < 2) return summary;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  summary.deviation = std::sqrt(squares / (count - 1));
  summary.standard_error = summary.deviation / std::sqrt(count);
  return summary;
}

Comparison welch(const std::vector<double>& first, const std::vector<double>& second) {
  const Summary a = summary_of(first), b = summary_of(second);
  const double variance_a = a.standard_error * a.standard_error, variance_b = b.standard_error * b.standard_error;
  const double variance = variance_a + variance_b;
  const auto count = [](const Summary& summary) { return static_cast<double>(summary.count); };
  return tested(
      {.difference = b.mean - a.mean,
       .standard_error = std::sqrt(variance),
       .degrees_of_freedom = variance * variance /
                             (variance_a * variance_a / (count(a) - 1) + variance_b * variance_b / (count(b) - 1))});
}

Comparison paired(const std::vector<double>& first, const std::vector<double>& second) {
  if (first.size() != second.size())
    refuse("statistics", "pairs need as many values on either side, got {} and {}", first.size(), second.size());
  std::vector<double> differences;
  for (std::size_t i = 0; i < first.size(); ++i) differences.push_back(second[i] - first[i]);
  const Summary summary = summary_of(differences);
  return tested({.difference = summary.mean,
                 .standard_error = summary.standard_error,
                 .degrees_of_freedom = static_cast<double>(summary.count) - 1});
}

Comparison against(const std::vector<double>& values, double number) {
  return paired(std::vector<double>(values.size(), number), values);
}

double p_of(double difference, double standard_error, double degrees_of_freedom) {
  if (standard_error == 0 && std::isfinite(difference)) return difference == 0 ? 1 : 0;
  return student_two_sided(difference / standard_error, degrees_of_freedom);
}

RankComparison rank_sum(const std::vector<double>& first, const std::vector<double>& second) {
  std::vector<double> all = first;
  all.insert(all.end(), second.begin(), second.end());
  const bool known = std::none_of(all.begin(), all.end(), [](double value) { return std::isnan(value); });
  if (first.empty() || second.empty() || !known) return {nan, nan};
  const std::vector<std::size_t> ranks = doubled_ranks(all);
  const auto own_end = ranks.begin() + static_cast<std::ptrdiff_t>(first.size());
  const auto own = static_cast<double>(std::accumulate(ranks.begin(), own_end, std::size_t{0}));
  const auto others = static_cast<double>(std::accumulate(own_end, ranks.end(), std::size_t{0}));
  const auto count = static_cast<double>(first.size()), other_count = static_cast<double>(second.size());
  const double expected = count * (count + other_count + 1);  // of twice the ranks
  const std::vector<double> ways = ways_by_sum(ranks, first.size());
  double as_far = 0, total = 0;
  for (std::size_t sum = 0; sum < ways.size(); ++sum) {
    total += ways[sum];
    if (std::abs(static_cast<double>(sum) - expected) >= std::abs(own - expected)) as_far += ways[sum];
  }
  return {(others / other_count - own / count) / 2, as_far / total};
}

std::vector<double> holm(const std::vector<double>& p, const std::vector<int>& family) {
  std::vector<double> corrected(p.size(), nan);
  for (const int one : std::set<int>(family.begin(), family.end())) {
    std::vector<double> own = p;
    for (std::size_t i = 0; i < p.size(); ++i)
      if (family[i] != one) own[i] = nan;
    const std::vector<double> of_family = holm(own);
    for (std::size_t i = 0; i < p.size(); ++i)
      if (family[i] == one) corrected[i] = of_family[i];
  }
  return corrected;
}

std::vector<double> holm(const std::vector<double>& p) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < p.size(); ++i)
    if (!std::isnan(p[i])) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  std::vector<double> corrected(p.size(), nan);
  double largest = 0;  // a p is never below that of a smaller one
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    largest = std::max(largest, std::min(1.0, static_cast<double>(order.size() - rank) * p[order[rank]]));
    corrected[order[rank]] = largest;
  }
  return corrected;
}

double incomplete_beta(double a, double b, double x) {
  if (!(a > 0 && b > 0 && x >= 0 && x <= 1)) return nan;
  if (x == 0 || x == 1) return x;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  // The fraction converges fast on one side of the mean; the other side is its mirror image.
  return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double student_two_sided(double t, double degrees_of_freedom) {
  if (!(degrees_of_freedom > 0) || std::isnan(t)) return nan;
  return incomplete_beta(degrees_of_freedom / 2, 0.5, degrees_of_freedom / (degrees_of_freedom + t * t));
}

}  // namespace throughtime

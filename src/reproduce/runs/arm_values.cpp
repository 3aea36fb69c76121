// Numbers of arms over seeds, and sums of their means.
#include <algorithm>
#include <cmath>

#include "report/statistics.h"
#include "reproduce/claims/rule.h"

namespace throughtime {

double centre_of(const std::vector<double>& values) {
  if (count_unreached(values) == 0) return summary_of(values).mean;
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

std::size_t count_unreached(const std::vector<double>& values) {
  return static_cast<std::size_t>(
      std::count_if(values.begin(), values.end(), [](double value) { return std::isinf(value); }));
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
  double variance = 0, variance_of_variance = 0;
  std::size_t largest = 0;
  for (const auto& [arm, weight] : weights) {
    const Summary own = summary_of(values_of(values, arm, measure));
    contrast.value += weight * own.mean;
    const double share = weight * weight * own.standard_error * own.standard_error;
    variance += share;
    variance_of_variance += share * share / (static_cast<double>(own.count) - 1);
    largest = std::max(largest, own.count);
    if (own.count == 0) continue;
    for (const auto& [seed, value] : values.at(arm).at(measure.key())) {
      ++by_seed[seed].first;
      by_seed[seed].second += weight * value;
    }
  }
  contrast.standard_error = std::sqrt(variance);
  contrast.degrees_of_freedom = variance * variance / variance_of_variance;
  const bool same_seeds =
      by_seed.size() == largest &&
      std::all_of(by_seed.begin(), by_seed.end(), [&](const auto& one) { return one.second.first == weights.size(); });
  if (!same_seeds || largest < 2) return contrast;
  std::vector<double> sums;
  for (const auto& [seed, sum] : by_seed) sums.push_back(sum.second);
  contrast.standard_error = summary_of(sums).standard_error;
  contrast.degrees_of_freedom = static_cast<double>(sums.size()) - 1;
  contrast.paired = true;
  return contrast;
}

}  // namespace throughtime

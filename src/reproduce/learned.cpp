#include <algorithm>
#include <cmath>
#include <limits>

#include "reproduce/result.h"
#include "throughtime/task.h"

namespace throughtime {
namespace {

constexpr double fewest_updates = 10;  // fewer are no training
constexpr double noticeable = 0.01;    // a score is better than another one by this share of it
constexpr double infinity = std::numeric_limits<double>::infinity();

/// The better one of the last weights and of those with the best validation; infinite where neither was looked at.
double lowest_of(const ResultFile& result, const std::string& name) {
  double lowest = infinity;
  for (const char* weights : {"metrics.test_", "best.test_"})
    if (const double value = result.number(weights + name); std::isfinite(value)) lowest = std::min(lowest, value);
  return lowest;
}

double highest_of(const ResultFile& result, const std::string& name) {
  double highest = -infinity;
  for (const char* weights : {"metrics.test_", "best.test_"})
    if (const double value = result.number(weights + name); std::isfinite(value)) highest = std::max(highest, value);
  return highest;
}

/// A run without a test score is not known to be bad.
bool beats_baseline(const ResultFile& result) {
  const std::string metric = result.text("metric");
  const double baseline = result.number("baseline");
  const std::vector<std::string> known = all_names<Metric>();
  const auto found = std::find(known.begin(), known.end(), metric);
  if (found == known.end() || !std::isfinite(baseline)) return true;
  if (higher_is_better(static_cast<Metric>(found - known.begin()))) {  // an accuracy: what counts are the errors
    const double score = highest_of(result, metric);
    return !std::isfinite(score) || 1 - score < (1 - noticeable) * (1 - baseline);
  }
  const double score = lowest_of(result, metric);
  return !std::isfinite(score) || score < baseline - noticeable * std::abs(baseline);
}

}  // namespace

Learned learned_by(const ResultFile& result) {
  const double loss = lowest_of(result, "loss");
  const double seen = std::isfinite(loss) ? loss : result.number("train_loss");
  if (result.number("updates") < fewest_updates || seen > result.number("uniform_loss")) return Learned::nothing;
  return beats_baseline(result) ? Learned::more : Learned::baseline;
}

}  // namespace throughtime

#include <algorithm>
#include <cmath>

#include "reproduce/results/result.h"
#include "throughtime/task.h"

namespace throughtime {
namespace {

constexpr double fewest_updates = 10;  // fewer are no training
constexpr double noticeable = 0.01;    // a score is better than another one by this share of it

/// The better one of the last weights and of those with the best validation; NaN where neither was looked at.
double best_of(const ResultFile& result, const std::string& name, bool higher = false) {
  const double last = result.number("metrics.test_" + name), best = result.number("best.test_" + name);
  return higher ? std::fmax(last, best) : std::fmin(last, best);  // the other one where one is NaN
}

/// A run without a test score is not known to be bad.
bool beats_baseline(const ResultFile& result) {
  const std::string metric = result.text("metric");
  const double baseline = result.number("baseline");
  const std::vector<std::string> known = all_names<Metric>();
  const auto found = std::find(known.begin(), known.end(), metric);
  if (found == known.end() || !std::isfinite(baseline)) return true;
  const bool higher = higher_is_better(static_cast<Metric>(found - known.begin()));
  const double score = best_of(result, metric, higher);
  if (!std::isfinite(score)) return true;
  if (higher) return 1 - score < (1 - noticeable) * (1 - baseline);  // an accuracy: what counts are the errors
  return score < baseline - noticeable * std::abs(baseline);
}

}  // namespace

Learned learned_by(const ResultFile& result) {
  const double loss = best_of(result, "loss");
  const double seen = std::isfinite(loss) ? loss : result.number("train_loss");
  if (result.number("updates") < fewest_updates || seen > result.number("uniform_loss")) return Learned::nothing;
  return beats_baseline(result) ? Learned::more : Learned::baseline;
}

}  // namespace throughtime

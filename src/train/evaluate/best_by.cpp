#include "train/evaluate/best_by.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "throughtime/error.h"

namespace throughtime {
namespace {

/// A band that covers more is no better one.
bool orders(const std::string& name) { return name != metric_name(Metric::coverage); }

bool is_higher_better(const std::string& name) {
  return name != BestBy::loss && higher_is_better(choice_of<Metric>(name, "train", "metric"));
}

}  // namespace

std::vector<std::string> BestBy::names() {
  std::vector<std::string> names = {loss};
  std::ranges::copy_if(all_names<Metric>(), std::back_inserter(names), orders);
  return names;
}

BestBy::BestBy(std::string name) : name_(std::move(name)), higher_(is_higher_better(name_)) {}

BestBy::BestBy(std::string name, const std::vector<Metric>& measured) : BestBy(std::move(name)) {
  std::vector<std::string> known = {loss};
  for (const Metric metric : measured)
    if (orders(metric_name(metric))) known.push_back(metric_name(metric));
  if (std::ranges::count(known, name_) == 0)
    refuse("train", "train.best_by = \"{}\" is not measured here; what is: {}", name_, fmt::join(known, ", "));
}

double BestBy::score(const Evaluation& evaluation) const {
  for (const Score& score : evaluation.scores)
    if (score.name == name_) return score.value;
  return evaluation.loss;
}

bool BestBy::better(double score, double than) const {
  if (!std::isfinite(score) || !std::isfinite(than)) return std::isfinite(score) && !std::isfinite(than);
  return higher_ ? score > than : score < than;
}

}  // namespace throughtime

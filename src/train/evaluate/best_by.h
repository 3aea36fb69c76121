#pragma once

#include <string>
#include <vector>

#include "train/evaluate/evaluation.h"

namespace throughtime {

/// What validation chooses weights by (train.best_by): the loss, or a metric.
class BestBy {
 public:
  static constexpr const char* loss = "loss";
  /// Every name that it can have.
  static std::vector<std::string> names();

  explicit BestBy(std::string name);
  /// Refuses one that the evaluations of a run do not measure.
  BestBy(std::string name, const std::vector<Metric>& measured);

  const std::string& name() const { return name_; }
  bool is_loss() const { return name_ == loss; }
  double score(const Evaluation& evaluation) const;
  /// Any number is better than none, and than infinity: a metric may have no value for weights that have learned
  /// little.
  bool better(double score, double than) const;

 private:
  std::string name_;
  bool higher_;
};

}  // namespace throughtime

#pragma once

#include <cstdint>
#include <vector>

#include "throughtime/engine.h"

namespace throughtime {

/// The mean of the weights of one training, beside any update rule (OptimizerConfig::average). Training goes on with
/// the weights; who judges or uses the model takes the mean once it has begun. With Averaging::non_monotone it begins
/// when validation stops improving, for good.
class WeightAverage {
 public:
  /// `size`: numbers of the trained vector; nothing is allocated where averaging is off.
  WeightAverage(Engine& engine, const OptimizerConfig& config, std::size_t size);

  /// After update number `step`, which made `weights`.
  void follow(Buffer weights, std::int64_t step);
  /// Tells the loss of a validation after that many updates; true: the average begins with the next one.
  bool observe_validation(double loss, std::int64_t step);
  /// The mean, or none: there is none yet after that many updates.
  Buffer mean(std::int64_t step) const;

  void archive(Archive& archive);

 private:
  /// Validations that a new loss is not compared with: the last ones before it.
  std::size_t forgiven() const;

  Engine* engine_;
  OptimizerConfig config_;
  Buffer mean_;              // none: averaging is off
  std::int64_t since_ = -1;  // it averages the weights of later updates than this one; -1: not yet
  // Of the non-monotone rule.
  std::vector<double> recent_;  // losses of the validations that are forgiven, the oldest first
  double best_ = 0;             // of those before them
  bool seen_ = false;           // there was one
};

}  // namespace throughtime

#include "throughtime/weight_average.h"

#include <algorithm>

#include "throughtime/archive.h"

namespace throughtime {

WeightAverage::WeightAverage(Engine& engine, const OptimizerConfig& config, std::size_t size)
    : engine_(&engine), config_(config) {
  if (config.average == Averaging::off) return;
  mean_ = engine.allocate(size);
  recent_.reserve(forgiven() + 1);
}

std::size_t WeightAverage::forgiven() const {
  return static_cast<std::size_t>(config_.average_patience - (config_.average_test == AverageTest::after ? 1 : 0));
}

void WeightAverage::follow(Buffer weights, std::int64_t step) {
  if (!mean_) return;
  // The optimizer may have steps of an earlier training behind it, which are not of this mean.
  if (config_.average == Averaging::always && since_ < 0) since_ = step - 1;
  if (since_ < 0) return;
  const std::int64_t averaged = step - since_ - config_.average_from;
  if (averaged <= 1) return engine_->copy(weights, mean_);
  const double share = 1 / static_cast<double>(averaged);
  engine_->scale(mean_, 1 - share);
  engine_->axpy(share, weights, mean_);
}

bool WeightAverage::observe_validation(double loss, std::int64_t step) {
  if (config_.average != Averaging::non_monotone || since_ >= 0) return false;
  const bool worse = seen_ && loss > best_;
  recent_.push_back(loss);
  if (recent_.size() > forgiven()) {
    best_ = seen_ ? std::min(best_, recent_.front()) : recent_.front();
    seen_ = true;
    recent_.erase(recent_.begin());
  }
  if (worse) since_ = step;
  return worse;
}

Buffer WeightAverage::mean(std::int64_t step) const {
  return mean_ && since_ >= 0 && step > since_ + config_.average_from ? mean_ : Buffer{};
}

void WeightAverage::archive(Archive& archive) {
  if (!mean_) return;
  archive.buffer("mean", *engine_, mean_);
  archive.integer("since", since_, between(-1, any_count().high));
  archive.number_list("recent", recent_, {0, forgiven()});
  archive.number("best", best_);
  archive.flag("seen", seen_);
}

}  // namespace throughtime

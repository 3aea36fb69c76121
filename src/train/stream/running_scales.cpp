#include "train/stream/running_scales.h"

#include <algorithm>
#include <cmath>

namespace throughtime {

RunningScales::RunningScales(std::size_t columns, bool active, std::int64_t rows)
    : active_(active), rows_(rows), mean_(columns), squares_(columns) {}

void RunningScales::add(std::span<const float> values) {
  if (!active_ || (rows_ > 0 && count_ >= rows_)) return;
  ++count_;
  for (std::size_t column = 0; column < mean_.size(); ++column) {
    const double distance = values[column] - mean_[column];
    mean_[column] += distance / static_cast<double>(count_);
    squares_[column] += distance * (values[column] - mean_[column]);
  }
}

double RunningScales::deviation(std::size_t column) const {
  return count_ > 1 ? std::sqrt(squares_[column] / static_cast<double>(count_)) : 0.0;
}

float RunningScales::scaled(std::size_t column, double value) const {
  if (!active_) return static_cast<float>(value);
  const double unit = deviation(column);
  return unit > 0 ? static_cast<float>(std::clamp((value - mean_[column]) / unit, -10.0, 10.0)) : 0.0f;
}

double RunningScales::undone(std::size_t column, double value) const {
  return active_ ? mean_[column] + value * deviation(column) : value;
}

void RunningScales::archive(Archive& archive) {
  archive.integer("count", count_);
  archive.number_list("mean", mean_, mean_.size());
  archive.number_list("squares", squares_, squares_.size(), at_least(0));
}

}  // namespace throughtime

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "throughtime/archive.h"

namespace throughtime {

/// Means and deviations of columns, learned as rows arrive (Welford). Scaled values are limited to +- 10 deviations.
/// Before two different rows are known every scaled value is 0 and stands for the mean.
class RunningScales {
 public:
  /// `rows`: after that many they stay as they are; 0: never. Not `active`: values stay what they are.
  RunningScales(std::size_t columns, bool active, std::int64_t rows);

  void add(std::span<const float> values);
  float scaled(std::size_t column, double value) const;
  double undone(std::size_t column, double value) const;
  double mean(std::size_t column) const { return mean_[column]; }
  double deviation(std::size_t column) const;
  void archive(Archive& archive);

 private:
  bool active_;
  std::int64_t rows_;
  std::int64_t count_ = 0;
  std::vector<double> mean_, squares_;  // squares: sum of (value - mean)^2
};

}  // namespace throughtime

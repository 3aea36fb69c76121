#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "throughtime/archive.h"
#include "train/stream/moments.h"
#include "train/stream/scaling.h"

namespace throughtime {

/// Means and deviations of columns, learned as rows arrive. Scaled values are limited to +- 10 deviations. Before two
/// different rows are known every scaled value is 0 and stands for the mean.
class RunningScales {
 public:
  RunningScales(std::size_t columns, const ScaleOptions& options) : options_(options), columns_(columns) {}

  void add(std::span<const float> values);
  /// As if as many rows as are remembered had had this mean and this deviation.
  void begin_with(std::size_t column, double mean, double deviation);
  float scaled(std::size_t column, double value) const;
  double undone(std::size_t column, double value) const;
  std::size_t columns() const { return columns_.size(); }
  double mean(std::size_t column) const { return columns_[column].scale.mean; }
  double deviation(std::size_t column) const { return columns_[column].scale.deviation(); }
  void archive(Archive& archive);

 private:
  struct Column {
    Moments scale;
    std::int64_t run = 0;  // wild values in a row, the last one among them
    Moments block;         // the last rows
    Moments calm;          // whole blocks before them, for which the scale is much too wide
    std::int64_t calm_blocks = 0;
    std::int64_t patience = 5;  // such blocks that are waited for
    double earlier = 0;         // deviation before it was measured anew
  };
  static void add_robust(Column& column, double value);
  static void end_block(Column& column);

  ScaleOptions options_;
  std::int64_t rows_ = 0;
  std::vector<Column> columns_;
};

}  // namespace throughtime

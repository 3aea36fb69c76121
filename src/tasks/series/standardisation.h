#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace throughtime {

/// Mean and deviation of one column.
struct ColumnScale {
  std::string column;
  double mean = 0;
  double deviation = 1;
  double level_deviation = 0;  // of a target: that of its column; 0: the same as `deviation`
  std::string change_of = {};  // of a target that is a change: the column whose last value it is added to
  bool operator==(const ColumnScale&) const = default;
};

/// How the numbers of a series enter a model, and what its outputs mean: x -> (x - mean) / deviation.
struct Standardisation {
  std::vector<ColumnScale> inputs;
  std::vector<ColumnScale> targets;
  int rate = 0;  // frames per second of the recording that they are of, where it is audio
  bool operator==(const Standardisation&) const = default;

  /// JSON: {"inputs": [{"column": ..., "mean": ..., "deviation": ...}, ...], "targets": [...], "rate": ...}.
  void save(const std::string& directory) const;
  /// Refuses a file that is not one.
  static Standardisation load(const std::string& directory);
};

/// Means and deviations of `rows` rows of values [rows, columns]; a column that never changes gets deviation 1.
std::vector<ColumnScale> fit_scales(const std::vector<std::string>& columns, std::span<const float> values,
                                    std::size_t rows);
/// Applies scales to values [rows, scales] in place.
void apply_scales(const std::vector<ColumnScale>& scales, std::span<float> values);
/// The inverse, for predictions. No scales: they are what they are.
void undo_scales(const std::vector<ColumnScale>& scales, std::span<double> values);

}  // namespace throughtime

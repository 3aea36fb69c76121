#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "throughtime/task_config.h"
#include "train/predict/column_finder.h"
#include "train/predict/step_source.h"

namespace throughtime {

/// The rows of a recording: its columns that are wanted.
class RowSource {
 public:
  virtual ~RowSource() = default;
  /// A row, NaN where a value is missing; the start of another sequence; the end.
  virtual StepKind next(std::vector<double>& numbers) = 0;
  /// The last columns of a row: the levels that are there, behind the columns that are needed.
  const std::vector<std::string>& levels() const { return found_.levels; }
  /// The line of the last row, and for messages where a line is; only tables have lines, and missing values.
  virtual std::uint64_t line() const { return 0; }
  virtual std::string where(std::uint64_t /*line*/) const { return ""; }
  /// Frames per second, where the rows are audio; else 0.
  virtual int rate() const { return 0; }
  /// Rows that there are, where that is known before they are read.
  virtual std::optional<std::uint64_t> rows() const { return std::nullopt; }

 protected:
  FoundColumns found_;
};

/// A table, whole records at a time, columns by name as training finds them. An empty line begins a new sequence.
std::unique_ptr<RowSource> csv_rows(const WantedColumns& wanted, const std::string& path, const LineOptions& options);
/// An array that is read whole: .npy, file.npz:name, raw floats.
std::unique_ptr<RowSource> array_rows(const WantedColumns& wanted, const std::string& path, const SeriesConfig& config);
/// The frames of a recording, a block of them in memory at a time.
std::unique_ptr<RowSource> audio_rows(const WantedColumns& wanted, const std::string& path);

}  // namespace throughtime

#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "throughtime/task_config.h"
#include "train/predict/row_source.h"

namespace throughtime {

/// How the rows of a recording become the steps of a model.
struct SeriesLayout {
  WantedColumns wanted;
  std::vector<int> ahead = {};  // how many steps later known columns enter, each of them once for each
  MissingValues missing = MissingValues::refuse;
  int rate = 0;  // frames per second of the audio of the training; 0: it was none
};

/// The steps of a recording as training makes them: a missing value is the last one of its column (at the start the
/// first one), and known columns are those of later rows. So a sequence ends with the last row that has these. Only as
/// many rows are in memory as that takes.
class SeriesSteps final : public StepSource {
 public:
  SeriesSteps(std::unique_ptr<RowSource> rows, SeriesLayout layout);

  StepKind next(Step& step) override;
  int rate() const override { return rows_->rate(); }
  std::optional<std::uint64_t> steps() const override;
  const std::vector<std::string>& levels() const override { return rows_->levels(); }
  std::string note() const override;

 private:
  struct Row {
    std::vector<double> numbers;  // NaN: missing
    std::uint64_t line = 0;
  };

  void take(Row row);
  bool front_is_whole() const;
  void make(Step& step) const;
  /// Calls `use` with the row and the column of each number that the step of the first row needs.
  template <class Use>
  void each_number(Use use) const;
  void end_sequence();
  std::string name_of(std::size_t column) const;

  std::unique_ptr<RowSource> rows_;
  SeriesLayout layout_;
  std::size_t own_, known_, longest_ = 0;
  std::deque<Row> waiting_;
  std::vector<double> last_;  // value of each column in this sequence; NaN: none yet
  std::uint64_t without_answer_ = 0;
};

}  // namespace throughtime

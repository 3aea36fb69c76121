#include "train/predict/series_steps.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "throughtime/error.h"
#include "throughtime/index.h"

namespace throughtime {
namespace {

constexpr std::string_view speaker = "predict";

}  // namespace

SeriesSteps::SeriesSteps(std::unique_ptr<RowSource> rows, SeriesLayout layout)
    : rows_(std::move(rows)),
      layout_(std::move(layout)),
      own_(layout_.wanted.own_count),
      known_(layout_.wanted.known.size()) {
  if (known_ > 0 && !layout_.ahead.empty()) longest_ = elements(layout_.ahead.back());
}

std::optional<std::uint64_t> SeriesSteps::steps() const {
  const std::optional<std::uint64_t> rows = rows_->rows();
  return rows ? std::optional(*rows - std::min<std::uint64_t>(*rows, longest_)) : rows;
}

StepKind SeriesSteps::next(Step& step) {
  while (waiting_.size() <= longest_ || !front_is_whole()) {
    Row row;
    const StepKind kind = rows_->next(row.numbers);
    if (kind != StepKind::step) {
      end_sequence();
      return kind;
    }
    row.line = rows_->line();
    take(std::move(row));
  }
  make(step);
  waiting_.pop_front();
  return StepKind::step;
}

/// Holds what is missing. What a column lacks at its start waits for its first value.
void SeriesSteps::take(Row row) {
  waiting_.push_back(std::move(row));
  if (layout_.missing == MissingValues::refuse) return;
  std::vector<double>& numbers = waiting_.back().numbers;
  last_.resize(numbers.size(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t column = 0; column < numbers.size(); ++column) {
    if (std::isnan(numbers[column])) {
      numbers[column] = last_[column];
      continue;
    }
    if (std::isnan(last_[column]))
      for (Row& earlier : waiting_) earlier.numbers[column] = numbers[column];
    last_[column] = numbers[column];
  }
}

template <class Use>
void SeriesSteps::each_number(Use use) const {
  const std::vector<double>& now = waiting_.front().numbers;
  for (std::size_t column = 0; column < own_; ++column) use(waiting_.front(), column);
  for (std::size_t column = own_; column < own_ + known_; ++column)
    for (const int steps : layout_.ahead) use(waiting_[elements(steps)], column);
  for (std::size_t column = own_ + known_; column < now.size(); ++column) use(waiting_.front(), column);
}

/// Whether the step of the first row can be made. Where missing values are refused, it is `make` that does.
bool SeriesSteps::front_is_whole() const {
  if (layout_.missing == MissingValues::refuse) return true;
  bool whole = true;
  each_number([&](const Row& row, std::size_t column) { whole = whole && !std::isnan(row.numbers[column]); });
  return whole;
}

void SeriesSteps::make(Step& step) const {
  step = {};
  each_number([&](const Row& row, std::size_t column) {
    if (std::isnan(row.numbers[column]))
      refuse(speaker,
             "{}: column '{}': the value is missing, and the run was trained with task.series.missing = \"refuse\": "
             "fill it, or train with \"hold\" or \"skip\"",
             rows_->where(row.line), name_of(column));
    (column < own_ + known_ ? step.reals : step.levels).push_back(row.numbers[column]);
  });
}

void SeriesSteps::end_sequence() {
  if (waiting_.size() > longest_)
    for (std::size_t column = 0; column < last_.size(); ++column)
      if (std::isnan(last_[column]))
        refuse(speaker, "{}: column '{}' has no value at all up to there", rows_->where(waiting_.back().line),
               name_of(column));
  without_answer_ += waiting_.size();
  waiting_.clear();
  last_.clear();
}

std::string SeriesSteps::name_of(std::size_t column) const {
  const std::vector<std::string> needed = layout_.wanted.needed();
  const std::size_t read = own_ + known_;
  if (column >= read) return rows_->levels()[column - read];
  return needed.size() == read ? needed[column] : fmt::format("{}", column);
}

std::string SeriesSteps::note() const {
  if (layout_.rate > 0 && rate() > 0 && rate() != layout_.rate)
    return fmt::format(
        "the recording has {} samples a second, that of the training had {}: convert it first, for the model counts "
        "samples, not seconds",
        rate(), layout_.rate);
  if (without_answer_ == 0) return "";
  return fmt::format(
      "{} row{} at the end without an answer: the model reads {} {} step{} later; add rows that have only that, the "
      "other "
      "fields empty",
      without_answer_, without_answer_ == 1 ? "" : "s", fmt::join(layout_.wanted.known, ", "), longest_,
      longest_ == 1 ? "" : "s");
}

}  // namespace throughtime

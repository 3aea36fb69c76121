#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "tasks/model_names.h"
#include "throughtime/head.h"
#include "train/options/config.h"
#include "train/predict/answer_file.h"

namespace throughtime {

/// A field of an answer: a number, a count or a name.
using Cell = std::variant<double, std::int64_t, std::string>;

/// What a model predicts, and what was right, as a reader wants it: numbers in their own units, the most probable class
/// with its probability, or the most likely mark of the next event and the expected time until it.
class ForecastCells {
 public:
  /// All must outlive it.
  ForecastCells(const RunConfig& config, const Model& model, const ModelNames& names);

  std::vector<std::string> truth_names() const;
  std::vector<std::string> forecast_names() const;
  /// Of a target in the task's own numbers.
  std::vector<Cell> truth(const RowTarget<float>& target) const;
  /// Of predictions [outputs] as the engine gives them.
  std::vector<Cell> forecast(std::span<const double> predictions) const;

 private:
  const Model& model_;
  const ModelNames& names_;
  double interval_unit_;  // of an event's time, in that of the file
};

/// Lines of cells under names, in a format of lines.
class CellLines {
 public:
  CellLines(std::vector<std::string> names, AnswerFormat format) : names_(std::move(names)), format_(format) {}
  /// Nothing for JSON.
  std::string header() const;
  std::string line(const std::vector<Cell>& cells) const;

 private:
  std::vector<std::string> names_;
  AnswerFormat format_;
};

/// The numbers among the cells; refuses a name.
std::vector<double> numbers_of(const std::vector<Cell>& cells);

}  // namespace throughtime

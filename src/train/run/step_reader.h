#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "throughtime/choice.h"
#include "train/run/predictor.h"

namespace throughtime {

/// Lines of steps and of answers.
enum class LineFormat { csv, jsonl };
constexpr auto names_of(LineFormat) { return choice_names("csv", "jsonl"); }

/// One step of a sequence as it was read.
struct Step {
  std::int32_t token = -1;
  std::vector<double> reals;
};

/// Turns lines into the steps that a model reads; the errors name the line. CSV: a line of numbers, the token first
/// where there is one, and a first line may name the columns. JSON: [1, 2], {"input": [1, 2]}, "word", 17, or
/// ["word", 1, 2].
class StepReader {
 public:
  StepReader(const Predictor& predictor, LineFormat format) : predictor_(predictor), format_(format) {}

  /// Counts a line that holds no step.
  void skip() { ++line_; }
  /// False for a first line of column names.
  bool read(const std::string& line, Step& step);

 private:
  bool read_csv(const std::string& line, Step& step);
  bool read_json(const std::string& line, Step& step);
  bool choose_columns(const std::vector<std::string>& names);
  void pick(std::vector<double>& reals) const;

  const Predictor& predictor_;
  LineFormat format_;
  std::size_t line_ = 0;
  std::vector<std::size_t> chosen_;  // columns that carry the names of the training data; empty: all, by their place
};

/// Turns predictions into lines: all outputs by name, or the `top` most probable classes (0: all outputs).
class AnswerWriter {
 public:
  /// Refuses `top` of a model that predicts numbers.
  AnswerWriter(const Predictor& predictor, LineFormat format, int top);

  /// Names of the columns; nothing for JSON.
  std::string header() const;
  std::string line(const std::vector<double>& predictions) const;

 private:
  std::string csv_line(const std::vector<double>& predictions) const;
  std::string json_line(const std::vector<double>& predictions) const;

  const Predictor& predictor_;
  LineFormat format_;
  std::size_t top_;
};

}  // namespace throughtime

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "throughtime/choice.h"
#include "throughtime/header_line.h"
#include "throughtime/task_config.h"
#include "train/predict/predictor.h"

namespace throughtime {

/// Lines of steps and of answers.
enum class LineFormat { csv, jsonl };
constexpr auto names_of(LineFormat) { return choice_names("csv", "jsonl"); }

/// One step of a sequence as it was read.
struct Step {
  std::int32_t token = -1;
  std::vector<double> reals;
  std::vector<double> levels = {};  // Predictor::bring_levels
  double time = 0;                  // of an event
};

/// How lines hold steps.
struct LineOptions {
  LineFormat format = LineFormat::csv;
  char delimiter = ',';                       // csv: between fields
  HeaderLine header = HeaderLine::automatic;  // csv: the first line names the columns
  bool numbered = false;                      // csv: training asked for columns by name or number
  MissingValues missing = MissingValues::refuse;
  std::vector<std::string> known = {};  // columns that also enter as they are later
};

/// Turns lines into the steps that a model reads; the errors name the line. CSV: a line of numbers, the token first
/// where there is one. A first line may name the columns: those of the training data are found by their names (else by
/// their numbers), and nothing is asked of the others, which may hold text. JSON: [1, 2], {"input": [1, 2]}, "word", 17
/// (a token's number), or ["word", 1, 2]. A line is answered alone: a value that is missing (null in JSON) is the last
/// one of its column, where the run holds such values, and what a column is later stands in the line itself.
class StepReader {
 public:
  StepReader(const Predictor& predictor, const LineOptions& options) : predictor_(predictor), options_(options) {}

  /// Counts a line that holds no step: a new sequence begins.
  void skip() {
    ++line_;
    last_.clear();
  }
  /// False for a first line of column names.
  bool read(const std::string& line, Step& step);

 private:
  bool read_csv(const std::string& line, Step& step);
  bool read_json(const std::string& line, Step& step);
  void hold(std::vector<double>& reals);
  bool is_header(const std::vector<std::string>& fields) const;
  void choose_named(const std::vector<std::string>& names);
  void choose_numbered(const std::vector<std::string>& fields);

  const Predictor& predictor_;
  LineOptions options_;
  std::size_t line_ = 0;
  bool chosen_ = false;               // whether columns_ has been made
  std::vector<double> last_;          // the numbers of the line before, in this sequence
  std::vector<std::size_t> columns_;  // the model's numbers, by the place of their fields; empty: all, as they stand
};

}  // namespace throughtime

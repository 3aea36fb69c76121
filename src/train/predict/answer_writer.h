#pragma once

#include <string>
#include <vector>

#include "train/predict/step_reader.h"

namespace throughtime {

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

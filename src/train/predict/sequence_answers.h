#pragma once

#include <string>
#include <vector>

#include "data/tables/labelled_sequences.h"
#include "train/predict/step_reader.h"

namespace throughtime {

/// Lines about whole sequences: the id, the most probable class and the probability of each (or those of the `top` most
/// probable classes alone), or the predicted numbers.
class SequenceAnswers {
 public:
  /// Refuses `top` of a model that predicts numbers.
  SequenceAnswers(const Predictor& predictor, LineFormat format, int top);

  /// Names of the columns; nothing for JSON.
  std::string header() const;
  std::string line(const std::string& id, const std::vector<double>& predictions) const;

 private:
  const Predictor& predictor_;
  LineFormat format_;
  std::size_t top_;
};

/// What the model predicts at the end of a sequence.
std::vector<double> predict_sequence(Predictor& predictor, const LabelledSequences& sequences, std::size_t sequence);

}  // namespace throughtime

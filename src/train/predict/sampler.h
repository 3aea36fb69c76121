#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/text/text.h"
#include "throughtime/random.h"
#include "train/predict/predictor.h"

namespace throughtime {

/// How a token is drawn from what a model predicts.
struct SamplingOptions {
  double temperature = 1;  // probabilities to the power of 1 / temperature; 0: always the most probable token
  int top = 0;             // only among the most probable ones; 0: among all
  std::uint64_t seed = 1;
};

/// The class that belongs to `uniform` in [0, 1): class i of the `top` most probable ones has a share of it that is
/// proportional to probabilities[i]^(1 / temperature). Of equal ones the first is the more probable.
std::int32_t draw_class(const std::vector<double>& probabilities, const SamplingOptions& options, double uniform);

/// Writes on where a text stops, token by token. A pure function of the model, the prompt and the options.
class Sampler {
 public:
  /// `text`: how the model's texts are cut into tokens. Refuses a model that does not predict its own tokens.
  Sampler(Predictor& predictor, const TextOptions& text, const SamplingOptions& options);

  /// Shows the model the tokens of a text; of an empty one the start of a line. Returns how the text looks when it is
  /// put together from its tokens.
  std::string read(const std::string& prompt);
  /// The next token as it is written: a word has a space before it unless it begins a line.
  std::string next();

 private:
  std::string written(std::int32_t token);
  void show(std::int32_t token);

  Predictor& predictor_;
  const Vocabulary& vocabulary_;
  TextOptions text_;
  SamplingOptions options_;
  Random random_;
  std::vector<double> probabilities_;  // of the next token
  std::uint64_t drawn_ = 0;
  bool line_begins_ = true;
};

}  // namespace throughtime

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tasks/model_names.h"
#include "train/run/trained_model.h"

namespace throughtime {

/// A trained model that reads one step after the other and carries its state.
class Predictor {
 public:
  /// Uses the scales of a series and the vocabulary of a text, which the task saved beside the weights.
  explicit Predictor(TrainedModel& trained);

  /// Names of the columns of a step, where the task has them.
  const std::vector<std::string>& input_names() const { return names_.inputs; }
  const std::vector<std::string>& output_names() const { return names_.outputs; }
  const Model& model() const { return engine_.model(); }
  const ModelNames& names() const { return names_; }
  /// Null where tokens have no names.
  const Vocabulary* vocabulary() const { return names_.vocabulary ? &*names_.vocabulary : nullptr; }
  bool reads_tokens() const { return vocabulary_size_ > 0; }
  int reals() const { return reals_; }
  bool classifies() const { return classifies_; }

  /// The id of a token: one of the vocabulary, as it is or as vocabulary.txt writes it (`\n`), else its number, else
  /// the unknown token where the vocabulary has one.
  std::int32_t token_id(std::string_view text) const;
  /// The same of a number alone.
  std::int32_t token_number(std::string_view text) const;
  /// Refuses a step that has not as many reals as the model reads.
  void require_width(const std::vector<double>& reals) const;
  /// A new sequence begins: the state is zero.
  void reset();
  /// One step: the token (-1 where the model reads none) and the reals; returns the predictions [outputs].
  std::vector<double> step(std::int32_t token, const std::vector<double>& reals);

 private:
  Engine& engine_;
  Buffer parameters_;
  std::unique_ptr<Tape> tape_;
  Buffer state_, predictions_;
  int reals_ = 0, vocabulary_size_ = 0;
  bool classifies_ = false;
  ModelNames names_;
};

}  // namespace throughtime

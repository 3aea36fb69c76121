#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tasks/model_names.h"
#include "tasks/series/change_bases.h"
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
  /// Columns that the model does not read, and to whose levels the changes that it predicts could be added.
  std::vector<std::string> missing_levels() const;
  /// From now on each step brings the levels of these of them, in that order: their changes come out as levels.
  void bring_levels(const std::vector<std::string>& columns);
  /// A new sequence begins: the state is zero.
  void reset();
  /// One step: the token (-1 where the model reads none), the reals, and the levels that were promised; returns the
  /// predictions [outputs].
  std::vector<double> step(std::int32_t token, const std::vector<double>& reals,
                           const std::vector<double>& levels = {});

 private:
  Engine& engine_;
  Buffer parameters_;
  std::unique_ptr<Tape> tape_;
  Buffer state_, predictions_;
  int reals_ = 0, vocabulary_size_ = 0;
  bool classifies_ = false;
  ModelNames names_;
  std::vector<int> horizons_;         // of a series
  bool inputs_have_targets_ = false;  // inputs and targets are columns of one file
  std::optional<ChangeBases> bases_;  // of a series
};

}  // namespace throughtime

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data/text/vocabulary.h"
#include "tasks/series/standardisation.h"
#include "throughtime/model.h"

namespace throughtime {

/// What the numbers that a model reads and predicts mean, as its task saved it beside the weights.
struct ModelNames {
  std::vector<std::string> inputs = {};   // of the reals of a step; empty: they have no names
  std::vector<std::string> outputs = {};  // [outputs]
  std::optional<Standardisation> scales = {};
  std::optional<Vocabulary> vocabulary = {};  // of the tokens
};

/// Of a model of the task of that name, whose Task::save wrote into `directory`. Outputs that the task does not name
/// are output_0, output_1, ...
ModelNames model_names(const std::string& task, const std::string& directory, const Model& model);

// TaskType::names of the tasks that name something, each in the file of its task.
ModelNames text_names(const std::string& directory, const Model& model);
ModelNames series_names(const std::string& directory, const Model& model);
ModelNames point_process_names(const std::string& directory, const Model& model);
ModelNames sequences_names(const std::string& directory, const Model& model);

/// The scales in `directory`; refuses those of a model with other inputs or targets (classes have none).
Standardisation load_scales(const std::string& directory, const Model& model);
/// Where a task keeps its vocabulary in the directory of Task::save.
std::string vocabulary_path(const std::string& directory);
/// The names of a model whose tokens are those of the vocabulary in `directory`, and whose outputs are one for each of
/// them, followed by `others`.
ModelNames vocabulary_names(const std::string& directory, const Model& model, const std::vector<std::string>& others);

}  // namespace throughtime

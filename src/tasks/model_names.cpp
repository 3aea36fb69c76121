#include "tasks/model_names.h"

#include <fmt/format.h>

#include <filesystem>

#include "throughtime/index.h"
#include "throughtime/task.h"

namespace throughtime {

ModelNames model_names(const std::string& task, const std::string& directory, const Model& model) {
  const TaskType& type = find_task(task);
  ModelNames names;
  if (type.names != nullptr) names = type.names(directory, model);
  for (std::size_t output = names.outputs.size(); output < elements(model.outputs()); ++output)
    names.outputs.push_back(fmt::format("output_{}", output));
  return names;
}

std::string vocabulary_path(const std::string& directory) {
  return (std::filesystem::path(directory) / "vocabulary.txt").string();
}

ModelNames vocabulary_names(const std::string& directory, const Model& model, const std::vector<std::string>& others) {
  const std::string path = vocabulary_path(directory);
  if (!std::filesystem::exists(path)) return {};
  ModelNames names{.vocabulary = Vocabulary::load(path)};
  const std::size_t tokens = names.vocabulary->size();
  if (tokens + others.size() != elements(model.outputs())) return names;
  for (std::size_t id = 0; id < tokens; ++id)
    names.outputs.emplace_back(names.vocabulary->token(static_cast<std::int32_t>(id)));
  names.outputs.insert(names.outputs.end(), others.begin(), others.end());
  return names;
}

}  // namespace throughtime

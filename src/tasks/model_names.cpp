#include "tasks/model_names.h"

#include <fmt/format.h>

#include <filesystem>

#include "throughtime/error.h"
#include "throughtime/index.h"
#include "throughtime/task.h"

namespace throughtime {

ModelNames model_names(const std::string& task, const std::string& directory, const Model& model) {
  const TaskType& type = find_task(task);
  ModelNames names;
  if (type.names != nullptr) names = type.names(directory, model);
  if (names.outputs.size() > elements(model.outputs()))
    refuse("run", "{} names {} outputs, and the model has {}: its files do not belong together", directory,
           names.outputs.size(), model.outputs());
  for (std::size_t output = names.outputs.size(); output < elements(model.outputs()); ++output)
    names.outputs.push_back(fmt::format("output_{}", output));
  return names;
}

Standardisation load_scales(const std::string& directory, const Model& model) {
  Standardisation scales = Standardisation::load(directory);
  const std::size_t reals = elements(model.config().input.reals),
                    targets = takes_label(model.head().target) ? 0 : elements(model.target_width());
  if (scales.inputs.size() != reals || scales.targets.size() != targets)
    refuse("run",
           "{} has scales of {} inputs and {} targets, and the model has {} and {}: its files do not belong "
           "together",
           directory, scales.inputs.size(), scales.targets.size(), reals, targets);
  return scales;
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

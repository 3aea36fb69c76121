#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "train/checkpoint/safetensors.h"
#include "train/options/config.h"

namespace throughtime {

/// What a task asks of a model. It is saved beside what Task::save writes, so that a model can be made where the data
/// is not.
struct ModelInterface {
  InputConfig input;
  HeadConfig head;

  explicit ModelInterface(const Task& task) : input(task.input()), head(task.head()) {}
  explicit ModelInterface(const ModelConfig& model) : input(model.input), head(model.head) {}
  /// Reads `directory`/interface.json; refuses a file that is not one.
  explicit ModelInterface(const std::string& directory);
  /// JSON: {"reals": ..., "vocabulary": ..., "head": ..., "outputs": ...}.
  void save(const std::string& directory) const;
};

/// The weights that a checkpoint is judged by: the trained ones, or their average where it has begun.
void load_evaluated(const TensorFile& checkpoint, const OptimizerConfig& optimizer, Engine& engine, Buffer parameters);

/// The model of a run with the parameters of its last, or best, checkpoint. Needs the run directory alone: no data, and
/// not the GPU that it may have been trained on.
class TrainedModel {
 public:
  TrainedModel(const std::filesystem::path& run, bool best);

  const RunConfig& config() const { return config_; }
  /// What the task saved beside the weights.
  const std::string& task_directory() const { return task_directory_; }
  const Model& model() const { return model_; }
  Engine& engine() { return *engine_; }
  Buffer parameters() const { return parameters_; }

 private:
  RunConfig config_;
  std::string task_directory_;
  Model model_;
  std::unique_ptr<Engine> engine_;
  Buffer parameters_;
};

}  // namespace throughtime

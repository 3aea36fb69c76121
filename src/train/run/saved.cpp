#include "throughtime/saved.h"

#include <string_view>

#include "learners/archive_training.h"
#include "throughtime/error.h"
#include "train/checkpoint/checkpoint.h"
#include "train/checkpoint/weights.h"
#include "train/run/environment.h"
#include "train/run/session.h"
#include "train/run/trained_model.h"

namespace throughtime {
namespace {

constexpr const char* training_key = "throughtime.training";  // whose state a file holds
constexpr const char* stream_text = "stream";

/// Adds the file's name to whatever is wrong within it.
template <class Read>
auto read_from(const std::string& path, const Read& read) {
  try {
    return read();
  } catch (const InvalidInput& error) {
    const std::string_view text = error.what();
    if (text.find(path) != std::string_view::npos) throw;
    const std::size_t speaker = text.starts_with("[") ? text.find("] ") : std::string_view::npos;
    refuse("load", "{}: {}", path, speaker == std::string_view::npos ? text : text.substr(speaker + 2));
  }
}

TensorFile training_file(const std::string& whose) {
  return {.metadata = {{training_key, whose}, {version_key, version()}}, .tensors = {}};
}

TensorFile read_training(const std::string& path, const std::string& whose) {
  TensorFile file = read_tensors(path, true);
  const auto saved = file.metadata.find(training_key);
  if (saved == file.metadata.end())
    refuse("load", "{} holds no training (save_training writes one); weights alone are read by load_weights", path);
  if (saved->second != whose)
    refuse("load", "{} holds the training of {}, this one is of {}", path, saved->second, whose);
  return file;
}

}  // namespace

void save_weights(const std::string& path, const Model& model, std::span<const double> parameters) {
  if (parameters.size() != model.parameters().size())
    refuse("save", "the model has {} weights, got {}", model.parameters().size(), parameters.size());
  TensorFile file{.metadata = {{"format", "pt"}, {version_key, version()}}, .tensors = {}};
  add_weights(file, model.parameters(), parameters);
  write_tensors(path, file);
}

std::vector<double> load_weights(const std::string& path, const Model& model) {
  return read_from(path, [&] { return weights_of(read_tensors(path), model.parameters(), "load"); });
}

void save_training(const std::string& path, Trainee& trainee, Learner& learner) {
  TensorFile file = training_file(std::string(learner.name()));
  SavingArchive archive(file);
  archive_training(archive, trainee, learner);
  write_tensors(path, file);
}

void load_training(const std::string& path, Trainee& trainee, Learner& learner) {
  read_from(path, [&] {
    const TensorFile file = read_training(path, std::string(learner.name()));
    LoadingArchive archive(file);
    archive_training(archive, trainee, learner);
  });
}

void save_training(const std::string& path, OnlineLearner& learner) {
  TensorFile file = training_file(stream_text);
  SavingArchive archive(file);
  learner.archive(archive);
  write_tensors(path, file);
}

void load_training(const std::string& path, OnlineLearner& learner) {
  read_from(path, [&] {
    const TensorFile file = read_training(path, stream_text);
    LoadingArchive archive(file);
    learner.archive(archive);
  });
}

std::string train_file(const std::string& path, const std::vector<std::string>& overrides, const std::string& arm) {
  const RunConfig config = load_config(path, overrides, arm);
  Observer silent;
  train_run(config, silent);
  return run_directory(config);
}

SavedRun load_run(const std::string& directory, Checkpoint checkpoint) {
  RunDirectory(directory).require_run();
  TrainedModel trained(directory, takes_best(directory, checkpoint));
  return {trained.model(), trained.engine().Engine::read(trained.parameters()), resolved_config(trained.config())};
}

}  // namespace throughtime

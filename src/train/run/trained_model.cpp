#include "train/run/trained_model.h"

#include <nlohmann/json.hpp>

#include "core/files.h"
#include "throughtime/error.h"
#include "train/checkpoint/checkpoint.h"
#include "train/run/session.h"

namespace throughtime {
namespace {

std::filesystem::path path_in(const std::string& directory) {
  return std::filesystem::path(directory) / "interface.json";
}

Model model_of(const RunConfig& config, const std::string& task_directory) {
  const ModelInterface interface(task_directory);
  return Model(make_model_config(config.model, interface.input, interface.head));
}

}  // namespace

ModelInterface::ModelInterface(const std::string& directory) {
  const std::filesystem::path path = path_in(directory);
  if (!std::filesystem::exists(path))
    refuse("run", "there is no {}, which says what the model reads and predicts", path.string());
  try {
    const nlohmann::json document = nlohmann::json::parse(read_file(path));
    document.at("reals").get_to(input.reals);
    document.at("vocabulary").get_to(input.vocabulary);
    document.at("head").get_to(head.name);
    document.at("outputs").get_to(head.outputs);
  } catch (const nlohmann::json::exception& error) {
    refuse("run", "{} does not say what the model reads and predicts: {}", path.string(), error.what());
  }
}

void ModelInterface::save(const std::string& directory) const {
  const nlohmann::ordered_json document = {
      {"reals", input.reals}, {"vocabulary", input.vocabulary}, {"head", head.name}, {"outputs", head.outputs}};
  replace_file(path_in(directory), document.dump(2) + "\n");
}

void load_evaluated(const TensorFile& checkpoint, const OptimizerConfig& optimizer, Engine& engine, Buffer parameters) {
  LoadingArchive archive(checkpoint);
  archive.parameters(engine, parameters);
  if (optimizer.average == Averaging::off && find_optimizer(optimizer.name).average < 0) return;
  Trainee trainee{.engine = engine,
                  .parameters = parameters,
                  .gradient = {},
                  .optimizer = engine.make_optimizer(optimizer, parameters),
                  .clip = {},
                  .average = {engine, optimizer, parameters.size}};
  {
    const Archive::Scope scope(archive, "optimizer");
    trainee.optimizer->archive(archive, engine);
  }
  {
    const Archive::Scope scope(archive, "average");
    trainee.average.archive(archive);
  }
  if (const Buffer judged = evaluated_parameters(trainee, optimizer); judged.id != parameters.id)
    engine.copy(judged, parameters);
}

namespace {

/// The engine of the run; where it cannot compute here, as without the GPU it was trained on, the host's.
EngineConfig engine_here(const RunConfig& config, const Model& model) {
  EngineConfig engine = make_engine_config(config.run, config.train.batch);
  engine.name = choose_engine(engine.name, model, engine.rows).name;
  if (!find_engine(engine.name).usable()) engine.name = EngineConfig().name;
  return engine;
}

}  // namespace

TrainedModel::TrainedModel(const std::filesystem::path& run, bool best)
    : config_(RunDirectory(run).load_config()),
      task_directory_(RunDirectory(run).task().string()),
      model_(model_of(config_, task_directory_)),
      engine_(make_engine(model_, engine_here(config_, model_))),
      parameters_(engine_->allocate(model_.parameters().size())) {
  load_evaluated(load_checkpoint(run, best), config_.optimizer.rule, *engine_, parameters_);
}

}  // namespace throughtime

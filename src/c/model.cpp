#include "c/model.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "throughtime/index.h"
#include "train/checkpoint/weights.h"

namespace throughtime::c {
namespace {

constexpr const char* interface_key = "throughtime.interface";
constexpr const char* note_key = "throughtime.note";

/// One thread: a step of one row has nothing to share, and a process that forks loses no worker.
EngineConfig live_engine(const RunConfig& config) {
  EngineConfig engine = make_engine_config(config.run, 1);
  engine.threads = 1;
  return engine;
}

Model model_of(const RunConfig& config, const Interface& interface) {
  return Model(make_model_config(config.model, interface.input(), interface.head()));
}

}  // namespace

Scales::Scales(const Interface& interface, const ScaleOptions& options)
    : inputs(elements(interface.reals), options),
      targets(interface.labels ? 0 : elements(interface.outputs), options) {}

void Scales::add(std::span<const float> of_inputs, std::span<const float> of_targets) {
  if (!of_inputs.empty()) inputs.add(of_inputs);
  if (!of_targets.empty()) targets.add(of_targets);
}

void Scales::archive(Archive& archive) {
  {
    const Archive::Scope scope(archive, "input_scales");
    inputs.archive(archive);
  }
  const Archive::Scope scope(archive, "target_scales");
  targets.archive(archive);
}

Live::Live(const Model& model, const RunConfig& config, const std::vector<double>& parameters)
    : engine(make_engine(model, live_engine(config))), learner(*engine, parameters, make_online_config(config)) {}

std::string Memory::learner_text(const RunConfig& config) {
  RunConfig alone;
  alone.learner = config.learner;
  return resolved_config(alone);
}

ModelObject::ModelObject(const Model& model, RunConfig config, const Interface& interface,
                         std::vector<double> parameters)
    : inputs(elements(interface.reals)),
      targets(elements(interface.outputs)),
      moved(elements(interface.outputs)),
      config_(std::move(config)),
      interface_(interface),
      model_(model),
      parameters_(std::move(parameters)) {}

ModelObject::ModelObject(const RunConfig& config, const Interface& interface)
    : ModelObject(model_of(config, interface), config, interface, {}) {
  parameters_ = initialise(model_, config_.model.initialise, config_.train.seed);
}

std::shared_ptr<ModelObject> ModelObject::copy() {
  const std::shared_ptr<ModelObject> other(new ModelObject(model_, config_, interface_, parameters()));
  if (scales) other->scales = std::make_unique<Scales>(*scales);
  other->memory_ = memory();
  other->note = note;
  return other;
}

std::optional<Memory> ModelObject::memory() const { return live_ ? Memory::of(live_->learner, config_) : memory_; }

void ModelObject::set_config(RunConfig config) {
  const Model other = model_of(config, interface_);
  const auto& mine = model_.parameters().blocks();
  const auto& theirs = other.parameters().blocks();
  bool same = mine.size() == theirs.size() && config.model.cell == config_.model.cell;
  for (std::size_t i = 0; same && i < mine.size(); ++i)
    same = mine[i].name == theirs[i].name && mine[i].shape == theirs[i].shape;
  if (!same) refuse("c", "these options describe another model than the one that has the weights");
  end_streams();
  config_ = std::move(config);
  model_ = other;
}

const std::vector<double>& ModelObject::parameters() {
  if (live_) parameters_ = live_->engine->Engine::read(live_->learner.parameters());
  return parameters_;
}

void ModelObject::set_parameters(std::vector<double> parameters) {
  live_.reset();
  memory_.reset();
  parameters_ = std::move(parameters);
}

OnlineLearner& ModelObject::learner() {
  if (!live_) {
    auto live = std::make_unique<Live>(model_, config_, parameters_);
    if (memory_) memory_->restore(live->learner, config_);
    live_ = std::move(live);  // only one that has all of it
  }
  return live_->learner;
}

void ModelObject::end_streams() {
  if (!live_) return;
  parameters();
  memory_ = memory();
  live_.reset();
}

void ModelObject::save(const std::string& path, const std::string& with_note) {
  TensorFile file;
  const nlohmann::json interface = {{"reals", interface_.reals},
                                    {"vocabulary", interface_.vocabulary},
                                    {"outputs", interface_.outputs},
                                    {"labels", interface_.labels},
                                    {"live", is_live()},
                                    {"scales", scales != nullptr},
                                    {"optimizer", !is_live() && memory_ ? memory_->optimizer : ""},
                                    {"learner", !is_live() && memory_ ? memory_->learner : ""}};
  file.metadata = {{config_key, resolved_config(config_)}, {interface_key, interface.dump()}, {note_key, with_note}};
  SavingArchive archive(file);
  if (live_) {
    live_->learner.archive(archive);
  } else {
    add_weights(file, model_.parameters(), parameters_);
    if (memory_) std::ranges::copy(memory_->file.tensors, std::back_inserter(file.tensors));
  }
  if (scales) scales->archive(archive);
  write_tensors(path, file);
}

void ModelObject::load_state(const TensorFile& file) {
  const nlohmann::json interface = nlohmann::json::parse(file.metadata.at(interface_key));
  LoadingArchive archive(file);
  parameters_ = weights_of(file, model_.parameters(), "load");
  if (interface.at("live").get<bool>()) learner().archive(archive);
  if (interface.at("scales").get<bool>()) {
    scales = std::make_unique<Scales>(interface_, config_.stream.scales);
    scales->archive(archive);
  }
  const auto whose = interface.at("optimizer").get<std::string>();
  if (whose.empty()) return;
  memory_ = Memory{.optimizer = whose, .learner = interface.at("learner").get<std::string>(), .file = {}};
  for (const Tensor& tensor : file.tensors)
    for (const char* part : {"throughtime.optimizer.", "throughtime.schedule.", "throughtime.learner."})
      if (tensor.name.starts_with(part)) memory_->file.tensors.push_back(tensor);
}

std::shared_ptr<ModelObject> ModelObject::load(const std::string& path) {
  const TensorFile file = read_tensors(path, true);
  for (const char* key : {config_key, interface_key, note_key})
    if (!file.metadata.contains(key)) refuse("load", "{} is no saved model: it has no {}", path, key);
  try {
    const nlohmann::json document = nlohmann::json::parse(file.metadata.at(interface_key));
    Interface interface;
    document.at("reals").get_to(interface.reals);
    document.at("vocabulary").get_to(interface.vocabulary);
    document.at("outputs").get_to(interface.outputs);
    document.at("labels").get_to(interface.labels);
    auto model = std::make_shared<ModelObject>(parse_config(file.metadata.at(config_key), path), interface);
    model->load_state(file);
    model->note = file.metadata.at(note_key);
    return model;
  } catch (const nlohmann::json::exception& error) {
    refuse("load", "{} does not say what the model reads and predicts: {}", path, error.what());
  }
}

RunConfig config_of(const char* options) {
  RunConfig config = parse_config(require(options, "options"), "options");
  config.task.name = "arrays";
  if (config.run.name.empty()) config.run.name = "arrays";
  return config;
}

}  // namespace throughtime::c

using namespace throughtime;
using namespace throughtime::c;

extern "C" {

int tt_model_new(const char* options, int32_t reals, int32_t vocabulary, int32_t outputs, int32_t labels,
                 int64_t* model) {
  return guarded([&] {
    require(model, "model");
    const Interface interface { .reals = reals, .vocabulary = vocabulary, .outputs = outputs, .labels = labels != 0 };
    *model = keep(std::make_shared<ModelObject>(config_of(options), interface));
  });
}

int tt_model_copy(int64_t model, int64_t* copy) {
  return guarded([&] {
    require(copy, "copy");
    *copy = keep(Use<ModelObject>(model)->copy());
  });
}

int tt_model_set_options(int64_t model, const char* options) {
  return guarded([&] { Use<ModelObject>(model)->set_config(config_of(options)); });
}

int tt_model_describe(int64_t model, char* text, size_t capacity, size_t* length) {
  return guarded([&] {
    const Use<ModelObject> object(model);
    nlohmann::ordered_json blocks = nlohmann::ordered_json::array();
    for (const ParameterBlock& block : object->model().parameters().blocks())
      blocks.push_back({{"name", block.name}, {"offset", block.offset}, {"shape", block.shape}});
    const Interface& interface = object->interface();
    const nlohmann::ordered_json document = {{"reals", interface.reals},
                                             {"vocabulary", interface.vocabulary},
                                             {"outputs", interface.outputs},
                                             {"labels", interface.labels},
                                             {"parameters", object->model().parameters().size()},
                                             {"state", object->model().state_size()},
                                             {"live", object->is_live()},
                                             {"blocks", blocks},
                                             {"options", resolved_config(object->config())}};
    hand_out(document.dump(), text, capacity, length);
  });
}

int tt_model_get_parameters(int64_t model, double* values, int64_t count) {
  return guarded([&] {
    const Use<ModelObject> object(model);
    const std::vector<double>& all = object->parameters();
    if (count != static_cast<int64_t>(all.size()))
      refuse("c", "the model has {} weights, got room for {}", all.size(), count);
    std::copy(all.begin(), all.end(), require(values, "values"));
  });
}

int tt_model_set_parameters(int64_t model, const double* values, int64_t count) {
  return guarded([&] {
    const Use<ModelObject> object(model);
    const auto size = static_cast<int64_t>(object->model().parameters().size());
    if (count != size) refuse("c", "the model has {} weights, got {}", size, count);
    std::vector<double> all(require(values, "values"), values + count);
    if (!std::ranges::all_of(all, [](double value) { return std::isfinite(value); }))
      refuse("c", "weights must be finite numbers");
    object->set_parameters(std::move(all));
  });
}

int tt_model_save(int64_t model, const char* path, const char* note) {
  return guarded([&] {
    Use<ModelObject>(model)->save(require(path, "path"), note == nullptr ? std::string() : std::string(note));
  });
}

int tt_model_load(const char* path, int64_t* model) {
  return guarded([&] {
    require(model, "model");
    *model = keep(ModelObject::load(require(path, "path")));
  });
}

int tt_model_note(int64_t model, char* text, size_t capacity, size_t* length) {
  return guarded([&] { hand_out(Use<ModelObject>(model)->note, text, capacity, length); });
}
}

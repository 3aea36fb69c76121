#include <filesystem>

#include "c/data.h"
#include "c/model.h"
#include "c/progress.h"
#include "train/diagnose/diagnosis.h"
#include "train/run/session.h"

namespace throughtime::c {
namespace {

/// What a fit does with a model before and after the run.
class Fit {
 public:
  Fit(ModelObject& model, bool go_on, bool keep_best) : model_(model), keep_best_(keep_best) {
    if (go_on) memory_ = model.memory();
  }

  RunHooks hooks() {
    return {
        .first = [this](const ParameterLayout&, std::vector<double>& parameters) { parameters = model_.parameters(); },
        .before = [this](Trainer& trainer) { restore(trainer); },
        .after = [this](Trainer& trainer) { take(trainer); }};
  }

 private:
  void restore(Trainer& trainer) const {
    if (memory_) memory_->restore(trainer, trainer.config());
  }

  /// Only now do streams end: a run that failed has changed nothing.
  void take(Trainer& trainer) const {
    const Buffer best = keep_best_ ? trainer.best_parameters() : Buffer{};
    model_.set_parameters(trainer.engine().Engine::read(best ? best : trainer.evaluated_parameters()));
    if (!best) model_.remember(Memory::of(trainer, trainer.config()));  // else it belongs to the last weights
  }

  ModelObject& model_;
  bool keep_best_;
  std::optional<Memory> memory_;  // what the training goes on with
};

RunConfig config_for(ModelObject& model, std::int64_t data) {
  RunConfig config = model.config();
  config.task.arrays.memory = arrays_of(data);
  const Interface& interface = model.interface();
  require_fit(*config.task.arrays.memory, interface.reals, interface.vocabulary, interface.outputs, interface.labels);
  return config;
}

/// So that the run can be resumed by whoever has none of this memory.
void record_in(RunConfig& config, const Interface& interface, const std::string& directory) {
  const std::filesystem::path path = std::filesystem::absolute(directory);
  config.run.directory = path.string();
  config.run.name = path.filename().string();
  config.task.arrays.path = RunDirectory(path).task().string();
  config.task.arrays.classes = interface.labels ? interface.outputs : 0;
  config.task.arrays.vocabulary = interface.vocabulary;
}

/// A number, or -1: as the options say.
void require_or_open(const char* name, std::int32_t value) {
  if (value < -1) refuse("c", "{} must be at least 0, or -1 for what the options say, got {}", name, value);
}

}  // namespace
}  // namespace throughtime::c

using namespace throughtime;
using namespace throughtime::c;

extern "C" {

int tt_model_fit(int64_t model, int64_t data, const char* directory, int32_t go_on, int32_t keep_best,
                 tt_progress progress, void* user) {
  return guarded([&] {
    const Use<ModelObject> object(model);
    RunConfig config = config_for(*object, data);
    if (directory != nullptr) record_in(config, object->interface(), directory);
    ProgressCaller caller(progress, user);
    Fit fit(*object, go_on != 0, keep_best != 0);
    caller.tell_end(train_run(config, caller, fit.hooks(), directory != nullptr));
  });
}

int tt_model_diagnose(int64_t model, int64_t data, int32_t positions, int32_t lags, int32_t burn_in, char* text,
                      size_t capacity, size_t* length) {
  return guarded([&] {
    const Use<ModelObject> object(model);
    require(length, "length");
    require_or_open("positions", positions);
    require_or_open("lags", lags);
    require_or_open("burn_in", burn_in);
    RunConfig config = config_for(*object, data);
    if (config.task.arrays.memory->recording) config.train.batch = 1;  // the longest places to look at
    config.train.evaluate_every = config.train.evaluate_epochs = 0;    // there is nothing to validate
    config.optimizer.rule.average = Averaging::off;                    // nor to wait for validations
    Trainer trainer(config, "", nullptr, [&](const ParameterLayout&, std::vector<double>& parameters) {
      parameters = object->parameters();
    });
    const Diagnosis diagnosis = diagnose(trainer, {.positions = positions, .lags = lags, .burn_in = burn_in});
    hand_out(diagnosis_json(diagnosis, config.run.name), text, capacity, length);
  });
}
}

#include "throughtime/engine.h"

#include "core/names.h"
#include "engine/cpu/cpu_engine.h"
#include "engine/ranks/rank_engine.h"
#include "engine/reference/reference_engine.h"
#include "throughtime/archive.h"
#include "throughtime/error.h"

namespace throughtime {

std::vector<double> Engine::read(Buffer buffer) const {
  std::vector<double> values(buffer.size);
  read(buffer, values);
  return values;
}

void OptimizerState::archive(Archive& archive, Engine& engine) {
  archive.integer("step", step);
  for (std::size_t k = 0; k < moments.size(); ++k) archive.buffer("moment." + std::to_string(k), engine, moments[k]);
}

namespace {

std::unique_ptr<Engine> make_one(const Model& model, const EngineConfig& config) {
  if (config.name == "reference") return make_reference_engine(model, config);
  if (config.name == "cpu") return make_cpu_engine(model, config);
  refuse_unknown("engine", "engine", config.name, engine_names());
}

}  // namespace

std::unique_ptr<Engine> make_engine(const Model& model, const EngineConfig& config) {
  if (config.threads < 1) refuse("engine", "threads must be at least 1, got {}", config.threads);
  std::unique_ptr<Engine> engine = make_one(model, config);
  const bool several = config.communicator && config.communicator->ranks() > 1;
  return several ? make_rank_engine(std::move(engine), config.communicator) : std::move(engine);
}

std::vector<std::string> engine_names() { return {"reference", "cpu"}; }

}  // namespace throughtime

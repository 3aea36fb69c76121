#include "throughtime/engine.h"

#include "core/memory.h"
#include "core/registry.h"
#include "engine/cpu/cpu_engine.h"
#include "engine/cuda/cuda_engine.h"
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

Registry<EngineType>& engines() {
  static Registry<EngineType> registry(
      "engine",
      {
          {.name = "reference",
           .description = "double precision, plain loops: slow and obvious",
           .make = make_reference_engine,
           .exact = true},
          {.name = "cpu", .description = "single precision, SIMD and threads: the fast one", .make = make_cpu_engine},
          {.name = "cuda",
           .description = "single precision on an NVIDIA GPU: large batches, wide layers, long windows",
           .make = make_cuda_engine,
           .on_host = false,
           .missing = cuda_absence},
      });
  return registry;
}

}  // namespace

std::unique_ptr<Engine> make_engine(const Model& model, const EngineConfig& config) {
  if (config.threads < 1) refuse("engine", "threads must be at least 1, got {}", config.threads);
  const EngineType& type = find_engine(choose_engine(config.name, model, config.rows).name);
  require_usable(type);
  // An engine keeps the weights in an order of its own beside the vector that is trained; one that does so elsewhere
  // asks there when it is made.
  const std::size_t parameters = model.parameters().size();
  if (type.on_host)
    require_memory("model", fmt::format("a model of {} parameters", parameters),
                   static_cast<double>(parameters) * sizeof(double));
  std::unique_ptr<Engine> engine = type.make(model, config);
  const bool several = config.communicator && config.communicator->ranks() > 1;
  return several ? make_rank_engine(std::move(engine), config.communicator) : std::move(engine);
}

const EngineType& find_engine(const std::string& name) { return engines().find(name); }
void register_engine(EngineType engine) { engines().add(std::move(engine)); }
std::vector<const EngineType*> all_engines() { return engines().all(); }
std::vector<std::string> engine_names() { return engines().names(); }

std::vector<const EngineType*> usable_engines() {
  std::vector<const EngineType*> usable = all_engines();
  std::erase_if(usable, [](const EngineType* engine) { return !engine->usable(); });
  return usable;
}

void require_usable(const EngineType& engine) {
  if (!engine.usable()) refuse(engine.name, "{}", engine.missing());
}

}  // namespace throughtime

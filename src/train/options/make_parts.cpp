#include <sched.h>

#include <algorithm>
#include <thread>

#include "throughtime/error.h"
#include "throughtime/online.h"
#include "train/options/config.h"

// What the options of a run mean to the library: the model and the engine that they describe.

namespace throughtime {
namespace {

template <class T>
const T& of_layer(const std::vector<T>& list, int layer) {
  return list.size() == 1 ? list.front() : list[layer];
}

}  // namespace

ModelConfig make_model_config(const ModelOptions& options, const Task& task) {
  if (!options.head.empty() && find_head(options.head).band != HeadBand::none && task.forecast() == nullptr)
    refuse("model", "model.head = \"{}\" is for forecasts (task.name = \"series\"); leave it empty for this task",
           options.head);
  return make_model_config(options, task.input(), task.head());
}

ModelConfig make_model_config(const ModelOptions& options, const InputConfig& input, const HeadConfig& head) {
  ModelConfig model;
  model.input = input;
  model.head = head;
  model.dropout = options.dropout;
  model.penalties = options.penalties;
  if (model.input.vocabulary > 0 && options.embedding > 0) {
    model.input.tokens = TokenInput::embedding;
    model.input.embedding = options.embedding;
  }
  model.input.encoder = options.encoder;
  model.head.hidden = options.head_hidden;
  model.head.levels = options.levels;
  model.head.experts = options.experts;
  model.head.latent = options.latent;
  model.head.epsilon = options.mixture_epsilon;
  if (!options.head.empty()) {
    const HeadType &type = find_head(options.head), &own = find_head(head.name);
    if (type.target != own.target || own.beside > 0)
      refuse("model", "model.head = \"{}\" needs {}, and the targets of this task are others; leave it empty",
             type.name,
             takes_label(type.target) ? "labels, one of some classes at each step with a loss" : "target values");
    if (type.band != HeadBand::none && options.levels.empty())
      refuse("model", "model.head = \"{}\" needs model.levels, such as [0.1, 0.5, 0.9]", type.name);
    model.head.name = options.head;
    model.head.outputs = head.outputs * type.outputs_per_target(options.levels.size());
  }
  model.head.tied = options.tied;
  for (int layer = 0; layer < options.layers; ++layer)
    model.layers.push_back({.cell = of_layer(options.cell, layer),
                            .hidden = of_layer(options.hidden, layer),
                            .options = options.cell_options});
  return model;
}

namespace {

/// Cores that this process may use: a launcher may have bound it to some of the machine's.
int cores_of_rank(const Communicator& ranks, int cores) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  const int bound = sched_getaffinity(0, sizeof(allowed), &allowed) == 0 ? CPU_COUNT(&allowed) : cores;
  return std::max(1, std::min(bound, cores / ranks.local_ranks()));
}

}  // namespace

EngineConfig make_engine_config(const RunOptions& options, int rows, std::shared_ptr<Communicator> ranks) {
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  EngineConfig engine;
  engine.name = options.engine;
  engine.rows = rows;
  engine.threads = options.threads > 0 ? options.threads : ranks ? cores_of_rank(*ranks, cores) : cores;
  engine.communicator = std::move(ranks);
  return engine;
}

OnlineConfig make_online_config(const RunConfig& config) {
  return {.learner = config.learner,
          .optimizer = config.optimizer.rule,
          .rate = config.optimizer.rate,
          .clip = config.optimizer.clip,
          .schedule = config.optimizer.schedule,
          .steps_per_epoch = config.train.iterations_per_epoch,
          .slots = config.stream.slots,
          .seed = config.train.seed,
          .anchor = config.stream.anchor};
}

}  // namespace throughtime

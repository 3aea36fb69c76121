#include "bench/costs.h"

#include "bench/metered_engine.h"
#include "throughtime/throughtime.h"

namespace throughtime::bench {
namespace {

template <class Config>
Costs count(const std::string& method, const Config& config, int steps) {
  const auto task = make_task(AddConfig{.length = steps}, 1);
  ModelConfig of_model;
  of_model.input = task->input();
  of_model.layers.push_back({.cell = "lstm", .hidden = 128, .options = {}});
  of_model.head = task->head();
  const Model model(of_model);
  MeteredEngine engine(make_engine(model, {}));
  Trainee trainee = make_trainee(engine, initialise(model, {}, 1), {.name = "adam"}, {.value = 0, .norm = 1});
  const auto learner =
      make_learner(config, trainee, {.steps = steps, .batch = 1, .losses = task->loss_steps(), .terminal = true});
  learner->learn(task->make_batch(Split::train, 0, 1), [](std::int64_t) { return 1e-3; });
  return {.method = method,
          .steps = steps,
          .gradient_steps = engine.gradient_steps(),
          .gradients = engine.gradients(),
          .updates = engine.updates(),
          .activation_bytes = learner->activation_bytes()};
}

}  // namespace

std::vector<Costs> costs_of(int steps) {
  return {count("bptt", BpttConfig{}, steps), count("fptt", FpttConfig{.windows = steps}, steps),
          count("fptt-10", FpttConfig{.windows = 10}, steps)};
}

}  // namespace throughtime::bench

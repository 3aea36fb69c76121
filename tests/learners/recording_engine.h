#pragma once

#include <memory>
#include <string>
#include <vector>

#include "support/engine_run.h"
#include "throughtime/forwarding_engine.h"
#include "throughtime/learner.h"

namespace throughtime::testing {

/// The reference engine, which also remembers what a learner asked of it.
class RecordingEngine final : public ForwardingEngine {
 public:
  explicit RecordingEngine(const Model& model) : ForwardingEngine(make_engine(model, EngineRun::reference())) {}

  struct UnrollRecord {
    Window window;
    Keep keep;
    std::vector<double> initial_state;  // empty: zeros
    std::vector<float> target_values;   // what the window's span showed then
  };
  struct UpdateRecord {
    std::vector<double> gradient;  // scaled, before clipping
    double rate;
  };
  std::vector<UnrollRecord> unrolls;
  std::vector<UpdateRecord> updates;

  void unroll(const UnrollCall& call) override {
    unrolls.push_back({call.window,
                       call.tape.shape().keep,
                       call.initial_state ? read(call.initial_state) : std::vector<double>(),
                       {call.window.targets.values.begin(), call.window.targets.values.end()}});
    ForwardingEngine::unroll(call);
  }
  void apply_update(const UpdateCall& call) override {
    updates.push_back({read(call.gradient), call.rate});
    for (double& value : updates.back().gradient) value *= call.gradient_scale;
    ForwardingEngine::apply_update(call);
  }

  std::string_view name() const override { return "recording"; }
};

/// A learner on a recording engine, with plain gradient steps.
struct Lesson {
  /// `config`: the settings of a method, or of all.
  template <class Config = LearnerConfig>
  Lesson(const Problem& problem, const Config& config, int longest_stretch, double rate = 0)
      : engine(*problem.model),
        trainee(make_trainee(engine, problem.parameters, sgd(), {})),
        learner(make_learner(config, trainee,
                             {.steps = longest_stretch, .batch = problem.window.batch, .lengths_vary = true})),
        rate(rate) {}
  static OptimizerConfig sgd() {
    OptimizerConfig config;
    config.name = "sgd";
    return config;
  }
  void learn(const Window& stretch) {
    learner->learn(stretch, [this](std::int64_t) { return rate; });
  }
  /// Learns the window as stretches of these lengths, each continuing the one before.
  void learn_in_stretches(const Window& window, const std::vector<int>& lengths) {
    int first = 0;
    for (const int length : lengths) {
      Window stretch;
      slice(window, first, length, stretch);
      learn(stretch);
      first += length;
    }
  }
  std::vector<double> parameters() const { return engine.Engine::read(trainee.parameters); }

  RecordingEngine engine;
  Trainee trainee;
  std::unique_ptr<Learner> learner;
  double rate;
};

}  // namespace throughtime::testing

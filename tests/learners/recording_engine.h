#pragma once

#include <memory>
#include <string>
#include <vector>

#include "support/engine_run.h"
#include "throughtime/learner.h"

namespace throughtime::testing {

/// The reference engine, which also remembers what a learner asked of it.
class RecordingEngine final : public Engine {
 public:
  explicit RecordingEngine(const Model& model) : inner_(make_engine(model, EngineRun::reference())) {}

  struct UnrollRecord {
    Window window;
    Keep keep;
    std::vector<double> initial_state;  // empty: zeros
  };
  struct UpdateRecord {
    std::vector<double> gradient;  // scaled, before clipping
    double rate;
  };
  std::vector<UnrollRecord> unrolls;
  std::vector<UpdateRecord> updates;

  void unroll(const UnrollCall& call) override {
    unrolls.push_back({call.window, call.tape.shape().keep,
                       call.initial_state ? inner_->Engine::read(call.initial_state) : std::vector<double>()});
    inner_->unroll(call);
  }
  void apply_update(const UpdateCall& call) override {
    updates.push_back({inner_->Engine::read(call.gradient), call.rate});
    for (double& value : updates.back().gradient) value *= call.gradient_scale;
    inner_->apply_update(call);
  }

  const Model& model() const override { return inner_->model(); }
  std::string_view name() const override { return "recording"; }
  int threads() const override { return 1; }
  std::size_t number_bytes() const override { return inner_->number_bytes(); }
  Buffer allocate(std::size_t size) override { return inner_->allocate(size); }
  std::unique_ptr<Tape> make_tape(const TapeShape& shape) override { return inner_->make_tape(shape); }
  std::unique_ptr<OptimizerState> make_optimizer(const OptimizerConfig& config, Buffer target) override {
    return inner_->make_optimizer(config, target);
  }
  void write(Buffer buffer, std::span<const double> values) override { inner_->write(buffer, values); }
  void read(Buffer buffer, std::span<double> values) const override { inner_->read(buffer, values); }
  void pull_back(const PullBackCall& call) override { inner_->pull_back(call); }
  void copy(Buffer from, Buffer to) override { inner_->copy(from, to); }
  void fill(Buffer buffer, double value) override { inner_->fill(buffer, value); }
  void scale(Buffer buffer, double factor) override { inner_->scale(buffer, factor); }
  void axpy(double factor, Buffer x, Buffer y) override { inner_->axpy(factor, x, y); }
  void dot(Buffer x, Buffer y, Buffer result) override { inner_->dot(x, y, result); }
  void gather_rows(Buffer table, int width, std::span<const std::int64_t> indices, Buffer rows) override {
    inner_->gather_rows(table, width, indices, rows);
  }
  void scatter_add_rows(Buffer rows, int width, std::span<const std::int64_t> indices, Buffer table) override {
    inner_->scatter_add_rows(rows, width, indices, table);
  }
  void scatter_rows(Buffer rows, int width, std::span<const std::int64_t> indices, Buffer table) override {
    inner_->scatter_rows(rows, width, indices, table);
  }

 private:
  std::unique_ptr<Engine> inner_;
};

/// A learner on a recording engine, with plain gradient steps.
struct Lesson {
  Lesson(const Problem& problem, const LearnerConfig& config, int longest_stretch, double rate = 0)
      : engine(*problem.model),
        trainee(make_trainee(engine, problem.parameters, sgd(), {})),
        learner(make_learner(config, trainee, {.steps = longest_stretch, .batch = problem.window.batch})),
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

#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "learners/recording_engine.h"
#include "support/random_problem.h"
#include "throughtime/index.h"
#include "throughtime/learner.h"

namespace throughtime::testing {

inline RateFunction constant(double rate) {
  return [rate](std::int64_t) { return rate; };
}
inline const RateFunction no_rate = constant(0);

inline FpttConfig fptt(int windows, FpttForm form = FpttForm::lambda, double alpha = 0.5) {
  return {.windows = windows, .form = form, .alpha = alpha};
}

inline OptimizerConfig optimizer(const std::string& name) {
  OptimizerConfig config;
  config.name = name;
  return config;
}

/// A net whose only number with a gradient is the head's bias w, with the loss (w - c_t)^2 / 2 at step t: the input,
/// all other parameters and so the state are zero, and the mean over two outputs halves the square.
class Parabolas {
 public:
  template <class Config>
  Parabolas(const std::string& engine, std::vector<float> centres, const Config& config,
            const std::string& rule = "sgd", double start = 5)
      : model_(model()), values_(centres.size(), 0.0f) {
    for (const float centre : centres) targets_.insert(targets_.end(), 2, centre);
    source_ = {.steps = centres.size(),
               .reals = 1,
               .target_width = 2,
               .values = values_,
               .tokens = {},
               .labels = {},
               .target_values = targets_};
    window_.steps = static_cast<int>(centres.size());
    window_.batch = 1;
    window_.sources = {&source_, 1};
    window_.start = {0};
    window_.weight.assign(centres.size(), 1.0f);
    engine_ = make_engine(model_, {.name = engine, .threads = 1, .communicator = nullptr});
    std::vector<double> parameters(model_.parameters().size(), 0.0);
    bias_ = model_.parameters().find("head.bias").offset;
    parameters[bias_] = parameters[bias_ + 1] = start;
    trainee_ = std::make_unique<Trainee>(make_trainee(*engine_, parameters, optimizer(rule), {}));
    learner_ = make_learner(config, *trainee_, {window_.steps, 1});
  }

  void learn(double rate) { learner_->learn(window_, constant(rate)); }
  double w() const { return engine_->read(trainee_->parameters)[bias_]; }
  Learner& learner() { return *learner_; }

 private:
  static ModelConfig model() { return with_head(stack_of("rnn_linear", {1}, 1), "regression", 2); }

  Model model_;
  std::vector<float> values_, targets_;
  Source source_;
  Window window_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Trainee> trainee_;
  std::unique_ptr<Learner> learner_;
  std::size_t bias_ = 0;
};

/// Tests that run on every engine.
class FpttOnEngine : public ::testing::TestWithParam<std::string> {
 protected:
  double tolerance() const { return GetParam() == "reference" ? 1e-12 : 2e-6; }
};
/// W, W-bar and lambda as bare vectors under apply_update.
class BareUpdate {
 public:
  BareUpdate(const std::string& engine_name, const std::string& rule, std::vector<double> start)
      : model_(with_head(stack_of("rnn_tanh", {2}), "regression", 1)),
        engine_(make_engine(model_, {.name = engine_name, .threads = 2, .communicator = nullptr})),
        weights(engine_->allocate(start.size())),
        gradient(engine_->allocate(start.size())),
        average(engine_->allocate(start.size())),
        multiplier(engine_->allocate(start.size())),
        diagnostics(engine_->allocate(3)),
        optimizer_(engine_->make_optimizer(optimizer(rule), weights)) {
    engine_->write(weights, start);
    engine_->write(average, start);
  }

  void step(const std::vector<double>& g, double rate, double alpha, double penalty = 1, double averaging = 0.5) {
    engine_->write(gradient, g);
    const DynamicRegulariser terms{average, multiplier, alpha, penalty, averaging, true, diagnostics};
    engine_->apply_update(
        {.target = weights, .gradient = gradient, .optimizer = *optimizer_, .rate = rate, .regulariser = &terms});
  }
  std::vector<double> read(Buffer buffer) const { return engine_->read(buffer); }
  Engine& engine() { return *engine_; }

 private:
  Model model_;
  std::unique_ptr<Engine> engine_;

 public:
  Buffer weights, gradient, average, multiplier, diagnostics;

 private:
  std::unique_ptr<OptimizerState> optimizer_;
};

/// Parameters after a number of stretches of one problem.
template <class Config>
std::vector<double> train(const Problem& problem, const std::string& engine_name, const Config& config, int stretches,
                          const std::string& rule = "sgd") {
  const auto engine = make_engine(*problem.model, {.name = engine_name, .threads = 2, .communicator = nullptr});
  Trainee trainee = make_trainee(*engine, problem.parameters, optimizer(rule), {.value = 0, .norm = 1});
  const auto learner = make_learner(config, trainee, {problem.window.steps, problem.window.batch});
  for (int i = 0; i < stretches; ++i) learner->learn(problem.window, constant(0.1));
  return engine->read(trainee.parameters);
}

}  // namespace throughtime::testing

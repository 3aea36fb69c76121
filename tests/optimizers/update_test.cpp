#include <gtest/gtest.h>

#include <cmath>

#include "support/engine_run.h"
#include "support/random_problem.h"
#include "throughtime/engine.h"

// Optimizers as engines run them: clipping, order of the terms, other buffers than parameters, reset.
namespace throughtime {
namespace {

class Update : public ::testing::Test {
 protected:
  Update() : model_(testing::stack_of("rnn_tanh", {2})), engine_(make_engine(model_, testing::EngineRun::reference())) {
    target_ = engine_->allocate(2);
    gradient_ = engine_->allocate(2);
    norm_ = engine_->allocate(1);
  }
  std::unique_ptr<OptimizerState> make(const OptimizerConfig& config) {
    return engine_->make_optimizer(config, target_);
  }
  std::vector<double> run(OptimizerState& optimizer, std::vector<double> from, std::vector<double> gradient, Clip clip,
                          double scale = 1) {
    engine_->write(target_, from);
    engine_->write(gradient_, gradient);
    engine_->apply_update({.target = target_,
                           .gradient = gradient_,
                           .optimizer = optimizer,
                           .rate = 1.0,
                           .gradient_scale = scale,
                           .clip = clip,
                           .norm = norm_});
    return engine_->read(target_);
  }
  Model model_;
  std::unique_ptr<Engine> engine_;
  Buffer target_, gradient_, norm_;
};

TEST_F(Update, ClipsTheScaledGradientByValueThenByNorm) {
  const auto sgd = make({.name = "sgd"});
  // Scaled: (6, 0.8); clamped at 3: (3, 0.8), norm 3.1048; then to norm 1.
  const auto got = run(*sgd, {0, 0}, {12, 1.6}, {.value = 3, .norm = 1}, 0.5);
  const double factor = 1 / (std::hypot(3, 0.8) + 1e-6);
  EXPECT_NEAR(got[0], -3 * factor, 1e-12);
  EXPECT_NEAR(got[1], -0.8 * factor, 1e-12);
  EXPECT_NEAR(engine_->read(norm_)[0], std::hypot(6, 0.8), 1e-12);
}

TEST_F(Update, AddsWeightDecayAfterClipping) {
  const auto sgd = make({.name = "sgd", .weight_decay = 0.1});
  const auto got = run(*sgd, {10, -10}, {3, 4}, {.norm = 1});
  EXPECT_NEAR(got[0], 10 - (3 / (5 + 1e-6) + 1.0), 1e-12);
  EXPECT_NEAR(got[1], -10 - (4 / (5 + 1e-6) - 1.0), 1e-12);
}

TEST_F(Update, StartsAnewAfterReset) {
  for (const OptimizerType* type : all_optimizers()) {
    const auto optimizer = make({.name = type->name});
    const auto first = run(*optimizer, {1, 1}, {1, -2}, {});
    run(*optimizer, {1, 1}, {5, 7}, {});
    const auto third = run(*optimizer, {1, 1}, {1, -2}, {});
    if (type->moments > 0 && type->name != "asgd") {
      EXPECT_NE(first, third) << type->name;
    }
    EXPECT_EQ(optimizer->step, 3);
    optimizer->reset();
    EXPECT_EQ(optimizer->step, 0);
    EXPECT_EQ(run(*optimizer, {1, 1}, {1, -2}, {}), first) << type->name;
  }
}

TEST_F(Update, SeparateOptimizersOfOneBufferShareNothing) {
  const auto one = make({.name = "adam"});
  const auto other = make({.name = "adam"});
  const auto first = run(*one, {1, 1}, {1, -2}, {});
  for (int n = 0; n < 5; ++n) run(*one, {1, 1}, {3, 3}, {});
  EXPECT_EQ(run(*other, {1, 1}, {1, -2}, {}), first);
}

}  // namespace
}  // namespace throughtime

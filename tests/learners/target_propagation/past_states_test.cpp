// States of the past, optimised during an evaluation: nothing ahead is looked at, and the steps are those of the
// definition.
#include "learners/target_propagation/past_states.h"

#include <gtest/gtest.h>

#include "support/numeric.h"
#include "train/evaluate/evaluation.h"

namespace throughtime {
namespace {

struct Drawn {
  explicit Drawn(int length)
      : task(make_task(RecallConfig{.length = length, .generator = RecallGenerator::reference}, 1)) {
    ModelConfig config;
    config.input = task->input();
    config.head = task->head();
    config.layers = {{.cell = "lstm", .hidden = 4, .options = {}}};
    model = std::make_unique<Model>(config);
    engine = make_engine(*model, {.name = "reference", .threads = 1, .communicator = nullptr});
    parameters = engine->allocate(model->parameters().size());
    InitialiseConfig draw;
    draw.rule = InitialiseRule::uniform;
    draw.range = 1.0;
    engine->write(parameters, initialise(*model, draw, 7));
  }
  double loss_of(const LearnerConfig& learner, int windows) {
    return Evaluator(*engine, *task, 2, learner).evaluate(parameters, Split::validation, windows).loss;
  }

  std::unique_ptr<Task> task;
  std::unique_ptr<Model> model;
  std::unique_ptr<Engine> engine;
  Buffer parameters;
};

LearnerConfig with_steps(int steps, double rate) {
  LearnerConfig config;
  config.name = "target_propagation";
  config.target_propagation.block = 6;
  config.target_propagation.lambda = 0.7;
  config.target_propagation.state_optimizer = "sgd";
  config.target_propagation.state_rate = rate;
  config.target_propagation.test_steps = steps;
  return config;
}

/// Loss sum of a window from a state, and the state after it.
struct Run {
  double loss;
  std::vector<double> end;
};
Run run(Drawn& drawn, Tape& tape, Buffer state, Buffer sum, const Window& window, std::span<const double> start) {
  drawn.engine->write(state, start);
  drawn.engine->fill(sum, 0);
  drawn.engine->unroll({.window = window,
                        .parameters = drawn.parameters,
                        .tape = tape,
                        .training = false,
                        .initial_state = state,
                        .final_state = state,
                        .loss_sum = sum});
  return {drawn.engine->read(sum)[0], drawn.engine->read(state)};
}

TEST(PastStates, TakeTheirStepsAfterTheBlockWasScored) {
  Drawn drawn(6);
  const auto tape = drawn.engine->make_tape({.steps = 6, .batch = 2, .keep = Keep::nothing});
  const Buffer state = drawn.engine->allocate(2 * 8), sum = drawn.engine->allocate(1);
  std::vector<double> start(2 * 8);
  double loss = 0, weight = 0;
  for (std::uint64_t i = 0; i < 3; ++i) {
    const Window window = drawn.task->make_batch(Split::validation, i, 2);
    loss += run(drawn, *tape, state, sum, window, start).loss;
    for (const float w : window.weight) weight += w;
    std::vector<double> h = start;
    for (int step = 0; step < 2; ++step) {
      const std::vector<double> slope = testing::central_differences(
          [&](std::span<const double> at) {
            double spring = 0;
            for (std::size_t k = 0; k < at.size(); ++k) spring += (at[k] - start[k]) * (at[k] - start[k]);
            return run(drawn, *tape, state, sum, window, at).loss + 0.35 * spring;
          },
          h);
      for (std::size_t k = 0; k < h.size(); ++k) h[k] -= 0.2 * slope[k];
    }
    start = run(drawn, *tape, state, sum, window, h).end;
  }
  EXPECT_NEAR(drawn.loss_of(with_steps(2, 0.2), 3), loss / weight, 1e-9);
  EXPECT_GT(std::abs(drawn.loss_of({}, 3) - loss / weight), 1e-4);
}

TEST(PastStates, ChangeNothingWithoutARateAndInTheFirstBlock) {
  Drawn drawn(6);
  EXPECT_NEAR(drawn.loss_of(with_steps(3, 0), 4), drawn.loss_of({}, 4), 1e-13);
  EXPECT_NEAR(drawn.loss_of(with_steps(3, 0.5), 1), drawn.loss_of({}, 1), 1e-13);
}

TEST(PastStates, AreThereWhereStepsAreAskedFor) {
  Drawn drawn(12);
  TargetPropagationConfig config = with_steps(0, 0.2).target_propagation;
  EXPECT_EQ(make_refiner(config, *drawn.engine, 12, 2), nullptr);
  config.test_steps = 1;
  EXPECT_EQ(make_refiner(config, *drawn.engine, 12, 2)->steps(), 6) << "a block";
  EXPECT_EQ(make_refiner(config, *drawn.engine, 4, 2)->steps(), 4) << "no more than a window has";
}

TEST(PastStates, BelongToBlocksNotToWindows) {
  Drawn two(12), one(6);
  EXPECT_NEAR(two.loss_of(with_steps(2, 0.2), 2), one.loss_of(with_steps(2, 0.2), 4), 1e-12);
}

}  // namespace
}  // namespace throughtime

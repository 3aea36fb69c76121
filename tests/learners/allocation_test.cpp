#include <fmt/format.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <ostream>

#include "allocations/counted_new.h"
#include "support/random_problem.h"
#include "throughtime/learner.h"

namespace throughtime::testing {
namespace {

/// Bytes that malloc has handed out: sees the aligned blocks that operator new does not.
std::size_t bytes_in_use() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

struct Arm {
  std::string learner, memory, engine, optimizer, cell;
  bool continues;

  friend void PrintTo(const Arm& arm, std::ostream* out) { *out << arm.learner << " " << arm.memory << " on " << arm.engine; }
};

class SteadyState : public ::testing::TestWithParam<Arm> {};

TEST_P(SteadyState, AllocatesNothing) {
  const Arm& arm = GetParam();
  ProblemSpec spec;
  spec.model = with_head(stack_of(arm.cell, {20, 9}, 3), "softmax", 5);
  spec.model.dropout = {0.1, 0.1, 0.1, false};
  spec.steps = 40;
  spec.batch = 20;
  spec.zero_weights = 0.2;
  spec.resets = 0.05;
  const Problem problem = random_problem(spec);
  // The whole window again and again, or its eighths one after the other.
  std::vector<Window> stretches(8, problem.window);
  if (arm.continues)
    for (int i = 0; i < 8; ++i) slice(problem.window, 5 * i, 5, stretches[static_cast<std::size_t>(i)]);

  const auto engine = make_engine(*problem.model, {.name = arm.engine, .threads = 2, .communicator = nullptr});
  OptimizerConfig optimizer;
  optimizer.name = arm.optimizer;
  Trainee trainee = make_trainee(*engine, problem.parameters, optimizer, {.value = 0, .norm = 1});
  LearnerConfig config;
  config.name = arm.learner;
  config.memory = arm.memory;
  if (arm.learner == "tbptt") config.steps = 9, config.losses = 4, config.stride = 6;
  const auto learner = make_learner(config, trainee, {spec.steps, spec.batch});
  const RateFunction rate = [](std::int64_t) { return 1e-3; };
  for (int i = 0; i < 3; ++i) learner->learn(stretches[static_cast<std::size_t>(i)], rate);

  const std::int64_t before = allocations();
  const std::size_t bytes = bytes_in_use();
  for (int i = 3; i < 8; ++i) learner->learn(stretches[static_cast<std::size_t>(i)], rate);
  EXPECT_EQ(allocations() - before, 0);
  EXPECT_EQ(bytes_in_use(), bytes);
}

INSTANTIATE_TEST_SUITE_P(
    Learners, SteadyState,
    ::testing::Values(Arm{"bptt", "full", "cpu", "adam", "lstm", false}, Arm{"bptt", "recompute", "cpu", "sgd", "gru", false},
                      Arm{"tbptt", "full", "cpu", "rmsprop", "lstm", false},
                      Arm{"tbptt", "full", "cpu", "adam", "gru_reset_before", true},
                      Arm{"bptt", "full", "cpu", "adagrad", "antisymmetric_gated", false},
                      Arm{"bptt", "full", "reference", "adam", "lstm", false},
                      Arm{"tbptt", "full", "reference", "momentum", "rnn_tanh", true}),
    [](const auto& info) {
      return fmt::format("{}_{}_{}_{}", info.param.learner, info.param.memory, info.param.engine, info.param.cell);
    });

}  // namespace
}  // namespace throughtime::testing

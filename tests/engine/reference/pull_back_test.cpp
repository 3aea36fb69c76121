#include <gtest/gtest.h>

#include <cmath>

#include "support/engine_run.h"
#include "support/numeric.h"

// What pull_back promises beside the gradient itself: taps, parts, adding, cotangents alone.
namespace throughtime::testing {
namespace {

constexpr double exact = 1e-12;

ProblemSpec two_layers(std::uint64_t seed) {
  ModelConfig config = with_head(stack_of("lstm", {3, 4}), "softmax", 3);
  config.layers[1].cell = "gru";
  return {.model = config, .steps = 6, .zero_weights = 0.3, .resets = 0.15, .seed = seed};
}

/// Entry `index` of an array [entries, size].
std::vector<double> entry_of(const std::vector<double>& all, int index, std::size_t size) {
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(size) * index;
  return {begin, begin + static_cast<std::ptrdiff_t>(size)};
}

/// The weighted losses of step `at` as a function of the state after it, computed from the head's formula alone.
double loss_of_state(const Problem& problem, int at, std::span<const double> state) {
  const Model& model = *problem.model;
  const double* weights = problem.parameters.data() + model.parameters().block(model.head_weight).offset;
  const double* bias = problem.parameters.data() + model.parameters().block(model.head_bias).offset;
  double sum = 0;
  for (int row = 0; row < problem.window.batch; ++row) {
    const double weight = problem.window.weight_at(at, row);
    if (weight == 0) continue;
    const double* h = state.data() + row * model.state_size() + model.layers().back().state_offset;
    std::vector<double> z(bias, bias + model.outputs());
    for (int i = 0; i < model.outputs(); ++i)
      for (int u = 0; u < model.top_hidden(); ++u)
        z[static_cast<std::size_t>(i)] += weights[i * model.top_hidden() + u] * h[u];
    const Source& source =
        problem.sources[static_cast<std::size_t>(problem.window.source[static_cast<std::size_t>(row)])];
    const auto position = static_cast<std::size_t>(problem.window.start[static_cast<std::size_t>(row)] + at);
    sum += weight *
           model.head().reference.loss(model.outputs(), z.data(), {source.labels[position], nullptr}, 1.0, nullptr);
  }
  return sum;
}

TEST(Taps, AreDerivativesByAnInjectedState) {
  const Problem problem = random_problem(two_layers(1));
  const int steps = problem.window.steps;
  Window rest;
  EngineRun run(problem);
  PullBackSpec pull;
  pull.end_cotangent = random_numbers(run.state_numbers(), 11);
  const Unrolled forward = run.unroll(random_numbers(run.state_numbers(), 12));
  const PulledBack whole = run.pull_back(pull);
  for (int at = 0; at <= steps; ++at) {
    // The rest of the window, started from a state that we move, and the loss at that state itself.
    const auto rest_from = [&](std::span<const double> state) {
      double sum = at > 0 ? loss_of_state(problem, at - 1, state) : 0.0;
      if (at == steps) {
        for (std::size_t i = 0; i < state.size(); ++i) sum += pull.end_cotangent[i] * state[i];
        return sum;
      }
      slice(problem.window, at, steps - at, rest);
      run.set_window(rest);
      return sum + objective(run.unroll({state.begin(), state.end()}), pull);
    };
    const auto wanted = central_differences(rest_from, entry_of(forward.states, at, run.state_numbers()));
    const auto got = entry_of(whole.tap_vectors, at, run.state_numbers());
    EXPECT_LT(relative_error(got, wanted), 1e-7) << "state " << at;
  }
}

TEST(Taps, NormsAreThoseOfTheVectors) {
  const Problem problem = random_problem(two_layers(2));
  EngineRun run(problem);
  run.unroll();
  const PulledBack back = run.pull_back({.first = 1, .last = 5});
  const auto size = static_cast<std::size_t>(problem.model->state_size());
  ASSERT_EQ(back.tap_norms.size(), 5u * static_cast<std::size_t>(problem.window.batch));
  for (std::size_t i = 0; i < back.tap_norms.size(); ++i) {
    double squares = 0;
    for (const double x : entry_of(back.tap_vectors, static_cast<int>(i), size)) squares += x * x;
    EXPECT_NEAR(back.tap_norms[i], std::sqrt(squares), 1e-14);
  }
}

TEST(Taps, VanishAcrossAReset) {
  Problem problem = random_problem(two_layers(3));
  Window& window = problem.window;
  std::fill(window.weight.begin(), window.weight.end(), 0.0f);
  std::fill(window.flags.begin(), window.flags.end(), StepFlag::go_on);
  for (int row = 0; row < window.batch; ++row) window.weight[static_cast<std::size_t>(5 * window.batch + row)] = 1;
  window.flags[static_cast<std::size_t>(3 * window.batch + 1)] = StepFlag::reset;  // row 1 only
  EngineRun run(problem);
  run.unroll();
  const PulledBack back = run.pull_back();
  for (int at = 0; at <= 6; ++at)
    for (int row = 0; row < window.batch; ++row) {
      const double norm = back.tap_norms[static_cast<std::size_t>(at * window.batch + row)];
      if (row == 1 && at <= 3)
        EXPECT_EQ(norm, 0) << at;
      else
        EXPECT_GT(norm, 0) << at << " " << row;
    }
  const auto size = static_cast<std::size_t>(problem.model->state_size());
  for (const double x : entry_of(back.initial_cotangent, 1, size)) EXPECT_EQ(x, 0);
}

TEST(PullBack, OfPartsSumsToTheWhole) {
  const Problem problem = random_problem(two_layers(4));
  EngineRun run(problem);
  run.unroll(random_numbers(run.state_numbers(), 41));
  PullBackSpec all;
  all.end_cotangent = random_numbers(run.state_numbers(), 42);
  all.step_cotangents = random_numbers(6 * run.state_numbers(), 43);
  const PulledBack whole = run.pull_back(all);

  PullBackSpec late = all;
  late.first = 4;
  const PulledBack end = run.pull_back(late);
  PullBackSpec middle{.first = 1,
                      .last = 4,
                      .add_to = end.gradient,
                      .end_cotangent = end.initial_cotangent,
                      .step_cotangents = all.step_cotangents};
  const PulledBack centre = run.pull_back(middle);
  PullBackSpec early{.last = 1,
                     .add_to = centre.gradient,
                     .end_cotangent = centre.initial_cotangent,
                     .step_cotangents = all.step_cotangents};
  const PulledBack start = run.pull_back(early);
  EXPECT_LT(relative_error(start.gradient, whole.gradient), exact);
  EXPECT_LT(relative_error(start.initial_cotangent, whole.initial_cotangent), exact);
}

TEST(PullBack, AddsOrOverwrites) {
  const Problem problem = random_problem(two_layers(5));
  EngineRun run(problem);
  run.unroll();
  const PulledBack fresh = run.pull_back();  // over a buffer that was not zero
  const std::vector<double> before = random_numbers(problem.parameters.size(), 51);
  const PulledBack added = run.pull_back({.add_to = before});
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_NEAR(added.gradient[i], before[i] + fresh.gradient[i], 1e-12);
}

TEST(PullBack, WithoutLossesIsLinearInTheCotangents) {
  const Problem problem = random_problem(two_layers(6));
  EngineRun run(problem);
  run.unroll();
  PullBackSpec cotangents{.losses = false};
  cotangents.end_cotangent = random_numbers(run.state_numbers(), 61);
  cotangents.step_cotangents = random_numbers(6 * run.state_numbers(), 62);
  PullBackSpec both = cotangents;
  both.losses = true;
  const PulledBack without = run.pull_back(cotangents), only_losses = run.pull_back(), together = run.pull_back(both);
  for (std::size_t i = 0; i < together.gradient.size(); ++i)
    EXPECT_NEAR(together.gradient[i], without.gradient[i] + only_losses.gradient[i], 1e-12);
  for (std::size_t i = 0; i < together.initial_cotangent.size(); ++i)
    EXPECT_NEAR(together.initial_cotangent[i], without.initial_cotangent[i] + only_losses.initial_cotangent[i], 1e-12);
}

TEST(PullBack, OfStatesAloneGivesTheSameCotangents) {
  const Problem problem = random_problem(two_layers(7));
  EngineRun full(problem), states(problem, EngineRun::reference(), Keep::state);
  full.unroll();
  states.unroll();
  EXPECT_LT(states.tape().activation_bytes(), full.tape().activation_bytes());
  PullBackSpec pull;
  pull.end_cotangent = random_numbers(full.state_numbers(), 71);
  const PulledBack wanted = full.pull_back(pull);
  pull.gradient = false;
  for (EngineRun* run : {&full, &states}) {
    const PulledBack got = run->pull_back(pull);
    EXPECT_EQ(got.initial_cotangent, wanted.initial_cotangent);
    EXPECT_EQ(got.tap_vectors, wanted.tap_vectors);
  }
}

TEST(PullBack, MayReturnTheCotangentInTheBufferItCameIn) {
  const Problem problem = random_problem(two_layers(8));
  EngineRun run(problem);
  run.unroll();
  PullBackSpec pull;
  pull.end_cotangent = random_numbers(run.state_numbers(), 81);
  const PulledBack wanted = run.pull_back(pull);
  Engine& engine = run.engine();
  const Buffer shared = engine.allocate(run.state_numbers());
  engine.write(shared, pull.end_cotangent);
  PullBackCall call{.tape = run.tape(), .window = problem.window, .parameters = run.parameters()};
  call.end_cotangent = call.initial_cotangent = shared;
  engine.pull_back(call);
  EXPECT_EQ(engine.read(shared), wanted.initial_cotangent);
}

TEST(PullBack, RepeatsItselfWithDropout) {
  ProblemSpec spec = two_layers(9);
  spec.model.dropout = {.input = 0.3, .between = 0.3, .output = 0.3, .per_sequence = false};
  const Problem problem = random_problem(spec);
  EngineRun run(problem);
  const Unrolled first = run.unroll();
  const PulledBack once = run.pull_back();
  EXPECT_EQ(run.pull_back().gradient, once.gradient);
  run.set_training(false);
  EXPECT_NE(run.unroll().loss_sum, first.loss_sum);
  EXPECT_NE(run.pull_back().gradient, once.gradient) << "the tape remembers that the unroll drew no masks";
  run.set_training(true);
  EXPECT_EQ(run.unroll().losses, first.losses);
  EXPECT_EQ(run.pull_back().gradient, once.gradient);
}

}  // namespace
}  // namespace throughtime::testing

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <tuple>

#include "support/engine_run.h"
#include "support/errors.h"
#include "support/numeric.h"
#include "support/random_choice.h"
#include "support/usable_engine.h"

namespace throughtime::testing {
namespace {

// Every fast engine against the reference.

EngineConfig fast_engine(const std::string& name, int threads = 2) {
  return {.name = name, .threads = threads, .communicator = nullptr};
}

/// Any model the library can build, at small odd sizes.
ProblemSpec random_spec(std::uint64_t seed, const std::string& cell) {
  Choice choice(seed);
  ProblemSpec spec;
  spec.seed = seed;
  ModelConfig& model = spec.model;
  const int layers = choice.between(1, 3);
  for (int k = 0; k < layers; ++k)
    model.layers.push_back({cell, choice.one_of<int>({1, 2, 5, 16, 17, 33, 64, 70}), {.step = 0.3, .diffusion = 0.1}});
  model.input.reals = choice.between(0, 5);
  if (model.input.reals == 0 || choice.yes()) {
    model.input.vocabulary = choice.between(2, 9);
    if (choice.yes()) {
      model.input.tokens = TokenInput::embedding;
      model.input.embedding = choice.between(1, 20);
    }
  }
  if (choice.yes()) model.input.encoder = choice.between(1, 18);
  model.head.name = choice.one_of(head_names());
  model.head.outputs = choice.between(model.head.name == "softmax" ? 2 : 1, 70) + find_head(model.head.name).beside;
  model.head.outputs *= find_head(model.head.name).outputs_per_target(model.head.levels.size());
  if (choice.yes()) model.head.hidden = choice.between(1, 20);
  if (find_head(model.head.name).layers) model.head.experts = choice.between(1, 5), model.head.hidden = 0;
  if (model.input.tokens == TokenInput::embedding && choice.yes()) {
    model.head = {"softmax", model.input.vocabulary, 0, true};
    model.input.embedding = model.layers.back().hidden;
  }
  if (choice.yes()) model.dropout = {0.3, 0.2, 0.4, choice.yes(), 0.2, choice.yes()};
  if (find_head(model.head.name).layers) model.dropout.logits = 0, model.dropout.latent = model.dropout.output;
  spec.steps = choice.one_of<int>({1, 2, 7, 40, 140});
  spec.batch = choice.one_of<int>({1, 2, 8, 9, 20, 65});
  spec.targets = choice.one_of<TargetLayout>({TargetLayout::source, TargetLayout::per_step, TargetLayout::per_row});
  spec.soft = choice.yes();
  spec.zero_weights = choice.yes() ? 0.5 : 0.0;
  spec.resets = choice.yes() ? 0.1 : 0.0;
  spec.ragged = choice.yes();
  spec.parameter_range = 0.12;  // below 1 / sqrt(70): states must not be chaotic, or rounding errors grow without bound
  return spec;
}

/// Models of so few parameters that weights and gradients are moved number by number.
ProblemSpec small_spec(std::uint64_t seed, const std::string& cell) {
  Choice choice(seed);
  ProblemSpec spec = random_spec(seed, cell);
  spec.model = {};
  spec.model.layers.push_back({cell, choice.between(1, 4), {.step = 0.3, .diffusion = 0.1}});
  spec.model.input.vocabulary = 2;
  spec.model.input.reals = choice.between(0, 1);
  if (choice.yes()) spec.model.input.encoder = 2;
  spec.model.head = {.name = "softmax", .outputs = choice.between(2, 3)};
  if (choice.yes()) spec.model.head.hidden = 2;
  return spec;
}

/// Everything that a window can be asked for, forward and back.
void expect_agreement(const std::string& engine, const Problem& problem, std::uint64_t seed) {
  EngineRun reference(problem), fast(problem, fast_engine(engine));
  const std::size_t numbers = reference.state_numbers();
  const auto initial = random_numbers(numbers, seed + 1, 0.5);
  PullBackSpec spec;
  spec.end_cotangent = random_numbers(numbers, seed + 2);
  spec.step_cotangents = random_numbers(numbers * problem.window.steps, seed + 3);

  const Unrolled a = reference.unroll(initial), b = fast.unroll(initial);
  EXPECT_NEAR(b.loss_sum, a.loss_sum, 1e-5 * (1 + std::abs(a.loss_sum)));
  expect_close("losses", b.losses, a.losses, 1e-3);
  expect_close("final state", b.final_state, a.final_state, 1e-3);
  expect_close("states", b.states, a.states, 1e-3);
  expect_close("predictions", b.predictions, a.predictions, 1e-3);

  const PulledBack c = reference.pull_back(spec), d = fast.pull_back(spec);
  expect_close("gradient", d.gradient, c.gradient, 1e-3);
  expect_close("initial cotangent", d.initial_cotangent, c.initial_cotangent, 1e-3);
  expect_close("tap norms", d.tap_norms, c.tap_norms, 1e-3);
  expect_close("tap vectors", d.tap_vectors, c.tap_vectors, 1e-3);

  PullBackSpec part = spec;
  part.first = problem.window.steps / 3;
  part.last = std::max(part.first + 1, problem.window.steps * 2 / 3);
  part.add_to = random_numbers(problem.parameters.size(), seed + 4);
  const PulledBack e = reference.pull_back(part), f = fast.pull_back(part);
  expect_close("part of the gradient", f.gradient, e.gradient, 1e-3);
  expect_close("part's initial cotangent", f.initial_cotangent, e.initial_cotangent, 1e-3);

  // The whole again, after a part was pulled back, and without the losses.
  expect_close("gradient again", fast.pull_back(spec).gradient, c.gradient, 1e-3);
  spec.losses = false;
  expect_close("cotangents alone", fast.pull_back(spec).gradient, reference.pull_back(spec).gradient, 1e-3);
}

/// An engine and a cell.
class Agreement : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {
 protected:
  void SetUp() override { skip_without(engine()); }
  static const std::string& engine() { return std::get<0>(GetParam()); }
  static const std::string& cell() { return std::get<1>(GetParam()); }
};

TEST_P(Agreement, WithTheReferenceOnRandomProblems) {
  for (std::uint64_t seed = 1; seed <= 25; ++seed) {
    SCOPED_TRACE(fmt::format("{} seed {}", cell(), seed));
    expect_agreement(engine(), random_problem(random_spec(seed, cell())), seed);
  }
}

TEST_P(Agreement, OfSmallModels) {
  for (std::uint64_t seed = 1; seed <= 15; ++seed) {
    SCOPED_TRACE(fmt::format("{} seed {}", cell(), seed));
    const Problem problem = random_problem(small_spec(seed, cell()));
    ASSERT_LE(problem.parameters.size(), 256u);
    expect_agreement(engine(), problem, seed);
  }
}

TEST_P(Agreement, OfEvaluationAndOfStateOnlyWork) {
  for (std::uint64_t seed = 31; seed <= 40; ++seed) {
    SCOPED_TRACE(fmt::format("{} seed {}", cell(), seed));
    const Problem problem = random_problem(random_spec(seed, cell()));
    EngineRun reference(problem), nothing(problem, fast_engine(engine()), Keep::nothing),
        state(problem, fast_engine(engine()), Keep::state);
    for (EngineRun* run : {&reference, &nothing, &state}) run->set_training(false);
    const auto initial = random_numbers(reference.state_numbers(), seed + 1, 0.5);
    const Unrolled a = reference.unroll(initial), b = nothing.unroll(initial);
    expect_close("final state", b.final_state, a.final_state, 1e-3);
    expect_close("states", b.states, a.states, 1e-3);
    expect_close("predictions", b.predictions, a.predictions, 1e-3);
    expect_close("losses", b.losses, a.losses, 1e-3);
    state.unroll(initial);
    PullBackSpec spec;
    spec.gradient = false;
    expect_close("taps", state.pull_back(spec).tap_vectors, reference.pull_back(spec).tap_vectors, 1e-3);
  }
}

TEST_P(Agreement, OfBitsForAnyThreadCount) {
  for (std::uint64_t seed = 51; seed <= 54; ++seed) {
    ProblemSpec spec = random_spec(seed, cell());
    spec.batch = 130;
    spec.steps = 9;
    const Problem problem = random_problem(spec);
    EngineRun one(problem, fast_engine(engine(), 1));
    const Unrolled a = one.unroll();
    const PulledBack b = one.pull_back();
    for (int threads = 2; threads <= 8; ++threads) {
      EngineRun many(problem, fast_engine(engine(), threads));
      const Unrolled c = many.unroll();
      const PulledBack d = many.pull_back();
      EXPECT_EQ(a.loss_sum, c.loss_sum) << threads;
      EXPECT_EQ(a.final_state, c.final_state) << threads;
      EXPECT_EQ(b.gradient, d.gradient) << threads;
      EXPECT_EQ(b.initial_cotangent, d.initial_cotangent) << threads;
    }
  }
}

TEST(CpuTape, HoldsWhatTheHeadSendsBackOnlyForStepsWithALoss) {
  ProblemSpec spec;
  spec.model = stack_of("lstm", {16});
  spec.steps = 50;
  Problem problem = random_problem(spec);
  std::fill(problem.window.weight.begin(), problem.window.weight.end() - problem.window.batch, 0.0f);
  EngineRun reference(problem), fast(problem, fast_engine("cpu"));
  Engine& engine = fast.engine();
  const auto all = engine.make_tape({.steps = 50, .batch = problem.window.batch});
  const auto last = engine.make_tape({.steps = 50, .batch = problem.window.batch, .losses = 1});
  EXPECT_EQ(all->activation_bytes() - last->activation_bytes(), 49u * problem.window.batch * 16 * sizeof(float));

  const Buffer gradient = engine.allocate(problem.parameters.size());
  engine.unroll({.window = problem.window, .parameters = fast.parameters(), .tape = *last});
  engine.pull_back({.tape = *last, .window = problem.window, .parameters = fast.parameters(), .gradient = gradient});
  reference.unroll();
  expect_close("gradient", engine.read(gradient), reference.pull_back().gradient, 1e-3);

  problem.window.weight.front() = 1.0f;
  EXPECT_REFUSED(engine.unroll({.window = problem.window, .parameters = fast.parameters(), .tape = *last}),
                 "2 steps of the window carry a loss, its tape was made for 1 at most");
}

TEST(CpuEngine, RefusesToPullBackThroughParametersThatHaveChanged) {
  const Problem problem = random_problem({.model = stack_of("gru", {4})});
  EngineRun run(problem, fast_engine("cpu"));
  run.unroll();
  run.set_parameters(problem.parameters);
  EXPECT_REFUSED(run.pull_back(), "parameters have changed since the window was unrolled");
}

TEST_P(Agreement, OfOneRowAfterItsParametersHaveChanged) {
  // Widths that are packed, and widths whose weights are read where they are.
  for (const int width : {4, 16, 32, 64, 80}) {
    SCOPED_TRACE(fmt::format("{} with {} units", cell(), width));
    const Problem problem =
        random_problem({.model = stack_of(cell(), {width}), .steps = 10, .batch = 1, .parameter_range = 0.3});
    EngineRun reference(problem), fast(problem, fast_engine(engine(), 1));
    for (std::uint64_t change = 1; change <= 3; ++change) {
      const auto parameters = random_numbers(problem.parameters.size(), change, 0.3);
      for (EngineRun* run : {&reference, &fast}) {
        run->set_parameters(parameters);
        run->unroll();
      }
      expect_close("gradient", fast.pull_back().gradient, reference.pull_back().gradient, 1e-3);
    }
  }
}

/// What one call leaves on the tape is no trap for the next one, in whatever order they come.
TEST_P(Agreement, OfTheGradientAfterOtherCallsOnTheSameTape) {
  for (const int batch : {1, 3}) {
    ProblemSpec spec{.model = with_head(stack_of(cell(), {5, 4}), "softmax", 3), .steps = 4, .batch = batch};
    const Problem problem = random_problem(spec);
    EngineRun reference(problem), run(problem, fast_engine(engine(), 1));
    reference.unroll();
    const PulledBack wanted = reference.pull_back();
    const PullBackSpec late{.first = 2}, states{.gradient = false}, norms{.gradient = false, .taps = false};
    using Calls = std::vector<PullBackSpec>;
    for (const Calls& before : {Calls{states}, Calls{late, states}, Calls{norms, late, norms}, Calls{late, norms}}) {
      run.unroll();
      for (const PullBackSpec& call : before) run.pull_back(call);
      expect_close("gradient", run.pull_back().gradient, wanted.gradient, 1e-3);
      expect_close("gradient again", run.pull_back().gradient, wanted.gradient, 1e-3);
    }
  }
}

TEST_P(Agreement, OfWideLayersAndManyRows) {
  Choice choice(7);
  for (const int width : {96, 128, 129, 200, 256, 300}) {
    ProblemSpec spec;
    spec.seed = static_cast<std::uint64_t>(width);
    spec.model = stack_of(cell(), {width}, choice.one_of<int>({1, 3, 6}));
    spec.steps = choice.one_of<int>({1, 4, 9});
    spec.batch = choice.one_of<int>({1, 3, 37, 150});
    spec.resets = choice.yes() ? 0.2 : 0.0;
    spec.parameter_range = 0.06;
    SCOPED_TRACE(fmt::format("{} with {} units, {} rows, {} steps", cell(), width, spec.batch, spec.steps));
    expect_agreement(engine(), random_problem(spec), spec.seed);
  }
}

std::vector<std::string> fast_engines() {
  std::vector<std::string> names;
  for (const EngineType* engine : all_engines())
    if (!engine->exact) names.push_back(engine->name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Engines, Agreement,
                         ::testing::Combine(::testing::ValuesIn(fast_engines()), ::testing::ValuesIn(cell_names())),
                         [](const auto& info) { return std::get<0>(info.param) + "_" + std::get<1>(info.param); });

}  // namespace
}  // namespace throughtime::testing

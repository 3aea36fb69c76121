#include <gtest/gtest.h>

#include <algorithm>

#include <cmath>

#include "support/engine_run.h"
#include "support/numeric.h"

namespace throughtime::testing {
namespace {

/// Row `row` of every step of an array [steps, batch, width].
std::vector<double> row_of(const std::vector<double>& all, int row, int batch, std::size_t width) {
  std::vector<double> numbers;
  for (std::size_t at = static_cast<std::size_t>(row) * width; at < all.size();
       at += static_cast<std::size_t>(batch) * width)
    numbers.insert(numbers.end(), all.begin() + static_cast<std::ptrdiff_t>(at),
                   all.begin() + static_cast<std::ptrdiff_t>(at + width));
  return numbers;
}

TEST(Unroll, ComputesAnElmanStepByHand) {
  Problem problem = random_problem({.model = with_head(stack_of("rnn_tanh", {1}, 1), "regression", 1),
                                    .steps = 2,
                                    .batch = 1,
                                    .targets = TargetLayout::none});
  problem.window.weight = {1, 0};
  problem.parameters = {0.5,  0.25, 0.1,
                        -0.2, 2.0,  0.3};  // weight_ih, weight_hh, bias_ih, bias_hh, head weight, head bias
  EngineRun run(problem);
  const Unrolled out = run.unroll({0.7});
  const float* x =
      problem.sources[static_cast<std::size_t>(problem.window.source[0])].values.data() + problem.window.start[0];
  const double h1 = std::tanh(0.5 * x[0] + 0.1 + 0.25 * 0.7 - 0.2);
  const double h2 = std::tanh(0.5 * x[1] + 0.1 + 0.25 * h1 - 0.2);
  EXPECT_EQ(out.states[0], 0.7);
  EXPECT_NEAR(out.states[1], h1, 1e-15);
  EXPECT_NEAR(out.final_state[0], h2, 1e-15);
  EXPECT_NEAR(out.predictions[0], 2.0 * h1 + 0.3, 1e-15);
  EXPECT_EQ(out.predictions[1], 0) << "no head where the weight is 0";
}

TEST(Unroll, ReadsPaddingAsZeroInput) {
  ModelConfig config = stack_of("rnn_linear", {1}, 1);
  config.input.vocabulary = 2;
  for (const TokenInput tokens : {TokenInput::one_hot, TokenInput::embedding}) {
    config.input.tokens = tokens;
    config.input.embedding = tokens == TokenInput::embedding ? 3 : 0;
    Problem problem = random_problem({.model = config, .steps = 3, .batch = 1});
    problem.window.start = {-1};
    problem.window.weight[0] = 0;
    problem.window.flags = {StepFlag::go_on, StepFlag::reset, StepFlag::go_on};
    const Layer& layer = problem.model->layers()[0];
    const auto parameter = [&](int block) {
      return problem.parameters[problem.model->parameters().block(block).offset];
    };
    EngineRun run(problem);
    const double wanted = parameter(layer.weight_hh) * 0.7 + parameter(layer.bias_ih) + parameter(layer.bias_hh);
    EXPECT_NEAR(run.unroll({0.7}).states[1], wanted, 1e-15);
  }
}

TEST(Unroll, SumsWeightedLossesAndLeavesOthersZero) {
  const Problem problem = random_problem({.model = with_head(stack_of("gru", {3}), "softmax", 3), .zero_weights = 0.5});
  EngineRun run(problem);
  const Unrolled out = run.unroll();
  double sum = 0;
  int skipped = 0;
  for (std::size_t i = 0; i < out.losses.size(); ++i) {
    sum += problem.window.weight[i] * out.losses[i];
    const double probabilities = out.predictions[3 * i] + out.predictions[3 * i + 1] + out.predictions[3 * i + 2];
    if (problem.window.weight[i] == 0) {
      EXPECT_EQ(out.losses[i], 0);
      EXPECT_EQ(probabilities, 0);
      ++skipped;
    } else {
      EXPECT_GT(out.losses[i], 0);
      EXPECT_NEAR(probabilities, 1, 1e-12);
    }
  }
  EXPECT_NEAR(out.loss_sum, sum, 1e-12);
  EXPECT_GT(skipped, 0);
  EXPECT_LT(skipped, 15);
}

TEST(Unroll, AddsToTheLossSum) {
  const Problem problem = random_problem({.model = stack_of("lstm", {3})});
  EngineRun run(problem);
  const double once = run.unroll().loss_sum;
  Engine& engine = run.engine();
  const Buffer sum = engine.allocate(1);
  UnrollCall call{.window = problem.window, .parameters = run.parameters(), .tape = run.tape()};
  call.loss_sum = sum;
  engine.unroll(call);
  engine.unroll(call);
  EXPECT_NEAR(engine.read(sum)[0], 2 * once, 1e-12);
}

TEST(Unroll, AddsTheWeightsOfRightPredictions) {
  for (const char* name : {"reference", "cpu"}) {
    const Problem problem = random_problem(
        {.model = with_head(stack_of("gru", {3}), "softmax", 3), .steps = 20, .batch = 40, .zero_weights = 0.5});
    EngineRun run(problem, {.name = name, .threads = 1, .communicator = nullptr});
    const Unrolled out = run.unroll();
    double wanted = 0;
    for (int step = 0; step < 20; ++step)
      for (int row = 0; row < 40; ++row) {
        if (problem.window.weight_at(step, row) == 0) continue;
        const double* p = out.predictions.data() + 3 * (step * 40 + row);
        const Source& source =
            problem.sources[static_cast<std::size_t>(problem.window.source[static_cast<std::size_t>(row)])];
        const auto at = static_cast<std::size_t>(problem.window.start[static_cast<std::size_t>(row)] + step);
        if (std::max_element(p, p + 3) - p == source.labels[at]) wanted += problem.window.weight_at(step, row);
      }
    Engine& engine = run.engine();
    const Buffer sum = engine.allocate(1);
    UnrollCall call{.window = problem.window, .parameters = run.parameters(), .tape = run.tape()};
    call.correct_sum = sum;
    engine.unroll(call);
    EXPECT_NEAR(engine.read(sum)[0], wanted, 1e-4) << name;
    EXPECT_GT(wanted, 10);
    engine.unroll(call);
    EXPECT_NEAR(engine.read(sum)[0], 2 * wanted, 2e-4) << name;
  }
}

TEST(Unroll, OfTwoWindowsThatCarryTheStateIsOneWindow) {
  for (const bool per_sequence : {false, true}) {
    ProblemSpec spec{.model = stack_of("lstm", {3, 4}), .steps = 7, .resets = 0.1, .seed = 3};
    spec.model.dropout = {.input = 0.2, .between = 0.2, .output = 0.2, .per_sequence = per_sequence};
    const Problem problem = random_problem(spec);
    EngineRun run(problem);
    const Unrolled whole = run.unroll();
    Window first, second;
    slice(problem.window, 0, 3, first);
    slice(problem.window, 3, 4, second);
    run.set_window(first);
    const Unrolled start = run.unroll();
    run.set_window(second);
    const Unrolled end = run.unroll(start.final_state);
    EXPECT_EQ(end.final_state, whole.final_state);
    std::vector<double> losses = start.losses;
    losses.insert(losses.end(), end.losses.begin(), end.losses.end());
    EXPECT_EQ(losses, whole.losses);
  }
}

TEST(Unroll, MayWriteTheFinalStateOverTheInitialOne) {
  const Problem problem = random_problem({.model = stack_of("gru", {3})});
  EngineRun run(problem);
  const std::vector<double> initial = random_numbers(run.state_numbers(), 5);
  const std::vector<double> wanted = run.unroll(initial).final_state;
  Engine& engine = run.engine();
  const Buffer state = engine.allocate(initial.size());
  engine.write(state, initial);
  engine.unroll({.window = problem.window,
                 .parameters = run.parameters(),
                 .tape = run.tape(),
                 .initial_state = state,
                 .final_state = state});
  EXPECT_EQ(engine.read(state), wanted);
}

TEST(Unroll, OfARaggedBatchIsThatOfItsRowsAlone) {
  const ProblemSpec spec{
      .model = with_head(stack_of("lstm", {4, 3}), "softmax", 3), .steps = 6, .batch = 4, .ragged = true};
  Problem problem = random_problem(spec);
  EngineRun run(problem);
  const Unrolled together = run.unroll(random_numbers(run.state_numbers(), 6));
  const PulledBack pulled = run.pull_back();
  std::vector<double> gradient(problem.parameters.size());
  for (int row = 1; row < spec.batch; ++row) {
    const int padding = static_cast<int>(-problem.window.start[static_cast<std::size_t>(row)]);
    ASSERT_EQ(padding, row);
    Problem alone = random_problem(spec);
    Window& window = alone.window;
    window.steps = spec.steps - padding;
    window.batch = 1;
    window.source = {problem.window.source[static_cast<std::size_t>(row)]};
    window.start = {0};
    window.weight.clear();
    for (int step = padding; step < spec.steps; ++step) window.weight.push_back(problem.window.weight_at(step, row));
    window.flags.clear();
    EngineRun single(alone);
    const Unrolled out = single.unroll();
    const std::vector<double> losses = row_of(together.losses, row, spec.batch, 1);
    EXPECT_EQ(std::vector<double>(losses.begin() + padding, losses.end()), out.losses);
    for (int step = 0; step < padding; ++step) EXPECT_EQ(losses[static_cast<std::size_t>(step)], 0);
    const auto size = static_cast<std::size_t>(problem.model->state_size());
    EXPECT_EQ(row_of(together.final_state, row, spec.batch, size), out.final_state);
    const PulledBack part = single.pull_back();
    for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] += part.gradient[i];
  }
  for (int step = 0; step < spec.steps; ++step) problem.window.weight[static_cast<std::size_t>(step * spec.batch)] = 0;
  run.unroll();
  EXPECT_LT(relative_error(run.pull_back().gradient, gradient), 1e-12);
  EXPECT_GT(relative_error(pulled.gradient, gradient), 1e-6) << "row 0 had a loss before";
}

TEST(Unroll, ResetsARowToZero) {
  Problem problem = random_problem({.model = stack_of("lstm", {3}), .steps = 4, .batch = 2});
  problem.window.flags.assign(8, StepFlag::go_on);
  problem.window.flags[2 * 2 + 1] = StepFlag::reset;  // row 1 before step 2
  EngineRun run(problem);
  const Unrolled one = run.unroll(random_numbers(run.state_numbers(), 1));
  const Unrolled other = run.unroll(random_numbers(run.state_numbers(), 2));
  const auto size = static_cast<std::size_t>(problem.model->state_size());
  EXPECT_EQ(row_of(one.final_state, 1, 2, size), row_of(other.final_state, 1, 2, size));
  EXPECT_NE(row_of(one.final_state, 0, 2, size), row_of(other.final_state, 0, 2, size));
}

TEST(Unroll, HandsOutOnlyTheStatesAskedFor) {
  const Problem problem = random_problem({.model = stack_of("gru", {2})});
  EngineRun run(problem);
  const Unrolled all = run.unroll();
  for (const Keep keep : {Keep::nothing, Keep::state, Keep::gradient}) {
    Engine& engine = run.engine();
    const auto tape = engine.make_tape({problem.window.steps, problem.window.batch, keep});
    const std::vector<int> asked = {1, 2, 5};
    const Buffer states = engine.allocate(3 * run.state_numbers());
    UnrollCall call{.window = problem.window, .parameters = run.parameters(), .tape = *tape};
    call.states = states;
    call.state_steps = asked;
    engine.unroll(call);
    const std::vector<double> got = engine.read(states);
    for (std::size_t i = 0; i < got.size(); ++i)
      EXPECT_EQ(got[i], all.states[static_cast<std::size_t>(asked[i / run.state_numbers()]) * run.state_numbers() +
                                   i % run.state_numbers()]);
  }
}

TEST(Unroll, NeedsNoTapeThatGrows) {
  const Problem problem = random_problem({.model = stack_of("lstm", {3}), .steps = 9});
  EngineRun full(problem), nothing(problem, EngineRun::reference(), Keep::nothing);
  EXPECT_EQ(nothing.unroll().losses, full.unroll().losses);
  EXPECT_EQ(nothing.tape().activation_bytes(), 0u);
  EXPECT_LT(nothing.tape().bytes(), full.tape().bytes());
}

TEST(Unroll, PredictsWithoutTargets) {
  ProblemSpec spec{.model = with_head(stack_of("lstm", {3}), "bernoulli", 2), .seed = 4};
  const Problem with = random_problem(spec);
  Problem without = random_problem(spec);
  without.window.targets.layout = TargetLayout::none;
  EngineRun a(with), b(without);
  EXPECT_EQ(a.unroll().predictions, b.unroll().predictions);
}

TEST(Unroll, DropsNothingInEvaluation) {
  ProblemSpec spec{.model = stack_of("lstm", {3, 3})};
  const Problem plain = random_problem(spec);
  spec.model.dropout = {.input = 0.5, .between = 0.5, .output = 0.5, .per_sequence = false};
  const Problem dropping = random_problem(spec);
  EngineRun a(plain), b(dropping);
  b.set_training(false);
  EXPECT_EQ(a.unroll().losses, b.unroll().losses);
  b.set_training(true);
  EXPECT_NE(a.unroll().losses, b.unroll().losses);
}

}  // namespace
}  // namespace throughtime::testing

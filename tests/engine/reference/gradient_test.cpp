#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/engine_run.h"
#include "support/numeric.h"

// Parameter gradients and initial-state cotangents of the reference engine against central differences in double.
namespace throughtime::testing {
namespace {

constexpr double tolerance = 1e-7;
constexpr double step = 1e-4;  // small enough that no unit of these problems crosses relu's kink

/// The numbers of one block.
std::vector<double> part(const std::vector<double>& all, const ParameterBlock& block) {
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(block.offset);
  return {begin, begin + static_cast<std::ptrdiff_t>(block.size())};
}

/// Pulls back losses, an end-state cotangent and per-step cotangents at once, from a random initial state, and
/// compares every block of the gradient and the initial-state cotangent with differences of the same objective.
void check_gradients(const ProblemSpec& spec) {
  const Problem problem = random_problem(spec);
  EngineRun run(problem);
  const auto steps = static_cast<std::size_t>(spec.steps);
  const std::vector<double> initial = random_numbers(run.state_numbers(), spec.seed + 1);
  PullBackSpec pull;
  pull.end_cotangent = random_numbers(run.state_numbers(), spec.seed + 2);
  pull.step_cotangents = random_numbers(steps * run.state_numbers(), spec.seed + 3);

  run.unroll(initial);
  const PulledBack ours = run.pull_back(pull);
  const auto by_parameters = central_differences(
      [&](std::span<const double> at) {
        run.set_parameters({at.begin(), at.end()});
        return objective(run.unroll(initial), pull);
      },
      problem.parameters, step);
  for (const ParameterBlock& block : problem.model->parameters().blocks())
    EXPECT_LT(relative_error(part(ours.gradient, block), part(by_parameters, block)), tolerance) << block.name;

  run.set_parameters(problem.parameters);
  const auto by_state = central_differences(
      [&](std::span<const double> at) {
        return objective(run.unroll({at.begin(), at.end()}), pull);
      },
      initial, step);
  EXPECT_LT(relative_error(ours.initial_cotangent, by_state), tolerance) << "initial state";
}

class CellGradient : public ::testing::TestWithParam<std::string> {};

TEST_P(CellGradient, OfOneLayerIsExact) { check_gradients({.model = stack_of(GetParam(), {4})}); }
TEST_P(CellGradient, OfTwoLayersIsExact) { check_gradients({.model = stack_of(GetParam(), {3, 5}), .seed = 2}); }
TEST_P(CellGradient, OfThreeLayersIsExact) {
  check_gradients({.model = stack_of(GetParam(), {4, 2, 3}), .steps = 4, .batch = 2, .seed = 3});
}
TEST_P(CellGradient, OfOneUnitAndOneStepIsExact) {
  check_gradients({.model = stack_of(GetParam(), {1}, 1), .steps = 1, .batch = 1, .seed = 4});
}
TEST_P(CellGradient, StopsAtResets) {
  check_gradients({.model = stack_of(GetParam(), {3, 4}), .steps = 6, .zero_weights = 0.3, .resets = 0.3, .seed = 5});
}
TEST_P(CellGradient, SeesTheMasksOfEverySite) {
  ProblemSpec spec{.model = stack_of(GetParam(), {6, 5}, 4), .seed = 6};
  spec.model.dropout = {.input = 0.3, .between = 0.4, .output = 0.25, .per_sequence = false, .logits = 0.3};
  check_gradients(spec);
}

INSTANTIATE_TEST_SUITE_P(EveryCell, CellGradient, ::testing::ValuesIn(cell_names()),
                         [](const auto& info) { return info.param; });

class HeadGradient : public ::testing::TestWithParam<std::string> {};

TEST_P(HeadGradient, OfOneLinearLayerIsExact) {
  check_gradients({.model = with_head(stack_of("lstm", {4}), GetParam(), 5)});
}
TEST_P(HeadGradient, OfTwoLinearLayersIsExact) {
  check_gradients({.model = with_head(stack_of("gru", {4}), GetParam(), 5, 3), .seed = 2});
}
TEST_P(HeadGradient, WithTargetsPerStepIsExact) {
  check_gradients(
      {.model = with_head(stack_of("lstm", {4}), GetParam(), 3), .targets = TargetLayout::per_step, .seed = 3});
}
TEST_P(HeadGradient, WithTargetsPerRowIsExact) {
  check_gradients(
      {.model = with_head(stack_of("lstm", {4}), GetParam(), 3), .targets = TargetLayout::per_row, .seed = 4});
}
TEST_P(HeadGradient, OfSoftTargetsIsExact) {
  for (const TargetLayout layout : {TargetLayout::source, TargetLayout::per_step, TargetLayout::per_row})
    check_gradients(
        {.model = with_head(stack_of("lstm", {4}), GetParam(), 4, 2), .targets = layout, .soft = true, .seed = 5});
}

INSTANTIATE_TEST_SUITE_P(EveryHead, HeadGradient, ::testing::ValuesIn(head_names()),
                         [](const auto& info) { return info.param; });

ModelConfig token_model(TokenInput tokens, int reals, int encoder) {
  ModelConfig config = with_head(stack_of("lstm", {4}, reals), "softmax", 6);
  config.input.vocabulary = 6;
  config.input.tokens = tokens;
  config.input.embedding = tokens == TokenInput::embedding ? 4 : 0;
  config.input.encoder = encoder;
  return config;
}

TEST(InputGradient, OfEveryKindOfInputIsExact) {
  for (const TokenInput tokens : {TokenInput::one_hot, TokenInput::embedding})
    for (const int reals : {0, 2})
      for (const int encoder : {0, 3})
        for (const double dropout : {0.0, 0.4}) {
          SCOPED_TRACE(fmt::format("embedding {}, reals {}, encoder {}, dropout {}", tokens == TokenInput::embedding,
                                   reals, encoder, dropout));
          ProblemSpec spec{.model = token_model(tokens, reals, encoder), .seed = 7};
          spec.model.dropout.input = dropout;
          check_gradients(spec);
        }
}

TEST(InputGradient, OfEncodedRealsIsExact) {
  ProblemSpec spec{.model = stack_of("gru", {3}, 4)};
  spec.model.input.encoder = 2;
  check_gradients(spec);
}

TEST(InputGradient, OfATiedEmbeddingHasBothParts) {
  for (const int inner : {0, 4}) {
    ProblemSpec spec{.model = token_model(TokenInput::embedding, 0, 0), .seed = 8};
    if (inner > 0) spec.model.layers[0].hidden = 3;
    spec.model.head.hidden = inner;
    spec.model.head.tied = true;
    check_gradients(spec);
  }
}

TEST(InputGradient, OfPaddedRowsIsExact) {
  ProblemSpec spec{.model = token_model(TokenInput::embedding, 1, 3), .ragged = true, .seed = 9};
  check_gradients(spec);
}

TEST(MixedStackGradient, OfThreeCellsAndAllDropoutIsExact) {
  ModelConfig config = with_head(stack_of("lstm", {4, 3, 5}), "softmax", 4, 3);
  config.layers[1].cell = "gru_reset_before";
  config.layers[2].cell = "antisymmetric_gated";
  for (const bool per_sequence : {false, true}) {
    config.dropout = {.input = 0.2, .between = 0.3, .output = 0.5, .per_sequence = per_sequence};
    check_gradients({.model = config, .zero_weights = 0.3, .resets = 0.2, .seed = 10});
  }
}

}  // namespace
}  // namespace throughtime::testing

// Oracles 1 to 4 of the specification of adaptive TBPTT: truncated gradients as sums of explicit products of Jacobians.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <numeric>

#include "learners/recording_engine.h"
#include "learners/step_derivatives.h"
#include "support/numeric.h"

namespace throughtime::testing {
namespace {

constexpr int steps = 6;
constexpr double close = 1e-8;  // central differences

Problem small_problem(const std::string& cell, int length, bool unit_weights) {
  Problem problem = random_problem({.model = stack_of(cell, {2}), .steps = length, .batch = 2, .seed = 5});
  if (unit_weights) std::fill(problem.window.weight.begin(), problem.window.weight.end(), 1.0f);
  return problem;
}

/// Mean gradients of the updates of a run with rate 0 over the whole window.
template <class Config>
std::vector<std::vector<double>> updates_of(const Problem& problem, const Config& config) {
  Lesson lesson(problem, config, problem.window.steps);
  lesson.learn(problem.window);
  std::vector<std::vector<double>> gradients;
  for (const auto& update : lesson.engine.updates) gradients.push_back(update.gradient);
  return gradients;
}

std::vector<double> sum_of(const std::vector<std::vector<double>>& vectors) {
  std::vector<double> sum(vectors.front().size(), 0.0);
  for (const std::vector<double>& vector : vectors)
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += vector[i];
  return sum;
}

std::vector<double> scaled(std::vector<double> vector, double factor) {
  for (double& value : vector) value *= factor;
  return vector;
}

/// d/dW of the mean loss of the whole window.
std::vector<double> differences_of_mean_loss(const Problem& problem) {
  EngineRun run(problem);
  const double weights = std::accumulate(problem.window.weight.begin(), problem.window.weight.end(), 0.0);
  return central_differences(
      [&](std::span<const double> at) {
        run.set_parameters({at.begin(), at.end()});
        return run.unroll().loss_sum / weights;
      },
      problem.parameters);
}

class TbpttDefinition : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Cells, TbpttDefinition, ::testing::Values("rnn_tanh", "lstm"),
                         [](const auto& info) { return info.param; });

/// Oracle 1: BPTT(K1, K2) at the end of the data, for every K1 and K2.
TEST_P(TbpttDefinition, IsTheSumOfProductsOfJacobiansForEveryLagAndNumberOfLosses) {
  const Problem problem = small_problem(GetParam(), steps, false);
  const StepDerivatives derivatives(problem);
  for (int lag = 0; lag <= steps; ++lag)
    for (int losses = 1; losses <= std::min(lag + 1, steps); ++losses) {
      const auto updates = updates_of(problem, TbpttConfig{.steps = lag + 1, .losses = losses, .stride = steps});
      ASSERT_EQ(updates.size(), 1u);
      const std::vector<double> wanted = derivatives.mean_gradient(std::max(0, steps - 1 - lag), steps - losses, steps);
      EXPECT_LT(relative_error(updates[0], wanted), close) << "K1 " << lag << " K2 " << losses;
    }
}

/// Oracle 2: with all lags it is the derivative of the mean loss.
TEST_P(TbpttDefinition, WithAllLagsIsTheDerivativeOfTheMeanLoss) {
  const Problem problem = small_problem(GetParam(), steps, false);
  const std::vector<double> wanted = differences_of_mean_loss(problem);
  EXPECT_LT(relative_error(StepDerivatives(problem).mean_gradient(0, 0, steps), wanted), close);
  for (const int lag : {steps - 1, steps})
    EXPECT_LT(relative_error(
                  updates_of(problem, TbpttConfig{.steps = lag + 1, .losses = steps, .stride = steps}).front(), wanted),
              close)
        << lag;
}

/// Oracle 3: the mean over all steps s of BPTT(K, 1) is g_K, and with K = T - 1 the full gradient.
TEST_P(TbpttDefinition, WithOneLossAnUpdateHasTheTruncatedGradientAsItsMean) {
  const Problem problem = small_problem(GetParam(), steps, true);
  const StepDerivatives derivatives(problem);
  const std::vector<double> full = differences_of_mean_loss(problem);
  for (int lag = 0; lag < steps; ++lag) {
    const auto updates = updates_of(problem, TbpttConfig{.preset = TbpttPreset::original, .truncation = lag + 1});
    ASSERT_EQ(updates.size(), static_cast<std::size_t>(steps));
    std::vector<std::vector<double>> wanted;
    for (int s = 0; s < steps; ++s) wanted.push_back(derivatives.mean_gradient(std::max(0, s - lag), s, s + 1));
    const std::vector<double> mean = scaled(sum_of(updates), 1.0 / steps);
    EXPECT_LT(relative_error(mean, scaled(sum_of(wanted), 1.0 / steps)), close) << lag;
    EXPECT_EQ(relative_error(mean, full) < close, lag == steps - 1) << lag;
  }
}

/// Oracle 4: windows side by side of length T are full BPTT, those of one step sum to the one-step gradients.
TEST_P(TbpttDefinition, PlainWindowsOfAllStepsAndOfOneAreTheTwoEnds) {
  const Problem problem = small_problem(GetParam(), steps, true);
  const StepDerivatives derivatives(problem);
  const auto whole = updates_of(problem, TbpttConfig{.preset = TbpttPreset::plain, .truncation = steps});
  ASSERT_EQ(whole.size(), 1u);
  EXPECT_LT(relative_error(whole[0], differences_of_mean_loss(problem)), close);

  const auto single = updates_of(problem, TbpttConfig{.preset = TbpttPreset::plain, .truncation = 1});
  ASSERT_EQ(single.size(), static_cast<std::size_t>(steps));
  std::vector<std::vector<double>> one_step;
  for (int t = 0; t < steps; ++t) one_step.push_back(derivatives.mean_gradient(t, t, t + 1));
  EXPECT_LT(relative_error(sum_of(single), sum_of(one_step)), close);
  for (std::size_t t = 0; t < single.size(); ++t) EXPECT_LT(relative_error(single[t], one_step[t]), close) << t;
}

}  // namespace
}  // namespace throughtime::testing

// Gradients of one FPP update (oracles O3, O4, O5 and the four arms of the penalty), on both engines.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "learners/recording_engine.h"
#include "learners/scalar_problem.h"
#include "learners/state_editor.h"
#include "learners/step_derivatives.h"
#include "support/engine_run.h"
#include "support/numeric.h"
#include "support/random_problem.h"
#include "throughtime/index.h"
#include "throughtime/learner.h"

namespace throughtime::testing {
namespace {

OptimizerConfig sgd() {
  OptimizerConfig config;
  config.name = "sgd";
  return config;
}

/// Numbers that a float holds exactly: a state that does not change then differs by zero.
std::vector<double> float_numbers(std::size_t size, std::uint64_t seed, double range = 1.0) {
  std::vector<double> numbers = random_numbers(size, seed, range);
  for (double& number : numbers) number = static_cast<float>(number);
  return numbers;
}

struct Gradients {
  std::vector<double> weights;     // [P]
  std::vector<double> start, end;  // [B, S]: of s_{i-T} and s_i
};

/// The one trajectory of a fixed buffer of T transitions: T steps of a problem. With a rate of 1 the changes of an
/// update are its gradients.
class OneTrajectory {
 public:
  OneTrajectory(const std::string& engine, Problem& problem, FppConfig config = {}, int blocks = 0)
      : problem_(problem), model_(*problem.model), blocks_(blocks) {
    engine_ = make_engine(model_, {.name = engine, .threads = 1, .communicator = nullptr});
    trainee_ = std::make_unique<Trainee>(make_trainee(*engine_, problem.parameters, sgd(), {}));
    config.steps = config.buffer = problem.window.steps;
    config.fixed = true;
    config.state_rate = 1;
    if (blocks > 0) {
      config.batch = FppBatch::blocks;
      config.blocks = blocks;
    }
    learner_ = make_learner(config, *trainee_,
                            {.steps = problem.window.steps, .batch = problem.window.batch, .lengths_vary = true});
    learner_->learn(problem.window, [](std::int64_t) { return 0.0; });
  }

  Gradients gradients(const std::vector<double>& start, const std::vector<double>& end) {
    engine_->write(trainee_->parameters, problem_.parameters);
    const std::vector<double> before = table(start, end);
    StateEditor put;
    put.edits["cells.states"] = before;
    learner_->archive(put);
    Window one;
    slice(problem_.window, 0, 1, one);
    one.continues = true;
    learner_->learn(one, [](std::int64_t) { return 1.0; });

    StateEditor get;
    learner_->archive(get);
    const std::vector<double>& after = get.buffers["cells.states"];
    Gradients found{engine_->read(trainee_->parameters), start, end};
    for (std::size_t k = 0; k < found.weights.size(); ++k) found.weights[k] = problem_.parameters[k] - found.weights[k];
    for (std::size_t k = 0; k < start.size(); ++k) {
      found.start[k] = before[start_at() + k] - after[start_at() + k];
      found.end[k] = before[end_at() + k] - after[end_at() + k];
    }
    changed_elsewhere_ = 0;
    for (std::size_t k = 0; k < after.size(); ++k) {
      const bool ours =
          (k >= start_at() && k < start_at() + start.size()) || (k >= end_at() && k < end_at() + end.size());
      if (!ours && before[k] != after[k]) ++changed_elsewhere_;
    }
    return found;
  }
  int changed_elsewhere() const { return changed_elsewhere_; }

 private:
  std::size_t states() const { return elements(problem_.window.batch, model_.state_size()); }
  std::size_t ring() const { return elements(problem_.window.steps + 1); }
  std::size_t start_at() const {
    return ring() * states();
  }  // the start of the sequence: first cell of the second ring
  std::size_t end_at() const { return (ring() - 2) * states(); }
  std::vector<double> table(const std::vector<double>& start, const std::vector<double>& end) const {
    std::vector<double> cells(2 * ring() * states() + model_.state_size(), 0.125);
    std::copy(start.begin(), start.end(), cells.begin() + start_at());
    std::copy(end.begin(), end.end(), cells.begin() + end_at());
    return cells;
  }

  Problem& problem_;
  const Model& model_;
  int blocks_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Trainee> trainee_;
  std::unique_ptr<Learner> learner_;
  int changed_elsewhere_ = 0;
};

double of(const Gradients& gradients, const Problem& problem, const char* block) {
  return gradients.weights[problem.model->parameters().find(block).offset];
}

class FppGradient : public ::testing::TestWithParam<std::string> {
 protected:
  double tolerance() const { return GetParam() == "reference" ? 1e-9 : 1e-6; }
};
INSTANTIATE_TEST_SUITE_P(Engines, FppGradient, ::testing::Values("reference", "cpu"),
                         [](const auto& info) { return info.param; });

TEST_P(FppGradient, OfAScalarTanhTrajectoryIsTheOneComputedByHand) {
  // The inputs and the target are stored as floats: 0.8 and 0.3 are not exact there.
  const double close = GetParam() == "reference" ? 1e-7 : 1e-6;
  Problem problem = scalar_problem("rnn_tanh", {.w = 0.7, .u = -0.4, .b = 0.1, .v = 1.3, .c = 0.2}, {0.5f, -1.0f, 0.8f},
                                   {0.3f, 0.3f, 0.3f});
  OneTrajectory run(GetParam(), problem);
  const Gradients g = run.gradients({0.25}, {0.6});
  EXPECT_NEAR(of(g, problem, "rnn.weight_hh_l0"), -0.234996717, close);
  EXPECT_NEAR(of(g, problem, "rnn.weight_ih_l0"), -0.170433513, close);
  EXPECT_NEAR(of(g, problem, "rnn.bias_ih_l0"), -0.701259439, close);
  EXPECT_NEAR(of(g, problem, "head.weight"), 0.009177521, close);
  EXPECT_NEAR(of(g, problem, "head.bias"), 0.070128171, close);
  EXPECT_NEAR(g.start[0], -0.094736454, close);
  EXPECT_NEAR(g.end[0], 0.469132176, close);
}

TEST_P(FppGradient, OfALinearTrajectoryIsItsClosedForm) {
  const double w = 0.8, u = 0.5, v = 1.25, c = -0.5, y = 0.75, s = 0.5, end = -0.25;
  const std::vector<float> o = {0.5f, -1.0f, 0.25f};
  Problem problem = scalar_problem("rnn_linear", {.w = w, .u = u, .v = v, .c = c}, o,
                                   std::vector<float>(o.size(), static_cast<float>(y)));
  OneTrajectory run(GetParam(), problem);
  const Gradients g = run.gradients({s}, {end});
  const double shat = w * w * w * s + u * (w * w * o[0] + w * o[1] + o[2]);
  const double e = v * (v * shat + c - y) - (end - shat);
  EXPECT_NEAR(g.start[0], w * w * w * e, tolerance());
  EXPECT_NEAR(g.end[0], end - shat, tolerance());
  EXPECT_NEAR(of(g, problem, "rnn.weight_hh_l0"), e * (3 * w * w * s + u * (2 * w * o[0] + o[1])), tolerance());
  EXPECT_NEAR(of(g, problem, "rnn.weight_ih_l0"), e * (w * w * o[0] + w * o[1] + o[2]), tolerance());
}

TEST_P(FppGradient, OfAMeanPenaltyIsTwoLambdaOverTheUnits) {
  Problem problem = scalar_problem("rnn_linear", {.w = 0.8, .u = 0.5, .v = 0}, {0.5f, -1.0f}, {0.0f, 0.0f});
  FppConfig config;
  config.penalty = FppPenalty::mean;
  config.lambda = 3;
  OneTrajectory run(GetParam(), problem, config);
  const double shat = 0.64 * 0.5 + 0.5 * (0.8 * 0.5 - 1);
  EXPECT_NEAR(run.gradients({0.5}, {0.25}).end[0], 2 * 3 * (0.25 - shat), 4 * tolerance());
}

struct Net {
  std::string cell;
  int steps;
};

/// The objective by the reference engine: sum over rows of weight * l + lambda/2 |s_i - shat_i|^2.
double objective(const Problem& problem, const Window& window, const std::vector<double>& parameters,
                 const std::vector<double>& start, const std::vector<double>& end, double lambda) {
  EngineRun run(problem);
  run.set_parameters(parameters);
  run.set_window(window);
  const Unrolled unrolled = run.unroll(start);
  const double distance_to_end = distance(unrolled.final_state, end);
  return unrolled.loss_sum + lambda / 2 * distance_to_end * distance_to_end;
}

Problem net_problem(const std::string& cell, int steps, int batch) {
  ProblemSpec spec;
  spec.model = with_head(stack_of(cell, {3}, 2), "softmax", 3);
  spec.steps = steps;
  spec.batch = batch;
  return random_problem(spec);
}

/// The window with a loss at its last step alone.
Window last_loss(const Problem& problem) {
  Window window = problem.window;
  std::fill(window.weight.begin(), window.weight.end() - window.batch, 0.0f);
  return window;
}

TEST_P(FppGradient, AgreesWithCentralDifferencesOnEveryCell) {
  // A change of a state is known to the last bit of the state, not of the change.
  const bool exact = GetParam() == "reference";
  const auto off = [&](const std::vector<double>& got, const std::vector<double>& wanted) {
    return distance(got, wanted) / ((exact ? 1e-6 : 2e-5) * norm(wanted) + (exact ? 0 : 5e-7));
  };
  for (const std::string cell : {"rnn_tanh", "rnn_relu", "lstm", "gru"})
    for (const int steps : {1, 2, 5}) {
      SCOPED_TRACE(fmt::format("{} T={}", cell, steps));
      Problem problem = net_problem(cell, steps, 3);
      const Window window = last_loss(problem);
      const std::size_t states = elements(3, problem.model->state_size());
      const std::vector<double> start = float_numbers(states, 5, 0.5), end = float_numbers(states, 6, 0.5);
      FppConfig config;
      config.lambda = 0.7;
      OneTrajectory run(GetParam(), problem, config);
      const Gradients got = run.gradients(start, end);
      const auto at = [](std::span<const double> values) { return std::vector<double>(values.begin(), values.end()); };
      std::vector<double> weights = central_differences(
          [&](auto x) { return objective(problem, window, at(x), start, end, 0.7); }, problem.parameters);
      for (double& number : weights) number /= 3;  // the mean over streams
      EXPECT_LT(off(got.weights, weights), 1);
      EXPECT_LT(
          off(got.start,
              central_differences(
                  [&](auto x) { return objective(problem, window, problem.parameters, at(x), end, 0.7); }, start)),
          1);
      EXPECT_LT(
          off(got.end,
              central_differences(
                  [&](auto x) { return objective(problem, window, problem.parameters, start, at(x), 0.7); }, end)),
          1);
      EXPECT_EQ(run.changed_elsewhere(), 0);
    }
}

TEST_P(FppGradient, OfBlocksIsTheMeanForWeightsAndTheSumForAStateTheyShare) {
  Problem problem = net_problem("lstm", 2, 1);
  const std::vector<double> start = float_numbers(6, 5, 0.5), end = float_numbers(6, 6, 0.5);
  OneTrajectory stream(GetParam(), problem), blocks(GetParam(), problem, {}, 2);
  const Gradients one = stream.gradients(start, end), two = blocks.gradients(start, end);
  EXPECT_LT(relative_error(two.weights, one.weights), 1e-5);
  std::vector<double> twice = one.start;
  for (double& number : twice) number *= 2;
  EXPECT_LT(relative_error(two.start, twice), 1e-5);

  FppConfig overwrite;
  overwrite.collisions = FppCollisions::overwrite;
  OneTrajectory last(GetParam(), problem, overwrite, 2);
  EXPECT_LT(relative_error(last.gradients(start, end).start, one.start), 1e-5);
}

TEST_P(FppGradient, OfAStateIsDividedByTheBatchWhereTheMeanIsAskedFor) {
  Problem problem = net_problem("gru", 3, 4);
  const std::vector<double> start = float_numbers(12, 5, 0.5), end = float_numbers(12, 6, 0.5);
  FppConfig mean;
  mean.state_gradient = FppStateGradient::batch_mean;
  OneTrajectory own(GetParam(), problem), shared(GetParam(), problem, mean);
  Gradients a = own.gradients(start, end);
  const Gradients b = shared.gradients(start, end);
  for (double& number : a.start) number /= 4;
  for (double& number : a.end) number /= 4;
  EXPECT_LT(relative_error(b.start, a.start), 1e-5);
  EXPECT_LT(relative_error(b.end, a.end), 1e-5);
}

TEST_P(FppGradient, AtAFixedPointIsThatOfTruncatedBackPropagation) {
  Problem problem = net_problem("lstm", 4, 2);
  const Window window = last_loss(problem);
  EngineRun direct(problem, {.name = GetParam(), .threads = 1, .communicator = nullptr});
  direct.set_window(window);
  const std::vector<double> start(direct.state_numbers(), 0.0);
  const std::vector<double> end = direct.unroll(start).final_state;
  PulledBack wanted = direct.pull_back();
  for (double& number : wanted.gradient) number /= 2;
  OneTrajectory run(GetParam(), problem);
  const Gradients got = run.gradients(start, end);
  EXPECT_LT(relative_error(got.weights, wanted.gradient), tolerance());
  EXPECT_LT(relative_error(got.start, wanted.initial_cotangent), 10 * tolerance());
  EXPECT_EQ(norm(got.end), 0.0);
}

/// Oracle O4: the states are those of a forward pass, so the penalty pulls at nothing. The gradient of the trajectory
/// that ends at step i is that of T-BPTT there: of the learner `tbptt`, and of a sum of products of Jacobians that no
/// pull-back made. With T = i it is full BPTT, that of the learner `bptt`.
TEST_P(FppGradient, OnAForwardPassIsThatOfAnIndependentTruncatedBackPropagation) {
  constexpr int end = 6;  // i
  for (const std::string cell : {"rnn_tanh", "lstm"})
    for (int T = 1; T <= end; ++T) {
      SCOPED_TRACE(fmt::format("{} T={}", cell, T));
      Problem problem = net_problem(cell, end, 2);
      std::fill(problem.window.weight.begin(), problem.window.weight.end(), 1.0f);
      const StepDerivatives derivatives(problem);
      const std::vector<double> wanted = derivatives.mean_gradient(end - T, end - 1, end);
      Lesson truncated(problem, TbpttConfig{.preset = TbpttPreset::original, .truncation = T}, end);
      truncated.learn(problem.window);
      ASSERT_EQ(truncated.engine.updates.size(), static_cast<std::size_t>(end));
      EXPECT_LT(relative_error(truncated.engine.updates.back().gradient, wanted), 1e-8);
      if (T == end) {
        Lesson full(problem, BpttConfig{}, end);
        full.learn(last_loss(problem));
        EXPECT_LT(relative_error(full.engine.updates.back().gradient, wanted), 1e-8);
      }

      EngineRun forward(problem, {.name = GetParam(), .threads = 1, .communicator = nullptr});
      const std::vector<double> states = forward.unroll().states;
      const auto state_after = [&](int step) {
        const auto from = states.begin() + step * static_cast<long>(forward.state_numbers());
        return std::vector<double>(from, from + static_cast<long>(forward.state_numbers()));
      };
      const std::vector<double> start = state_after(end - T), last = state_after(end);
      std::vector<double> of_start;  // dl_i/ds_{i-T} of both streams
      for (int row = 0; row < 2; ++row) {
        const std::vector<double> one = derivatives.loss_by_state(end - 1, row, T);
        of_start.insert(of_start.end(), one.begin(), one.end());
      }
      Window trajectory;
      slice(problem.window, end - T, T, trajectory);
      problem.window = trajectory;
      for (const double lambda : {0.0, 1.0, 30.0}) {
        FppConfig config;
        config.lambda = lambda;
        OneTrajectory run(GetParam(), problem, config);
        const Gradients got = run.gradients(start, last);
        const double close = GetParam() == "reference" ? 1e-8 : 2e-5;
        EXPECT_LT(relative_error(got.weights, wanted), close) << lambda;
        EXPECT_LT(distance(got.start, of_start), close) << lambda;
        EXPECT_EQ(norm(got.end), 0.0) << lambda;
      }
    }
}

TEST_P(FppGradient, WithoutAPenaltyTheEndStays) {
  Problem problem = net_problem("lstm", 4, 2);
  FppConfig config;
  config.lambda = 0;
  OneTrajectory run(GetParam(), problem, config);
  EXPECT_EQ(norm(run.gradients(float_numbers(12, 5), float_numbers(12, 6)).end), 0.0);
}

TEST_P(FppGradient, HoldsThePenaltyWhereTheArmOfTheAblationWantsIt) {
  Problem problem = net_problem("rnn_tanh", 3, 2);
  const std::vector<double> start = float_numbers(6, 5), end = float_numbers(6, 6);
  const auto of_arm = [&](FppPenalise arm) {
    FppConfig config;
    config.penalise = arm;
    OneTrajectory run(GetParam(), problem, config);
    return run.gradients(start, end);
  };
  const Gradients both = of_arm(FppPenalise::both), weights = of_arm(FppPenalise::weights),
                  states = of_arm(FppPenalise::states), none = of_arm(FppPenalise::none);
  EXPECT_GT(relative_error(both.weights, none.weights), 1e-2);
  EXPECT_GT(relative_error(both.start, none.start), 1e-2);
  EXPECT_LT(relative_error(weights.weights, both.weights), 1e-6);
  EXPECT_LT(relative_error(weights.start, none.start), 1e-5);
  EXPECT_EQ(norm(weights.end), 0.0);
  EXPECT_LT(relative_error(states.weights, none.weights), 1e-6);
  EXPECT_LT(relative_error(states.start, both.start), 1e-5);
  EXPECT_LT(relative_error(states.end, both.end), 1e-5);
  EXPECT_EQ(norm(none.end), 0.0);
}

}  // namespace
}  // namespace throughtime::testing

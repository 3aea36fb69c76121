// What one step on the free states does to the gradient in theta: oracles 3 to 6 of the specification.
#include <gtest/gtest.h>

#include <numeric>

#include "learners/target_propagation/support.h"

namespace throughtime::testing {
namespace {

std::vector<double> combined(const std::vector<double>& a, double factor, const std::vector<double>& b) {
  std::vector<double> sum = a;
  for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += factor * b[k];
  return sum;
}

/// Without the head's parameters: those of g alone.
std::vector<double> of_recurrence(const Problem& problem, std::vector<double> gradient) {
  for (const ParameterBlock& block : problem.model->parameters().blocks())
    if (block.name.starts_with("head.")) std::fill_n(gradient.begin() + block.offset, block.size(), 0.0);
  return gradient;
}

/// dl(h_{j+1}; y_j) of one-step blocks: the loss sits on the state that the block ends in. [N][R S].
std::vector<std::vector<double>> loss_gradients(const Problem& problem) {
  EngineRun run(problem);
  const std::size_t state = run.state_numbers();
  std::vector<std::vector<double>> list;
  run.unroll();
  for (int step = 0; step < problem.window.steps; ++step) {
    const std::vector<double> taps = run.pull_back({.first = step, .last = step + 1}).tap_vectors;
    list.emplace_back(taps.begin() + state, taps.end());
  }
  return list;
}

/// d/dtheta_g of lambda/2 |g(x_t, before) - after|^2.
std::vector<double> spring_gradient(Definition& definition, const Problem& problem, int t, double lambda,
                                    const std::vector<double>& before, const std::vector<double>& after) {
  std::vector<double> pull = definition.run(problem.parameters, t, before).state;
  for (std::size_t k = 0; k < pull.size(); ++k) pull[k] = lambda * (pull[k] - after[k]);
  return of_recurrence(problem, definition.pull(problem.parameters, t, before, pull, false).second);
}

/// Supplement A.1 in its precise form (Eq. 8: the loss sits on the free state).
TEST(StepsOnStates, OneMovedStateScalesTheOneStepGradient) {
  for (const char* cell : {"rnn_tanh", "gru", "lstm"})
    for (const auto& [eta, lambda] : std::vector<std::pair<double, double>>{{0.3, 0.7}, {2, 0.5}, {0.01, 4}}) {
      const Problem problem = block_problem(cell, 4, 2);
      Definition definition(problem, 1, lambda);
      const std::vector<double> h = definition.chain(problem.parameters, std::vector<double>(definition.numbers()));
      const auto slopes = loss_gradients(problem);
      for (int t = 0; t < 4; ++t) {
        const std::vector<double> before = definition.state(h, t), after = definition.state(h, t + 1);
        const auto moved = combined(after, -eta, slopes[t]);
        const auto found = spring_gradient(definition, problem, t, lambda, before, moved);
        std::vector<double> one_step = of_recurrence(
            problem, definition.pull(problem.parameters, t, before, std::vector<double>(definition.numbers())).second);
        for (double& value : one_step) value *= eta * lambda;
        EXPECT_LT(relative_error(found, one_step), 1e-11) << cell << t;
      }
    }
}

/// The same with all states moved at once, as any implementation does: the identity fails, and the corrected formula
/// holds to first order.
TEST(StepsOnStates, StatesThatMoveTogetherBreakItAtFirstOrder) {
  const double lambda = 0.7;
  const Problem problem = block_problem("rnn_tanh", 5, 2, 1.0);
  Definition definition(problem, 1, lambda);
  const std::vector<double> zero(definition.numbers());
  const std::vector<double> h = definition.chain(problem.parameters, zero);
  const auto slopes = loss_gradients(problem);
  const auto errors = [&](double eta) {
    std::vector<double> found(problem.parameters.size()), naive = found, corrected = found;
    for (int t = 0; t < 5; ++t) {
      const std::vector<double> before = definition.state(h, t);
      const auto slope = slopes[t];
      const auto slope_before = t > 0 ? slopes[t - 1] : zero;
      const auto moved_before = combined(before, -eta, slope_before);
      found = combined(found, 1,
                       spring_gradient(definition, problem, t, lambda, moved_before,
                                       combined(definition.state(h, t + 1), -eta, slope)));
      // J_t v by a central difference of the recurrence.
      const double by = 1e-5;
      auto carried = definition.run(problem.parameters, t, combined(before, by, slope_before)).state;
      carried = combined(carried, -1, definition.run(problem.parameters, t, combined(before, -by, slope_before)).state);
      const auto pull = [&](const std::vector<double>& end) {
        return of_recurrence(problem, definition.pull(problem.parameters, t, before, end, false).second);
      };
      naive = combined(naive, eta * lambda, pull(slope));
      corrected = combined(corrected, eta * lambda, pull(combined(slope, -0.5 / by, carried)));
    }
    return std::pair(relative_error(found, naive), relative_error(found, corrected));
  };
  const auto coarse = errors(1e-2), fine = errors(1e-3);
  EXPECT_GT(coarse.first, 0.05);
  EXPECT_NEAR(fine.first, coarse.first, 0.2 * coarse.first) << "does not vanish with eta";
  EXPECT_NEAR(fine.second / coarse.second, 0.1, 0.02) << "falls with eta";
}

/// The gradients that the updates of a learner were made with.
std::vector<std::vector<double>> gradients_of(const Problem& problem, const LearnerConfig& config) {
  Lesson lesson(problem, config, problem.window.steps);
  lesson.learn(problem.window);
  std::vector<std::vector<double>> list;
  for (const auto& update : lesson.engine.updates)
    if (update.gradient.size() == problem.parameters.size()) list.push_back(update.gradient);
  return list;
}

TEST(StepsOnStates, AConsistentChainIsTruncatedBackPropagationForEveryLambda) {
  for (const char* cell : {"rnn_tanh", "gru", "lstm"})
    for (const int block : {1, 2, 3}) {
      const Problem problem = block_problem(cell, 6, 2);
      const auto found = gradients_of(problem, propagation(block, 1, 0));
      for (const double lambda : {0.01, 100.0})
        EXPECT_EQ(gradients_of(problem, propagation(block, lambda, 0)), found) << "lambda has no effect, to the bit";
      LearnerConfig truncated;
      truncated.name = "tbptt";
      truncated.tbptt = {.preset = TbpttPreset::plain, .truncation = block};
      const auto windows = gradients_of(problem, truncated);  // of means
      std::vector<double> sum(problem.parameters.size());
      for (std::size_t window = 0; window < windows.size(); ++window) {
        const auto first = problem.window.weight.begin() + window * 2 * block;
        sum = combined(sum, std::accumulate(first, first + 2 * block, 0.0), windows[window]);
      }
      ASSERT_EQ(found.size(), 1u);
      EXPECT_LT(relative_error(found[0], sum), 1e-12) << cell << block;
    }
}

/// One plain step on H carries credit one block further back, with the weight eta lambda.
TEST(StepsOnStates, AStepOnTheStatesReachesOneBlockBack) {
  const double lambda = 0.7;
  const Problem problem = block_problem("gru", 6, 2, 1.0);
  Definition definition(problem, 2, lambda);
  const std::vector<double> zero(definition.numbers());
  const std::vector<double> h = definition.chain(problem.parameters, zero);
  const auto error = [&](double eta) {
    LearnerConfig config = propagation(2, lambda);
    config.target_propagation.state_rate = eta;
    std::vector<double> wanted(problem.parameters.size());
    std::vector<std::vector<double>> slopes;  // grad l_j(h_j)
    for (int j = 0; j < 3; ++j)
      slopes.push_back(definition.pull(problem.parameters, j, definition.state(h, j), zero).first);
    std::fill(slopes[0].begin(), slopes[0].end(), 0.0);  // h_0 is fixed
    for (int j = 0; j < 3; ++j) {
      const std::vector<double> start = definition.state(h, j);
      const auto moved = combined(start, -eta, slopes[j]);
      wanted = combined(wanted, 1, definition.pull(problem.parameters, j, moved, zero).second);
      if (j == 2) continue;
      const double by = 1e-5;
      const auto& slope = slopes[j];
      auto carried = definition.run(problem.parameters, j, combined(start, by, slope)).state;
      carried = combined(carried, -1, definition.run(problem.parameters, j, combined(start, -by, slope)).state);
      const auto end = combined(slopes[j + 1], -0.5 / by, carried);
      wanted = combined(wanted, eta * lambda, definition.pull(problem.parameters, j, start, end, false).second);
    }
    return distance(gradients_of(problem, config).at(0), wanted);
  };
  const double coarse = error(1e-2), fine = error(1e-3);
  EXPECT_NEAR(fine / coarse, 0.01, 0.003) << "of second order";
}

std::vector<double> weighted_credit(const Problem& problem, int block, double c) {
  EngineRun run(problem);
  run.unroll();
  std::vector<double> sum(problem.parameters.size()), end(run.state_numbers());
  const int steps = problem.window.steps;
  for (int first = (steps - 1) / block * block; first >= 0; first -= block) {
    const PulledBack pulled =
        run.pull_back({.first = first, .last = std::min(steps, first + block), .end_cotangent = end});
    sum = combined(sum, 1, pulled.gradient);
    end = pulled.initial_cotangent;
    for (double& value : end) value *= c;
  }
  return sum;
}

TEST(StepsOnStates, TheBackwardSweepIsFullBackPropagation) {
  for (const char* cell : {"rnn_tanh", "gru", "lstm"}) {
    for (const int block : {1, 2, 3, 4}) {
      const Problem problem = block_problem(cell, 7, 2);  // which only 1 divides
      LearnerConfig config = propagation(block, 4);
      config.target_propagation.h_solver = StateSolver::backward_sweep;
      config.target_propagation.state_rate = 0.25;
      Lesson lesson(problem, config, 12);
      lesson.learn(problem.window);
      ASSERT_EQ(lesson.engine.updates.size(), 1u);
      EngineRun run(problem);
      run.unroll();
      EXPECT_LT(relative_error(lesson.engine.updates[0].gradient, run.pull_back().gradient), 1e-12) << cell << block;
      EXPECT_LT(relative_error(weighted_credit(problem, block, 1), run.pull_back().gradient), 1e-12);

      config.target_propagation.state_rate = 0.1;  // eta lambda = 0.4
      Lesson weaker(problem, config, 12);
      weaker.learn(problem.window);
      EXPECT_LT(relative_error(weaker.engine.updates[0].gradient, weighted_credit(problem, block, 0.4)), 1e-12);
    }
  }
}

}  // namespace
}  // namespace throughtime::testing

#include "learners/adaptive_tbptt/lag_gradients.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "learners/adaptive_tbptt/support.h"
#include "learners/step_derivatives.h"
#include "support/numeric.h"

namespace throughtime::testing {
namespace {

TEST(Phi, ImmediateJacobianOfATanhNetworkHasItsClosedForm) {
  // |dH/dW|_2 = max |rho'_i| sqrt(|h|^2 + |x|^2 + number of biases)
  const Problem problem = problem_of(stack_of("rnn_tanh", {3}), 6);
  EngineRun run(problem);
  const Unrolled unrolled = run.unroll();
  Bench bench(problem);
  Window row = problem.window;
  row.batch = 1;
  row.source.resize(1);
  row.start.resize(1);
  row.flags.clear();
  row.weight.assign(6, 1.0f);
  ImmediateJacobian jacobian(*bench.engine);
  jacobian.look_at(row, bench.parameters, false);
  double largest = 0, squares = 2;  // two biases
  for (int i = 0; i < 3; ++i) {
    const double after = unrolled.states[6 * 12 + i], before = unrolled.states[5 * 12 + i];
    largest = std::max(largest, 1 - after * after);
    squares += before * before;
  }
  const Source& source = problem.sources[static_cast<std::size_t>(row.source[0])];
  for (int i = 0; i < 2; ++i) {
    const double x = source.values[static_cast<std::size_t>(row.start[0] + 5 - source.first) * 2 + i];
    squares += x * x;
  }
  EXPECT_NEAR(jacobian.norm(), largest * std::sqrt(squares), 1e-9);
  const std::vector<double> lengths = jacobian.row_lengths();
  EXPECT_NEAR(*std::max_element(lengths.begin(), lengths.end()), largest * std::sqrt(squares), 1e-9);
}

/// The largest singular value of the matrix whose columns are given.
double spectral_norm(const std::vector<std::vector<double>>& columns) {
  std::vector<double> left(columns[0].size(), 1.0), image(columns.size());
  double largest = 0;
  for (int iteration = 0; iteration < 500; ++iteration) {
    for (std::size_t j = 0; j < columns.size(); ++j)
      image[j] = std::inner_product(left.begin(), left.end(), columns[j].begin(), 0.0);
    std::fill(left.begin(), left.end(), 0.0);
    for (std::size_t j = 0; j < columns.size(); ++j)
      for (std::size_t i = 0; i < left.size(); ++i) left[i] += columns[j][i] * image[j];
    largest = norm(left);
    for (double& value : left) value /= largest;
  }
  return std::sqrt(largest);
}

TEST(Phi, ImmediateJacobianOfAGatedCellIsThatOfFiniteDifferences) {
  for (const char* cell : {"lstm", "gru", "gru_reset_before"}) {
    SCOPED_TRACE(cell);
    const Problem problem = problem_of(stack_of(cell, {3, 2}), 6);
    Bench bench(problem);
    const Window row = row_of(problem.window, 0, 6);
    ImmediateJacobian jacobian(*bench.engine);
    jacobian.look_at(row, bench.parameters, false);

    EngineRun run(problem);
    const std::size_t numbers = run.state_numbers(), state = numbers / 4;
    const std::vector<double> states = run.unroll().states;
    Window last;
    slice(problem.window, 5, 1, last);
    run.set_window(last);
    const std::vector<double> before(states.begin() + static_cast<long>(5 * numbers),
                                     states.begin() + static_cast<long>(6 * numbers));
    const auto after = [&](std::size_t index, double by) {  // the first row's state, with one parameter moved
      std::vector<double> moved = problem.parameters;
      moved[index] += by;
      run.set_parameters(moved);
      std::vector<double> next = run.unroll(before).final_state;
      next.resize(state);
      return next;
    };
    std::vector<std::vector<double>> columns;
    for (std::size_t index = 0; index < problem.parameters.size(); ++index) {
      const std::vector<double> up = after(index, 1e-5), down = after(index, -1e-5);
      columns.emplace_back(state);
      for (std::size_t i = 0; i < state; ++i) columns.back()[i] = (up[i] - down[i]) / 2e-5;
    }
    EXPECT_NEAR(jacobian.norm(), spectral_norm(columns), 1e-7);
  }
}

TEST(Phi, TheExactSizeOfAGatedCellIsItsGradientOverM) {
  for (const char* cell : {"lstm", "gru"}) {
    SCOPED_TRACE(cell);
    const Problem problem = problem_of(stack_of(cell, {3, 2}), 12);
    Bench bench(problem);
    Window window, one;
    const PositionFunction rows = last_steps_of(problem, window);
    const PositionFunction positions = [&](std::uint64_t draw, int count, int steps) -> const Window& {
      return count == 4 ? rows(draw, count, steps) : one = row_of(problem.window, static_cast<int>(draw % 4), steps);
    };
    EstimateConfig config = config_of(6, 5);
    config.gradient_size = GradientSize::exact;
    const PhiSample sample = PhiCollector(*bench.engine, config, 4, positions).collect(bench.parameters, 0);

    double m = 0;  // the largest at the places that a draw looks at
    ImmediateJacobian jacobian(*bench.engine);
    for (int row = 0; row < 4; ++row) {
      jacobian.look_at(row_of(problem.window, row, 6), bench.parameters, false);
      m = std::max(m, jacobian.norm());
    }
    LagGradients gradients(*bench.engine, 11, 4);
    gradients.run(rows(0, 4, 11), bench.parameters, false, [&](int lag, const std::vector<double>& gradient) {
      if (lag > 6) return;
      EXPECT_NEAR(sample.means.gradient[static_cast<std::size_t>(lag)], norm(gradient) / m, 1e-12);
    });
    DecayOptions options;
    options.tail = 4;
    const DecayEstimate estimate(sample.means, options);
    EXPECT_GT(estimate.truncation(0.1, 1, 50), 0);
    EXPECT_GE(estimate.relative_bias(2), estimate.relative_bias(5));
  }
}

/// Oracle 3: the mean over all steps s of g_K(s) is the sum of products of Jacobians, truncated at lag K; with all lags
/// it is the derivative of the mean loss.
TEST(LagGradients, HaveTheTruncatedGradientAsTheirMeanOverAllSteps) {
  constexpr int T = 6;
  for (const char* cell : {"rnn_tanh", "lstm"}) {
    Problem problem = problem_of(stack_of(cell, {2}), T);
    std::fill(problem.window.weight.begin(), problem.window.weight.end(), 1.0f);
    const StepDerivatives derivatives(problem);
    Bench bench(problem);
    const std::size_t size = problem.parameters.size();
    std::vector<std::vector<double>> got(T, std::vector<double>(size, 0.0)), wanted = got;  // [K][P]
    for (int s = 0; s < T; ++s) {
      Window until;
      slice(problem.window, 0, s + 1, until);
      std::fill(until.weight.begin(), until.weight.end() - until.batch, 0.0f);
      std::vector<std::vector<double>> by_lag;
      LagGradients(*bench.engine, s + 1, until.batch)
          .run(until, bench.parameters, false,
               [&](int, const std::vector<double>& gradient) { by_lag.push_back(gradient); });
      ASSERT_EQ(by_lag.size(), static_cast<std::size_t>(s) + 1);
      for (int lag = 0; lag < T; ++lag) {
        const std::vector<double> sum = derivatives.mean_gradient(std::max(0, s - lag), s, s + 1);
        for (std::size_t i = 0; i < size; ++i) {
          got[lag][i] += by_lag[std::min(lag, s)][i] / T;
          wanted[lag][i] += sum[i] / T;
        }
      }
    }
    for (int lag = 0; lag < T; ++lag) EXPECT_LT(relative_error(got[lag], wanted[lag]), 1e-8) << cell << lag;
    EngineRun run(problem);
    const std::vector<double> full = central_differences(
        [&](std::span<const double> at) {
          run.set_parameters({at.begin(), at.end()});
          return run.unroll().loss_sum / (T * problem.window.batch);
        },
        problem.parameters);
    EXPECT_LT(relative_error(got.back(), full), 1e-8) << cell;
    EXPECT_GT(relative_error(got[T - 2], full), 1e-5) << cell;
  }
}

TEST(LagGradients, AreThoseOfWindowsOfSoManyCells) {
  const Problem problem = problem_of(stack_of("lstm", {3, 2}), 9);
  Bench bench(problem);
  Window window;
  const PositionFunction positions = last_steps_of(problem, window);
  EngineRun run(problem);
  run.set_window(positions(0, 4, 9));
  run.unroll();
  LagGradients gradients(*bench.engine, 9, 4);
  int next = 0;
  gradients.run(positions(0, 4, 9), bench.parameters, true, [&](int lag, const std::vector<double>& gradient) {
    EXPECT_EQ(lag, next++);
    PullBackSpec spec;
    spec.first = 8 - lag;
    std::vector<double> wanted = run.pull_back(spec).gradient;
    for (double& value : wanted) value /= 4;
    EXPECT_LT(relative_error(gradient, wanted), 1e-12) << lag;
  });
  EXPECT_EQ(next, 9);
}

TEST(Phi, TheTrueBiasLiesBelowTheRigorousBound) {
  // |mean (g_K - g_T)| <= M sum over k > K of the mean phi_k, whatever the decay.
  for (std::uint64_t seed = 1; seed < 6; ++seed) {
    const Problem problem = problem_of(stack_of("rnn_tanh", {4}), 25, seed);
    Bench bench(problem);
    Window window;
    const PositionFunction positions = last_steps_of(problem, window);
    PhiCollector collector(*bench.engine, config_of(25, 0), 4, positions);
    const std::vector<double> phi = collector.collect(bench.parameters, 0).means.phi;
    const double m = std::sqrt(4.0 + 2.0 + 2.0);  // rho' <= 1, |h|^2 <= 4, |x|^2 <= 2, two biases
    LagGradients gradients(*bench.engine, 25, 4);
    std::vector<std::vector<double>> by_lag;
    gradients.run(positions(0, 4, 25), bench.parameters, false,
                  [&](int, const std::vector<double>& gradient) { by_lag.push_back(gradient); });
    double tail = 0;
    for (int k = 24; k >= 0; --k) {
      EXPECT_LE(distance(by_lag[static_cast<std::size_t>(k)], by_lag.back()), m * tail + 1e-12) << k;
      tail += phi[static_cast<std::size_t>(k)];
    }
  }
}

TEST(Phi, TheTrueBiasOfAGatedCellLiesBelowTheBoundWithItsM) {
  for (const char* cell : {"lstm", "gru"}) {
    const Problem problem = problem_of(stack_of(cell, {3}), 15);
    Bench bench(problem);
    Window window;
    const PositionFunction positions = last_steps_of(problem, window);
    const std::vector<double> phi =
        PhiCollector(*bench.engine, config_of(15, 0), 4, positions).collect(bench.parameters, 0).means.phi;
    double m = 0;
    ImmediateJacobian jacobian(*bench.engine);
    for (int row = 0; row < 4; ++row)
      for (int steps = 1; steps <= 15; ++steps) {
        jacobian.look_at(row_of(problem.window, row, steps), bench.parameters, false);
        m = std::max(m, jacobian.norm());
      }
    std::vector<std::vector<double>> by_lag;
    LagGradients(*bench.engine, 15, 4)
        .run(positions(0, 4, 15), bench.parameters, false,
             [&](int, const std::vector<double>& gradient) { by_lag.push_back(gradient); });
    double tail = 0;
    for (std::size_t k = 15; k-- > 0;) {
      const double bias = distance(by_lag[k], by_lag.back());
      EXPECT_LE(bias, m * tail + 1e-12) << cell << " " << k;
      EXPECT_TRUE(k != 3 || bias > 1e-3 * m * tail) << cell;  // a bound that says something
      tail += phi[k];
    }
  }
}

}  // namespace
}  // namespace throughtime::testing

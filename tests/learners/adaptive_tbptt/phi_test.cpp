#include "learners/adaptive_tbptt/phi.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "support/engine_run.h"
#include "support/errors.h"
#include "support/numeric.h"

namespace throughtime {
namespace {

using testing::Problem;

/// Row s of every draw is the problem's own row s, its last `steps` steps: places that a test can follow.
PositionFunction last_steps_of(const Problem& problem, Window& window) {
  return [&](std::uint64_t, int rows, int steps) -> const Window& {
    slice(problem.window, problem.window.steps - steps, steps, window);
    std::fill(window.weight.begin(), window.weight.end() - window.batch, 0.0f);
    std::fill(window.weight.end() - window.batch, window.weight.end(), 1.0f);
    EXPECT_EQ(rows, problem.window.batch);
    return window;
  };
}

EstimateConfig config_of(int lags, int burn_in) {
  EstimateConfig config;
  config.lags = lags;
  config.burn_in = burn_in;
  return config;
}

Problem problem_of(const ModelConfig& model, int steps, std::uint64_t seed = 3) {
  testing::ProblemSpec spec;
  spec.model = model;
  spec.steps = steps;
  spec.batch = 4;
  spec.seed = seed;
  return random_problem(spec);
}

/// A linear network h_t = W h_{t-1} + x_t with loss sum of (v . h_s - y)^2.
Problem linear_problem(const std::vector<double>& w, int size, int steps) {
  Problem problem =
      problem_of(testing::with_head(testing::stack_of("rnn_linear", {size}, size), "regression", 1), steps);
  std::fill(problem.parameters.begin(), problem.parameters.end(), 0.0);
  const ParameterLayout& layout = problem.model->parameters();
  for (int i = 0; i < size; ++i) problem.parameters[layout.find("rnn.weight_ih_l0").offset + i * size + i] = 1;
  std::copy(w.begin(), w.end(), problem.parameters.begin() + static_cast<long>(layout.find("rnn.weight_hh_l0").offset));
  problem.parameters[layout.block(problem.model->head_weight).offset + size - 1] = 1;  // the end of the chain
  return problem;
}

struct Bench {
  explicit Bench(const Problem& problem, const EngineConfig& config = testing::EngineRun::reference())
      : engine(make_engine(*problem.model, config)), parameters(engine->allocate(problem.parameters.size())) {
    engine->write(parameters, problem.parameters);
  }
  std::unique_ptr<Engine> engine;
  Buffer parameters;
};

TEST(Phi, OfAScalarChainIsGeometric) {
  const Problem problem = linear_problem({0.5}, 1, 30);
  Bench bench(problem);
  Window window;
  PhiCollector collector(*bench.engine, config_of(20, 10), 4, last_steps_of(problem, window));
  const PhiSample sample = collector.collect(bench.parameters, 0);
  ASSERT_EQ(sample.means.phi.size(), 21u);
  for (int k = 0; k <= 20; ++k) EXPECT_NEAR(sample.means.phi[k] / sample.means.phi[0], std::pow(0.5, k), 1e-12) << k;
  DecayOptions options;
  options.tail = 18;
  const DecayEstimate estimate(sample.means, options);
  EXPECT_NEAR(estimate.beta(), 0.5, 1e-12);
  EXPECT_EQ(estimate.truncation(0.9, 1, 50), 1);
  EXPECT_EQ(estimate.truncation(0.1, 1, 50), 3);
}

TEST(Phi, OfANilpotentChainEndsAndSoDoesTheGradient) {
  // h_t = 2 N h_{t-1} + x, N the shift: phi_k = 2^k for k < 4, then exactly 0, and g_K = g_T bit for bit for K >= 3.
  std::vector<double> shift(16, 0.0);
  for (int i = 1; i < 4; ++i) shift[i * 4 + i - 1] = 2;
  const Problem problem = linear_problem(shift, 4, 30);
  Bench bench(problem);
  Window window;
  const PositionFunction positions = last_steps_of(problem, window);
  PhiCollector collector(*bench.engine, config_of(20, 10), 4, positions);
  const PhiSample sample = collector.collect(bench.parameters, 0);
  for (int k = 0; k <= 20; ++k)
    EXPECT_NEAR(sample.means.phi[k] / sample.means.phi[0], k < 4 ? std::pow(2.0, k) : 0.0, k < 4 ? 1e-12 : 0.0) << k;
  DecayOptions options;
  options.tail = 18;
  const DecayEstimate estimate(sample.means, options);
  for (const double delta : {0.9, 0.5, 0.1}) EXPECT_EQ(estimate.truncation(delta, 1, 50), 3);

  LagGradients gradients(*bench.engine, 30, 4);
  std::vector<std::vector<double>> by_lag;
  gradients.run(positions(0, 4, 30), bench.parameters, false,
                [&](int, const std::vector<double>& gradient) { by_lag.push_back(gradient); });
  ASSERT_EQ(by_lag.size(), 30u);
  EXPECT_NE(by_lag[2], by_lag.back());
  for (std::size_t k = 3; k < 30; ++k) EXPECT_EQ(by_lag[k], by_lag.back()) << k;
}

/// phi_k by pulling the unit loss back over whole windows of k cells.
TEST(Phi, IsTheCotangentOfEveryLag) {
  for (const char* cell : {"lstm", "gru", "rnn_tanh"}) {
    const Problem problem = problem_of(testing::stack_of(cell, {3, 2}), 12);
    for (const EngineConfig& config :
         {testing::EngineRun::reference(), EngineConfig{.name = "cpu", .threads = 2, .communicator = nullptr}}) {
      Bench bench(problem, config);
      Window window;
      const PositionFunction positions = last_steps_of(problem, window);
      PhiCollector collector(*bench.engine, config_of(7, 5), 4, positions);
      const PhiSample sample = collector.collect(bench.parameters, 0);
      testing::EngineRun run(problem);
      run.set_window(positions(0, 4, 12));
      run.set_training(true);
      run.unroll();
      for (int k = 1; k <= 7; ++k) {
        testing::PullBackSpec spec;
        spec.first = 12 - k;
        const std::vector<double> cotangent = run.pull_back(spec).initial_cotangent;
        const std::size_t width = cotangent.size() / 4;
        for (std::size_t s = 0; s < 4; ++s)
          EXPECT_NEAR(sample.draws[s * 8 + k], testing::norm(std::span(cotangent).subspan(s * width, width)), 1e-5)
              << cell << " " << config.name << " lag " << k;
      }
    }
  }
}

TEST(Phi, NormsOfLayersAddUpAndWeightsScaleUnits) {
  const Problem problem = problem_of(testing::stack_of("lstm", {3, 2}), 12);
  Bench bench(problem);
  Window window;
  const PositionFunction rows = last_steps_of(problem, window);
  Window one;
  const PositionFunction positions = [&](std::uint64_t draw, int count, int steps) -> const Window& {
    if (count == 4) return rows(draw, count, steps);
    const Window& whole = rows(draw, 4, steps);
    one = whole;
    one.batch = 1;
    one.source.resize(1);
    one.start.resize(1);
    one.flags.clear();
    one.weight.assign(static_cast<std::size_t>(steps), 0.0f);
    one.weight.back() = 1;
    return one;
  };
  const auto phi = [&](PhiNorm norm, GradientSize size = GradientSize::norms) {
    EstimateConfig config = config_of(6, 5);
    config.norm = norm;
    config.gradient_size = size;
    return PhiCollector(*bench.engine, config, 4, positions).collect(bench.parameters, 0);
  };
  const PhiSample euclidean = phi(PhiNorm::euclidean), layers = phi(PhiNorm::per_layer),
                  weighted = phi(PhiNorm::weighted);
  for (std::size_t i = 0; i < euclidean.draws.size(); ++i) {
    EXPECT_GE(layers.draws[i], euclidean.draws[i] * (1 - 1e-12));
    EXPECT_LE(layers.draws[i], std::sqrt(2.0) * euclidean.draws[i] * (1 + 1e-12));
    EXPECT_TRUE(std::isfinite(weighted.draws[i]));
  }
  EXPECT_GT(weighted.means.phi[1], 0);
  const PhiSample vectors = phi(PhiNorm::euclidean, GradientSize::vectors);
  double sum = 0;
  for (std::size_t k = 0; k <= 6; ++k) {
    sum += vectors.means.phi[k];
    EXPECT_NEAR(vectors.means.phi[k], euclidean.means.phi[k], 1e-12);
    EXPECT_LE(vectors.means.gradient[k], sum * (1 + 1e-12));
  }
  const PhiSample exact = phi(PhiNorm::euclidean, GradientSize::exact);
  ASSERT_EQ(exact.means.gradient.size(), 7u);
  for (const double size : exact.means.gradient) EXPECT_GT(size, 0);
}

TEST(Phi, ImmediateJacobianOfATanhNetworkHasItsClosedForm) {
  // |dH/dW|_2 = max |rho'_i| sqrt(|h|^2 + |x|^2 + number of biases)
  const Problem problem = problem_of(testing::stack_of("rnn_tanh", {3}), 6);
  testing::EngineRun run(problem);
  const testing::Unrolled unrolled = run.unroll();
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

/// Row `row` of a window, its first `steps` steps.
Window row_of(const Window& window, int row, int steps) {
  Window one;
  slice(window, 0, steps, one);
  one.batch = 1;
  one.source = {window.source[static_cast<std::size_t>(row)]};
  one.start = {window.start[static_cast<std::size_t>(row)]};
  one.flags.clear();
  one.weight.assign(static_cast<std::size_t>(steps), 1.0f);
  return one;
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
    largest = testing::norm(left);
    for (double& value : left) value /= largest;
  }
  return std::sqrt(largest);
}

TEST(Phi, ImmediateJacobianOfAGatedCellIsThatOfFiniteDifferences) {
  for (const char* cell : {"lstm", "gru", "gru_reset_before"}) {
    SCOPED_TRACE(cell);
    const Problem problem = problem_of(testing::stack_of(cell, {3, 2}), 6);
    Bench bench(problem);
    const Window row = row_of(problem.window, 0, 6);
    ImmediateJacobian jacobian(*bench.engine);
    jacobian.look_at(row, bench.parameters, false);

    testing::EngineRun run(problem);
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
    const Problem problem = problem_of(testing::stack_of(cell, {3, 2}), 12);
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
      EXPECT_NEAR(sample.means.gradient[static_cast<std::size_t>(lag)], testing::norm(gradient) / m, 1e-12);
    });
    DecayOptions options;
    options.tail = 4;
    const DecayEstimate estimate(sample.means, options);
    EXPECT_GT(estimate.truncation(0.1, 1, 50), 0);
    EXPECT_GE(estimate.relative_bias(2), estimate.relative_bias(5));
  }
}

TEST(Phi, OfANetworkThatResetsDecaysAlthoughItGrows) {
  // h_t = lam r_t h_{t-1} + x_t with r_t = 0 once in P steps: mean phi_k = lam^k (P - k) / P over a whole period.
  constexpr int period = 4;
  constexpr double lam = 1.5;
  const Problem problem = linear_problem({lam}, 1, 20);
  Bench bench(problem);
  Window window;
  const PositionFunction rows = last_steps_of(problem, window);
  const PositionFunction positions = [&](std::uint64_t draw, int count, int steps) -> const Window& {
    rows(draw, count, steps);
    window.flags.assign(window.weight.size(), StepFlag::go_on);
    for (int row = 0; row < period; ++row)  // row r is at place r of its period
      for (int step = 0; step < steps; ++step)
        if ((steps - 1 - step - row) % period == 0)
          window.flags[static_cast<std::size_t>(step) * 4 + row] = StepFlag::reset;
    return window;
  };
  PhiCollector collector(*bench.engine, config_of(15, 0), 4, positions);
  const PhiSample sample = collector.collect(bench.parameters, 0);
  for (std::size_t k = 0; k <= 15; ++k) {
    double mean = 0;
    for (std::size_t s = 0; s < 4; ++s) mean += sample.draws[s * 16 + k] / sample.draws[s * 16] / 4;
    EXPECT_NEAR(mean, k < period ? std::pow(lam, k) * (period - static_cast<double>(k)) / period : 0.0, 1e-12) << k;
  }
}

TEST(LagGradients, AreThoseOfWindowsOfSoManyCells) {
  const Problem problem = problem_of(testing::stack_of("lstm", {3, 2}), 9);
  Bench bench(problem);
  Window window;
  const PositionFunction positions = last_steps_of(problem, window);
  testing::EngineRun run(problem);
  run.set_window(positions(0, 4, 9));
  run.unroll();
  LagGradients gradients(*bench.engine, 9, 4);
  int next = 0;
  gradients.run(positions(0, 4, 9), bench.parameters, true, [&](int lag, const std::vector<double>& gradient) {
    EXPECT_EQ(lag, next++);
    testing::PullBackSpec spec;
    spec.first = 8 - lag;
    std::vector<double> wanted = run.pull_back(spec).gradient;
    for (double& value : wanted) value /= 4;
    EXPECT_LT(testing::relative_error(gradient, wanted), 1e-12) << lag;
  });
  EXPECT_EQ(next, 9);
}

TEST(Phi, TheTrueBiasLiesBelowTheRigorousBound) {
  // |mean (g_K - g_T)| <= M sum over k > K of the mean phi_k, whatever the decay.
  for (std::uint64_t seed = 1; seed < 6; ++seed) {
    const Problem problem = problem_of(testing::stack_of("rnn_tanh", {4}), 25, seed);
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
      EXPECT_LE(testing::distance(by_lag[static_cast<std::size_t>(k)], by_lag.back()), m * tail + 1e-12) << k;
      tail += phi[static_cast<std::size_t>(k)];
    }
  }
}

TEST(Phi, TheTrueBiasOfAGatedCellLiesBelowTheBoundWithItsM) {
  for (const char* cell : {"lstm", "gru"}) {
    const Problem problem = problem_of(testing::stack_of(cell, {3}), 15);
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
      const double bias = testing::distance(by_lag[k], by_lag.back());
      EXPECT_LE(bias, m * tail + 1e-12) << cell << " " << k;
      EXPECT_TRUE(k != 3 || bias > 1e-3 * m * tail) << cell;  // a bound that says something
      tail += phi[k];
    }
  }
}

TEST(Phi, RefusesWhatCannotBe) {
  const Problem problem = problem_of(testing::stack_of("lstm", {3, 2}), 12);
  Bench bench(problem);
  Window window;
  EXPECT_REFUSED(PhiCollector(*bench.engine, config_of(7, 5), 4, {}), "no training data");
  EXPECT_REFUSED(PhiCollector(*bench.engine, config_of(7, -1), 4, last_steps_of(problem, window)), "burn_in");
  EXPECT_REFUSED(choice_of<PhiNorm>("euclidian", "estimate", "norm"), "euclidean");
}

}  // namespace
}  // namespace throughtime

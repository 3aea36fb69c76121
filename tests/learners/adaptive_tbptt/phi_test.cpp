#include "learners/adaptive_tbptt/phi.h"

#include <gtest/gtest.h>

#include <cmath>

#include "learners/adaptive_tbptt/support.h"
#include "learners/scalar_problem.h"
#include "support/errors.h"
#include "support/numeric.h"

namespace throughtime::testing {
namespace {

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

/// Oracle 6 on the model itself: h_t = a h_{t-1} + u x_t with x = 1. In u the true relative bias of g_K is
/// r = a^(K+1) (1 - a^(T-K-1)) / (1 - a^T), which is a^(K+1) for long T, and Delta(K) = r / (1 - 2 r).
TEST(Phi, TheTrueBiasOfAScalarChainIsItsClosedForm) {
  constexpr int T = 60;
  for (const double a : {0.5, 0.8, 0.25}) {
    const Problem problem =
        scalar_problem("rnn_linear", {.w = a, .u = 0.7}, std::vector<float>(T, 1.0f), std::vector<float>(T, 0.25f));
    Bench bench(problem);
    Window window;
    const PositionFunction positions = last_steps_of(problem, window);
    PhiCollector collector(*bench.engine, config_of(40, T - 40), 1, positions);
    for (const DecayRule decay : {DecayRule::regression, DecayRule::max}) {
      DecayOptions options;
      options.tail = 36;
      options.decay = decay;
      const DecayEstimate estimate(collector.collect(bench.parameters, 0).means, options);
      EXPECT_NEAR(std::log(estimate.beta()), std::log(a), 1e-11);
      const double size = estimate.phi()[0];
      const std::size_t u = problem.model->parameters().find("rnn.weight_ih_l0").offset;
      std::vector<double> by_lag;
      LagGradients(*bench.engine, T, 1)
          .run(positions(0, 1, T), bench.parameters, false,
               [&](int, const std::vector<double>& gradient) { by_lag.push_back(gradient[u]); });
      ASSERT_EQ(by_lag.size(), static_cast<std::size_t>(T));
      for (int k = 0; k < 30; ++k) {
        const double r = std::pow(a, k + 1), cut = r * (1 - std::pow(a, T - k - 1));
        EXPECT_NEAR(1 - by_lag[k] / by_lag.back(), cut / (1 - std::pow(a, T)), 1e-12) << k;
        EXPECT_NEAR(estimate.absolute_bias(k) / size, r / (1 - a), 1e-10) << k;
        const double wanted = r < 0.5 ? r / (1 - 2 * r) : HUGE_VAL;
        const double bias = estimate.relative_bias(k);
        EXPECT_TRUE(r > 0.499 ? r < 0.501 || bias == wanted : std::abs(bias - wanted) < 1e-9) << k << " " << bias;
      }
    }
  }
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
    const Problem problem = problem_of(stack_of(cell, {3, 2}), 12);
    for (const EngineConfig& config :
         {EngineRun::reference(), EngineConfig{.name = "cpu", .threads = 2, .communicator = nullptr}}) {
      Bench bench(problem, config);
      Window window;
      const PositionFunction positions = last_steps_of(problem, window);
      PhiCollector collector(*bench.engine, config_of(7, 5), 4, positions);
      const PhiSample sample = collector.collect(bench.parameters, 0);
      EngineRun run(problem);
      run.set_window(positions(0, 4, 12));
      run.set_training(true);
      run.unroll();
      for (int k = 1; k <= 7; ++k) {
        PullBackSpec spec;
        spec.first = 12 - k;
        const std::vector<double> cotangent = run.pull_back(spec).initial_cotangent;
        const std::size_t width = cotangent.size() / 4;
        for (std::size_t s = 0; s < 4; ++s)
          EXPECT_NEAR(sample.draws[s * 8 + k], norm(std::span(cotangent).subspan(s * width, width)), 1e-5)
              << cell << " " << config.name << " lag " << k;
      }
    }
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

TEST(Phi, RefusesWhatCannotBe) {
  const Problem problem = problem_of(stack_of("lstm", {3, 2}), 12);
  Bench bench(problem);
  Window window;
  EXPECT_REFUSED(PhiCollector(*bench.engine, config_of(7, 5), 4, {}), "no training data");
  EXPECT_REFUSED(PhiCollector(*bench.engine, config_of(7, -1), 4, last_steps_of(problem, window)), "burn_in");
  EXPECT_REFUSED(choice_of<PhiNorm>("euclidian", "estimate", "norm"), "euclidean");
}

}  // namespace
}  // namespace throughtime::testing

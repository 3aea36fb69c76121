// States as variables: the penalty alone, its residuals, and the optimizer of the states.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "learners/fpp/state_cells.h"
#include "learners/fpp/support.h"
#include "support/errors.h"
#include "support/numeric.h"
#include "throughtime/index.h"
#include "throughtime/random.h"

namespace throughtime::testing {
namespace {

TEST(FppPenalty, AloneDrivesTheStatesToATrajectory) {
  // f = w s, no loss anywhere: every residual s_i - w s_{i-1} goes to zero.
  constexpr double w = 0.6;
  Problem problem = stream_problem(5, 1, "rnn_linear");
  std::fill(problem.window.weight.begin(), problem.window.weight.end(), 0.0f);
  std::fill(problem.parameters.begin(), problem.parameters.end(), 0.0);
  const std::size_t hidden = 3, at = problem.model->parameters().find("rnn.weight_hh_l0").offset;
  for (std::size_t unit = 0; unit < hidden; ++unit) problem.parameters[at + unit * (hidden + 1)] = w;
  LearnerConfig config = fpp(1, 5, 1 / (1 + w * w));
  config.fpp.fixed = true;
  config.fpp.ends = FppEnds::all;
  Lesson lesson(problem, config, 5);
  lesson.learn(problem.window);
  StateEditor put;
  put.edits["cells.states"] = random_numbers(12 * hidden + hidden, 3);
  lesson.learner->archive(put);
  const auto residual = [&] {
    const std::vector<double> table = kept(lesson)["cells.states"];
    double sum = 0;
    for (std::size_t t = 0; t < 5; ++t)
      for (std::size_t k = 0; k < hidden; ++k) {
        const double before = table[(t == 0 ? 6 : t - 1) * hidden + k];
        sum += std::pow(table[t * hidden + k] - w * before, 2);
      }
    return std::sqrt(sum);
  };
  EXPECT_GT(residual(), 0.5);
  for (int sweep = 0; sweep < 60; ++sweep) lesson.learn(problem.window);
  EXPECT_LT(residual(), 1e-6);
}

TEST(FppPenalty, NeverRisesUnderFullGradientSteps) {
  constexpr double w = 0.9, lambda = 2;
  const Problem problem = stream_problem(2, 1, "rnn_linear");
  const auto engine = make_engine(*problem.model, EngineRun::reference());
  const int S = problem.model->state_size(), cells = 6;
  FppConfig config;
  config.buffer = cells - 1;
  config.state_rate = 1.99 / (lambda * (1 + w) * (1 + w));
  StateCells table(*engine, config, 1, cells);
  const Buffer values = engine->allocate(elements(cells, S)), gradient = engine->allocate(values.size);
  std::vector<std::int64_t> all(cells);
  for (int t = 0; t < cells; ++t) {
    all[t] = table.after(t, 0);
    const Buffer state = engine->allocate(elements(S));
    engine->write(state, random_numbers(elements(S), 10 + static_cast<std::uint64_t>(t)));
    table.append(t, std::vector<std::uint8_t>{0}, state);
  }
  double last = 1e30;
  for (int sweep = 0; sweep < 40; ++sweep) {
    table.gather(all, values);
    const std::vector<double> s = engine->read(values);
    std::vector<double> d(s.size(), 0.0);
    double penalty = 0;
    for (std::size_t k = S; k < s.size(); ++k) {
      const double r = s[k] - w * s[k - S];
      penalty += lambda / 2 * r * r;
      d[k] += lambda * r;
      d[k - S] -= lambda * w * r;
    }
    EXPECT_LE(penalty, last);
    last = penalty;
    engine->write(gradient, d);
    table.descend(all, values, gradient, 1);
  }
}

TEST(FppPenalty, LeavesResidualsThatFallAsOneOverLambda) {
  // A consistent trajectory is not stationary: the loss of the next step pulls at a state. Five linear steps, W fixed.
  std::vector<double> log_lambda, log_residual;
  for (const double lambda : {10.0, 100.0, 1000.0}) {
    ProblemSpec spec;
    spec.model = with_head(stack_of("rnn_linear", {1}, 1), "regression", 1);
    spec.steps = 5;
    spec.batch = 1;
    Problem problem = random_problem(spec);
    std::fill(problem.window.weight.begin(), problem.window.weight.end(), 1.0f);
    const ParameterLayout& layout = problem.model->parameters();
    std::fill(problem.parameters.begin(), problem.parameters.end(), 0.0);
    problem.parameters[layout.find("rnn.weight_hh_l0").offset] = 0.5;
    problem.parameters[layout.find("rnn.weight_ih_l0").offset] = 0.7;
    problem.parameters[layout.find("head.weight").offset] = 0.8;
    problem.parameters[layout.find("head.bias").offset] = 0.3;
    LearnerConfig config = fpp(1, 5, 1.5 / lambda);
    config.fpp.lambda = lambda;
    config.fpp.fixed = true;
    config.fpp.batch = FppBatch::blocks;
    config.fpp.blocks = 300;  // about the full gradient, a fifth of it
    config.fpp.state_gradient = FppStateGradient::batch_mean;
    Lesson lesson(problem, config, 5);
    // The first loss gradient moves the start along the trajectory only slowly: take as many steps as it needs.
    for (int pass = 0; pass < static_cast<int>(40 * std::sqrt(lambda)); ++pass) {
      lesson.learn(problem.window);
      lesson.engine.unrolls.clear();
      lesson.engine.updates.clear();
    }
    const std::vector<double> s = kept(lesson)["cells.states"];
    double sum = 0;
    for (std::size_t t = 1; t < 4; ++t) {
      const double input = problem.sources[problem.window.source.empty() ? 0 : problem.window.source[0]]
                               .values[problem.window.start[0] + t];
      sum += std::pow(s[t] - 0.5 * s[t - 1] - 0.7 * input, 2);
    }
    log_lambda.push_back(std::log(lambda));
    log_residual.push_back(std::log(std::sqrt(sum)));
  }
  EXPECT_NEAR((log_residual[2] - log_residual[0]) / (log_lambda[2] - log_lambda[0]), -1, 0.05);
}

TEST(FppStates, FollowRmspropWithAMeanSquareOfTheirOwn) {
  const Problem problem = stream_problem(4, 1);
  LearnerConfig config = fpp(4, 4, 0.1);
  config.fpp.fixed = true;
  config.fpp.state_optimizer = FppStateRule::rmsprop;
  Lesson lesson(problem, config, 4);
  lesson.learn(problem.window);
  // One update has happened: |change| = rate |g| / (sqrt(0.01 g^2) + 1e-8) = 10 rate, whatever g.
  const auto buffers = kept(lesson);
  const std::vector<double>& states = buffers.at("cells.states");
  for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(std::abs(states[5 * 3 + k]), 1.0, 1e-3);
  const std::vector<double>& moments = buffers.at("cells.moments");
  for (std::size_t cell = 0; cell < 10; ++cell)
    EXPECT_EQ(moments[cell * 3] != 0, cell == 5) << cell;  // s_i = shat_i here: its gradient is zero
}

TEST(FppStates, DoNotChangeWhereTheirRateIsZero) {
  const Problem problem = stream_problem(30, 2, "gru");
  LearnerConfig config = fpp(3, 10, 0);
  config.fpp.penalise = FppPenalise::none;
  Lesson plain(problem, config, 30, 0.1);
  config.fpp.penalise = FppPenalise::both;
  config.fpp.lambda = 0;
  Lesson without(problem, config, 30, 0.1);
  plain.learn(problem.window);
  without.learn(problem.window);
  EXPECT_EQ(plain.parameters(), without.parameters());  // both are back-propagation from a buffer, bit for bit
  EXPECT_EQ(kept(plain)["cells.states"], kept(without)["cells.states"]);
}

}  // namespace
}  // namespace throughtime::testing

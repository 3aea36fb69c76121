#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "learners/adaptive_tbptt/phi.h"
#include "support/engine_run.h"

namespace throughtime::testing {

// For the tests of what an estimate measures: problems, places that a test can follow, an engine with parameters.

/// Row s of every draw is the problem's own row s, its last `steps` steps: places that a test can follow.
inline PositionFunction last_steps_of(const Problem& problem, Window& window) {
  return [&](std::uint64_t, int rows, int steps) -> const Window& {
    slice(problem.window, problem.window.steps - steps, steps, window);
    std::fill(window.weight.begin(), window.weight.end() - window.batch, 0.0f);
    std::fill(window.weight.end() - window.batch, window.weight.end(), 1.0f);
    EXPECT_EQ(rows, problem.window.batch);
    return window;
  };
}

inline EstimateConfig config_of(int lags, int burn_in) {
  EstimateConfig config;
  config.lags = lags;
  config.burn_in = burn_in;
  return config;
}

inline Problem problem_of(const ModelConfig& model, int steps, std::uint64_t seed = 3) {
  ProblemSpec spec;
  spec.model = model;
  spec.steps = steps;
  spec.batch = 4;
  spec.seed = seed;
  return random_problem(spec);
}

/// A linear network h_t = W h_{t-1} + x_t with loss sum of (v . h_s - y)^2.
inline Problem linear_problem(const std::vector<double>& w, int size, int steps) {
  Problem problem = problem_of(with_head(stack_of("rnn_linear", {size}, size), "regression", 1), steps);
  std::fill(problem.parameters.begin(), problem.parameters.end(), 0.0);
  const ParameterLayout& layout = problem.model->parameters();
  for (int i = 0; i < size; ++i) problem.parameters[layout.find("rnn.weight_ih_l0").offset + i * size + i] = 1;
  std::copy(w.begin(), w.end(), problem.parameters.begin() + static_cast<long>(layout.find("rnn.weight_hh_l0").offset));
  problem.parameters[layout.block(problem.model->head_weight).offset + size - 1] = 1;  // the end of the chain
  return problem;
}

struct Bench {
  explicit Bench(const Problem& problem, const EngineConfig& config = EngineRun::reference())
      : engine(make_engine(*problem.model, config)), parameters(engine->allocate(problem.parameters.size())) {
    engine->write(parameters, problem.parameters);
  }
  std::unique_ptr<Engine> engine;
  Buffer parameters;
};

/// Row `row` of a window, its first `steps` steps.
inline Window row_of(const Window& window, int row, int steps) {
  Window one;
  slice(window, 0, steps, one);
  one.batch = 1;
  one.source = {window.source[static_cast<std::size_t>(row)]};
  one.start = {window.start[static_cast<std::size_t>(row)]};
  one.flags.clear();
  one.weight.assign(static_cast<std::size_t>(steps), 1.0f);
  return one;
}

}  // namespace throughtime::testing

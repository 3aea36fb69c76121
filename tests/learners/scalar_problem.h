#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/random_problem.h"

namespace throughtime::testing {

/// Numbers of a net with one unit: h' = f(w h + u x + b), prediction v h + c.
struct ScalarNet {
  double w = 0, u = 1, b = 0, v = 1, c = 0;
};

/// Such a net with [T] inputs and targets and the loss (prediction - y)^2 / 2: a second output without error halves the
/// mean square.
inline Problem scalar_problem(const std::string& cell, const ScalarNet& net, std::vector<float> inputs,
                              const std::vector<float>& targets) {
  Problem problem;
  problem.model = std::make_unique<Model>(with_head(stack_of(cell, {1}, 1), "regression", 2));
  const ParameterLayout& layout = problem.model->parameters();
  problem.parameters.assign(layout.size(), 0.0);
  problem.parameters[layout.find("rnn.weight_ih_l0").offset] = net.u;
  problem.parameters[layout.find("rnn.weight_hh_l0").offset] = net.w;
  problem.parameters[layout.find("rnn.bias_ih_l0").offset] = net.b;
  problem.parameters[layout.find("head.weight").offset] = net.v;
  problem.parameters[layout.find("head.bias").offset] = net.c;
  const std::size_t steps = inputs.size();
  problem.storage.resize(1);
  problem.storage[0].values = std::move(inputs);
  for (const float y : targets)
    problem.storage[0].target_values.insert(problem.storage[0].target_values.end(), {y, 0.0f});
  Source source;
  source.steps = steps;
  source.reals = 1;
  source.target_width = 2;
  source.values = problem.storage[0].values;
  source.target_values = problem.storage[0].target_values;
  problem.sources = {source};
  problem.window.steps = static_cast<int>(steps);
  problem.window.batch = 1;
  problem.window.sources = problem.sources;
  problem.window.start = {0};
  problem.window.weight.assign(steps, 1.0f);
  return problem;
}

}  // namespace throughtime::testing

// minGRU, whose gates do not see the state, against its recurrence written out: both engines, every kind of step.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/engine_run.h"
#include "support/numeric.h"

namespace throughtime::testing {
namespace {

/// The state after the window, [B, S], with plain loops: z = sigmoid(W_z x + b_z), h' = (1 - z) h + z (W_n x + b_n).
std::vector<double> written_out(const Problem& problem, std::span<const double> parameters,
                                const std::vector<double>& initial) {
  const Model& model = *problem.model;
  const Window& window = problem.window;
  const auto size = static_cast<std::size_t>(model.state_size());
  std::vector<double> states = initial;
  for (int row = 0; row < window.batch; ++row)
    for (int step = 0; step < window.steps; ++step) {
      double* state = states.data() + static_cast<std::size_t>(row) * size;
      if (window.holds_at(step, row)) continue;
      if (window.resets_at(step, row)) std::fill_n(state, size, 0.0);
      const Source& source = window.sources[static_cast<std::size_t>(window.source[row])];
      const float* values = source.values.data() + (window.start[row] + step) * source.reals;
      std::vector<double> x(values, values + source.reals);
      for (const Layer& layer : model.layers()) {
        const double* weight = parameters.data() + model.parameters().block(layer.weight_ih).offset;
        const double* bias = parameters.data() + model.parameters().block(layer.bias_ih).offset;
        const auto row_of = [&](int unit) {
          double sum = bias[unit];
          for (int i = 0; i < layer.inputs; ++i) sum += weight[unit * layer.inputs + i] * x[i];
          return sum;
        };
        std::vector<double> outputs;
        for (int unit = 0; unit < layer.hidden; ++unit) {
          const double z = 1 / (1 + std::exp(-row_of(unit))), candidate = row_of(layer.hidden + unit);
          double& h = state[layer.state_offset + unit];
          h = (1 - z) * h + z * candidate;
          outputs.push_back(h);
        }
        x = outputs;
      }
    }
  return states;
}

struct Shape {
  std::vector<int> widths;
  int inputs = 1, steps = 1, batch = 1;
};

/// Final states, gradients and cotangents of both engines against the loops above and central differences of them.
void check(const Shape& shape, double resets, double holds) {
  ProblemSpec spec;
  spec.model = stack_of("mingru", shape.widths, shape.inputs);
  spec.steps = shape.steps;
  spec.batch = shape.batch;
  spec.resets = resets;
  Problem problem = random_problem(spec);
  const std::vector<double> draws = random_numbers(problem.window.flags.size(), 5);
  for (std::size_t i = 0; i < draws.size(); ++i)
    if (draws[i] > 1 - 2 * holds) problem.window.flags[i] = StepFlag::hold, problem.window.weight[i] = 0;

  const auto numbers = static_cast<std::size_t>(shape.batch * problem.model->state_size());
  const std::vector<double> initial = random_numbers(numbers, 6), end = random_numbers(numbers, 7);
  const auto objective_at = [&](std::span<const double> parameters, const std::vector<double>& start) {
    const std::vector<double> states = written_out(problem, parameters, start);
    double sum = 0;
    for (std::size_t i = 0; i < numbers; ++i) sum += end[i] * states[i];
    return sum;
  };
  const std::vector<double> states = written_out(problem, problem.parameters, initial);
  const std::vector<double> gradient = central_differences(
      [&](std::span<const double> parameters) { return objective_at(parameters, initial); }, problem.parameters);
  const std::vector<double> cotangent = central_differences(
      [&](std::span<const double> start) {
        return objective_at(problem.parameters, {start.begin(), start.end()});
      },
      initial);
  for (const std::string& name : engines_here()) {
    SCOPED_TRACE(name);
    const double bound = name == "reference" ? 1e-9 : 2e-5;
    EngineRun run(problem, {.name = name, .threads = 2, .communicator = nullptr});
    EXPECT_LT(relative_error(run.unroll(initial).final_state, states), bound);
    const PulledBack back = run.pull_back({.losses = false, .end_cotangent = end});
    EXPECT_LT(relative_error(back.gradient, gradient, 1e-8), bound);
    EXPECT_LT(relative_error(back.initial_cotangent, cotangent, 1e-8), bound);
  }
}

TEST(MinGru, HasNoRecurrentBlocks) {
  const Model model(stack_of("mingru", {3, 4}));
  for (const Layer& layer : model.layers()) {
    EXPECT_EQ(layer.weight_hh, -1);
    EXPECT_EQ(layer.bias_hh, -1);
  }
  EXPECT_EQ(model.parameters().find("rnn.weight_ih_l1").shape, (std::vector<int>{8, 3}));
  EXPECT_EQ(model.parameters().find("rnn.bias_ih_l0").shape, (std::vector<int>{6}));
  EXPECT_EQ(initialise(model, {}, 1).size(), model.parameters().size());
}

TEST(MinGru, IsItsRecurrenceForEveryShape) {
  const Shape shapes[] = {{{1}},                // one unit, one row, one step
                          {{1}, 2, 7, 3},       // a model moved number by number
                          {{3}, 1, 9, 1},       // a single row
                          {{16}, 2, 9, 2},      // a whole register
                          {{17, 5}, 3, 6, 35},  // neither a register nor a slice
                          {{70}, 20, 4, 2},     // several panels, wide inputs
                          {{70, 3}, 2, 4, 1}};
  for (const Shape& shape : shapes) {
    SCOPED_TRACE(fmt::format("{} units, {} layers, {} steps, {} rows", shape.widths[0], shape.widths.size(),
                             shape.steps, shape.batch));
    check(shape, 0, 0);
    check(shape, 0.3, 0);
    check(shape, 0.2, 0.3);
  }
}

TEST(MinGru, StandsBelowAndAboveOtherCells) {
  for (const int batch : {1, 3, 40}) {
    ProblemSpec spec;
    spec.model = stack_of("mingru", {18, 18, 5});
    spec.model.layers[1].cell = "gru_reset_before";
    spec.model.dropout.between = 0.3;
    spec.steps = 8;
    spec.batch = batch;
    spec.resets = 0.1;
    const Problem problem = random_problem(spec);
    EngineRun reference(problem), cpu(problem, {.name = "cpu", .threads = 2, .communicator = nullptr});
    EXPECT_LT(relative_error(cpu.unroll().final_state, reference.unroll().final_state), 1e-5) << batch;
    EXPECT_LT(relative_error(cpu.pull_back().gradient, reference.pull_back().gradient), 1e-4) << batch;
  }
}

TEST(MinGru, HasTheSameBitsForAnyThreadCount) {
  ProblemSpec spec;
  spec.model = stack_of("mingru", {33, 16});
  spec.steps = 20;
  spec.batch = 70;
  spec.resets = 0.05;
  const Problem problem = random_problem(spec);
  EngineRun one(problem, {.name = "cpu", .threads = 1, .communicator = nullptr});
  EngineRun three(problem, {.name = "cpu", .threads = 3, .communicator = nullptr});
  EXPECT_EQ(one.unroll().predictions, three.unroll().predictions);
  EXPECT_EQ(one.pull_back().gradient, three.pull_back().gradient);
}

}  // namespace
}  // namespace throughtime::testing

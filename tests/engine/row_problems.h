#pragma once
// Random windows of one row or of a few, of models that have a short way through the cpu engine.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "support/engine_run.h"
#include "support/numeric.h"
#include "support/random_choice.h"

namespace throughtime::testing {

inline EngineConfig row_engine(SingleRows rows = SingleRows::in_one_piece, int threads = 1) {
  EngineConfig config{.name = "cpu", .threads = threads, .communicator = nullptr};
  config.single_rows = rows;
  return config;
}

inline std::vector<std::string> cells_with_row_steps() {
  std::vector<std::string> names;
  for (const CellType* cell : all_cells())
    if (cell->rows && cell->rows().forward) names.push_back(cell->name);
  return names;
}

/// Heads without layers of their own.
inline std::vector<std::string> plain_heads() {
  std::vector<std::string> names = head_names();
  std::erase_if(names, [](const std::string& name) { return find_head(name).layers != nullptr; });
  return names;
}

/// One row of any model that the short way takes: 1-3 layers of 1-128 units, every head, reals and one-hot tokens.
inline ProblemSpec row_spec(std::uint64_t seed, const std::string& cell) {
  Choice choice(seed);
  ProblemSpec spec;
  spec.seed = seed;
  ModelConfig& model = spec.model;
  const int layers = choice.between(1, 3);
  for (int k = 0; k < layers; ++k)
    model.layers.push_back(
        {cell,
         choice.yes() ? choice.between(1, 128) : choice.one_of<int>({1, 4, 16, 17, 32, 48, 64, 65, 127, 128}),
         {}});
  model.input.reals = choice.one_of<int>({0, 1, 2, 3, 4, 5, 7, 15, 16, 17, 40});
  if (model.input.reals == 0 || choice.yes()) model.input.vocabulary = choice.between(1, 20);
  model.head.name = choice.one_of(plain_heads());
  model.head.outputs = choice.between(model.head.name == "softmax" ? 2 : 1, 20) + find_head(model.head.name).beside;
  model.head.outputs *= find_head(model.head.name).outputs_per_target(model.head.levels.size());
  spec.steps = choice.one_of<int>({1, 2, 3, 10, 64, 128});
  spec.batch = 1;
  spec.targets = choice.one_of<TargetLayout>({TargetLayout::source, TargetLayout::per_step, TargetLayout::per_row});
  spec.soft = choice.yes();
  spec.zero_weights = choice.one_of<double>({0.0, 0.5, 0.9, 1.0});
  spec.parameter_range = 0.08;  // below 1 / sqrt(128): states must not be chaotic
  return spec;
}

/// One step of one unit, with a loss and as few outputs as the head has.
inline ProblemSpec smallest_of(ProblemSpec spec, const std::string& cell, const std::string& head) {
  spec.model.layers = {{cell, 1, {}}};
  spec.model.head.name = head;
  spec.model.head.outputs = (find_head(head).beside + (head == "softmax" ? 2 : 1)) *
                            find_head(head).outputs_per_target(spec.model.head.levels.size());
  spec.steps = 1;
  spec.zero_weights = 0;
  return spec;
}

/// The cotangents at a window's ends, without what only the general way hands out.
inline PullBackSpec plain_spec(std::size_t numbers, std::uint64_t seed) {
  PullBackSpec spec;
  spec.taps = false;
  spec.end_cotangent = random_numbers(numbers, seed + 2);
  return spec;
}

inline void expect_agreement(const Problem& problem, std::uint64_t seed) {
  EngineRun reference(problem), row(problem, row_engine());
  const std::size_t numbers = reference.state_numbers();
  const auto initial = random_numbers(numbers, seed + 1, 0.5);
  const Unrolled a = reference.unroll(initial), b = row.unroll(initial);
  EXPECT_NEAR(b.loss_sum, a.loss_sum, 1e-5 * (1 + std::abs(a.loss_sum)));
  expect_close("losses", b.losses, a.losses, 1e-3);
  expect_close("final state", b.final_state, a.final_state, 1e-3);
  expect_close("states", b.states, a.states, 1e-3);
  expect_close("predictions", b.predictions, a.predictions, 1e-3);

  const auto compare = [&](const char* what, const PullBackSpec& spec) {
    const PulledBack c = reference.pull_back(spec), d = row.pull_back(spec);
    expect_close(what, d.gradient, c.gradient, 1e-3);
    expect_close("initial cotangent", d.initial_cotangent, c.initial_cotangent, 1e-3);
  };
  PullBackSpec spec = plain_spec(numbers, seed);
  compare("gradient", spec);
  spec.add_to = random_numbers(problem.parameters.size(), seed + 3);
  compare("added gradient", spec);
  spec.add_to.clear();
  spec.losses = false;
  compare("gradient without losses", spec);
  spec.add_to = random_numbers(problem.parameters.size(), seed + 3);
  compare("added gradient without losses", spec);
  spec = plain_spec(numbers, seed);
  spec.gradient = false;
  compare("cotangents alone", spec);

  // What the general way takes, of a window that went forth in one piece; and the whole once more.
  spec = plain_spec(numbers, seed);
  spec.taps = true;
  spec.step_cotangents = random_numbers(numbers * problem.window.steps, seed + 4);
  compare("gradient with cotangents at every step", spec);
  compare("that again", spec);
  spec = plain_spec(numbers, seed);
  compare("gradient again", spec);
}

/// All numbers of an unroll and a pull-back, one after the other.
inline std::vector<double> all_numbers(const Problem& problem, const EngineConfig& config) {
  EngineRun run(problem, config);
  const Unrolled unrolled = run.unroll(random_numbers(run.state_numbers(), 3, 0.5));
  const PulledBack back = run.pull_back(plain_spec(run.state_numbers(), 5));
  std::vector<double> all = {unrolled.loss_sum};
  for (const std::vector<double>* part : {&unrolled.losses, &unrolled.final_state, &unrolled.predictions,
                                          &unrolled.states, &back.gradient, &back.initial_cotangent})
    all.insert(all.end(), part->begin(), part->end());
  return all;
}

}  // namespace throughtime::testing

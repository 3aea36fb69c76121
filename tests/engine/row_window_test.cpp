// Windows of one row, which pass through the cpu engine in one piece, against the reference and the general way.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "engine/cpu/row_window.h"
#include "support/engine_run.h"
#include "support/errors.h"
#include "support/numeric.h"
#include "support/random_choice.h"

namespace throughtime::testing {
namespace {

EngineConfig row_engine(SingleRows rows = SingleRows::in_one_piece, int threads = 1) {
  EngineConfig config{.name = "cpu", .threads = threads, .communicator = nullptr};
  config.single_rows = rows;
  return config;
}

std::vector<std::string> cells_with_row_steps() {
  std::vector<std::string> names;
  for (const CellType* cell : all_cells())
    if (cell->rows && cell->rows().forward) names.push_back(cell->name);
  return names;
}

/// Heads without layers of their own.
std::vector<std::string> plain_heads() {
  std::vector<std::string> names = head_names();
  std::erase_if(names, [](const std::string& name) { return find_head(name).layers != nullptr; });
  return names;
}

/// One row of any model that the short way takes: 1-3 layers of 1-128 units, every head, reals and one-hot tokens.
ProblemSpec row_spec(std::uint64_t seed, const std::string& cell) {
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

bool takes(const Problem& problem) {
  std::vector<RowKernels> kernels;
  for (const Layer& layer : problem.model->layers())
    kernels.push_back(layer.cell->rows ? layer.cell->rows() : RowKernels());
  cpu::Slice slice;
  slice.rows = problem.window.batch;
  slice.chunk = problem.window.steps;
  return cpu::RowWindow(*problem.model, kernels, SingleRows::in_one_piece).takes(problem.window, slice);
}

/// The cotangents at a window's ends, without what only the general way hands out.
PullBackSpec plain_spec(std::size_t numbers, std::uint64_t seed) {
  PullBackSpec spec;
  spec.taps = false;
  spec.end_cotangent = random_numbers(numbers, seed + 2);
  return spec;
}

void expect_agreement(const Problem& problem, std::uint64_t seed) {
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

TEST(RowWindow, AgreesWithTheReferenceOnRandomProblems) {
  for (const std::string& cell : cells_with_row_steps())
    for (std::uint64_t seed = 1; seed <= 24; ++seed) {
      SCOPED_TRACE(fmt::format("{}, seed {}", cell, seed));
      const Problem problem = random_problem(row_spec(seed, cell));
      ASSERT_TRUE(takes(problem));
      expect_agreement(problem, seed);
    }
}

TEST(RowWindow, AgreesWithEveryHeadAndOneUnitOneStep) {
  for (const std::string& cell : cells_with_row_steps())
    for (const std::string& head : plain_heads()) {
      SCOPED_TRACE(cell + ", " + head);
      ProblemSpec spec = row_spec(7, cell);
      spec.model.layers = {{cell, 1, {}}};
      spec.model.head.name = head;
      spec.model.head.outputs = (find_head(head).beside + (head == "softmax" ? 2 : 1)) *
                                find_head(head).outputs_per_target(spec.model.head.levels.size());
      spec.steps = 1;
      spec.zero_weights = 0;
      expect_agreement(random_problem(spec), 7);
    }
}

/// All numbers of an unroll and a pull-back, one after the other.
std::vector<double> all_numbers(const Problem& problem, const EngineConfig& config) {
  EngineRun run(problem, config);
  const Unrolled unrolled = run.unroll(random_numbers(run.state_numbers(), 3, 0.5));
  const PulledBack back = run.pull_back(plain_spec(run.state_numbers(), 5));
  std::vector<double> all = {unrolled.loss_sum};
  for (const std::vector<double>* part : {&unrolled.losses, &unrolled.final_state, &unrolled.predictions,
                                          &unrolled.states, &back.gradient, &back.initial_cotangent})
    all.insert(all.end(), part->begin(), part->end());
  return all;
}

TEST(RowWindow, HasTheSameBitsForEveryThreadCount) {
  for (const std::string& cell : cells_with_row_steps()) {
    const Problem problem = random_problem(row_spec(11, cell));
    const std::vector<double> one = all_numbers(problem, row_engine());
    for (const int threads : {2, 3})
      EXPECT_EQ(all_numbers(problem, row_engine(SingleRows::in_one_piece, threads)), one) << cell;
  }
}

/// What is not of one piece keeps the bits that it had.
TEST(RowWindow, LeavesOtherWindowsToTheGeneralWay) {
  const auto expect_general = [](const char* what, const ProblemSpec& spec, const auto& change) {
    SCOPED_TRACE(what);
    Problem problem = random_problem(spec);
    change(problem);
    EXPECT_FALSE(takes(problem));
    EXPECT_EQ(all_numbers(problem, row_engine()), all_numbers(problem, row_engine(SingleRows::general)));
  };
  const auto nothing = [](Problem&) {};
  ProblemSpec plain = row_spec(5, "lstm");
  plain.model = with_head(stack_of("lstm", {20, 9}), "softmax", 3);
  plain.steps = 9;
  plain.zero_weights = 0;
  ASSERT_TRUE(takes(random_problem(plain)));
  EXPECT_NE(all_numbers(random_problem(plain), row_engine()),
            all_numbers(random_problem(plain), row_engine(SingleRows::general)))
      << "the two ways add up in different orders";

  expect_general("a reset", plain, [](Problem& problem) {
    problem.window.flags.assign(9, StepFlag::go_on);
    problem.window.flags[4] = StepFlag::reset;
  });
  expect_general("a held step", plain, [](Problem& problem) {
    problem.window.flags.assign(9, StepFlag::go_on);
    problem.window.flags[4] = StepFlag::hold;
    problem.window.weight[4] = 0;
  });
  ProblemSpec other = plain;
  other.batch = 2;
  expect_general("two rows", other, nothing);
  for (double DropoutConfig::*share : {&DropoutConfig::input, &DropoutConfig::between, &DropoutConfig::output,
                                       &DropoutConfig::logits, &DropoutConfig::recurrent}) {
    other = plain;
    other.model.dropout.*share = 0.3;
    expect_general("dropout", other, nothing);
  }
  other = plain;
  other.model.penalties = {.activation = 0.1, .slowness = 0.1};
  expect_general("penalties", other, nothing);
  other = plain;
  other.model.head.hidden = 4;
  expect_general("a layer in the head", other, nothing);
  other = plain;
  other.model.head.name = "mixture_of_softmaxes";
  other.model.head.experts = 2;
  expect_general("a head with layers of its own", other, nothing);
  other = plain;
  other.model.input.encoder = 4;
  expect_general("an encoder", other, nothing);
  other = plain;
  other.model.layers.front().hidden = 129;
  expect_general("wide layers", other, nothing);
  other = plain;
  other.model.layers.back().cell = "antisymmetric";
  expect_general("a cell without steps of a row", other, nothing);
}

/// Flags that say nothing change nothing.
TEST(RowWindow, TakesFlagsThatAllGoOn) {
  Problem problem = random_problem(row_spec(3, "gru"));
  const std::vector<double> without = all_numbers(problem, row_engine());
  problem.window.flags.assign(problem.window.weight.size(), StepFlag::go_on);
  ASSERT_TRUE(takes(problem));
  EXPECT_EQ(all_numbers(problem, row_engine()), without);
}

/// A caller that has looked at a window is believed; one that has not is told.
TEST(RowWindow, LooksAtAWindowUnlessItsCallerHas) {
  Problem problem = random_problem(row_spec(3, "rnn_tanh"));
  ASSERT_GT(problem.storage[0].values.size(), 0u);
  for (Problem::Storage& storage : problem.storage) storage.values[0] = std::numeric_limits<float>::quiet_NaN();
  problem.window.start[0] = 0;
  EngineRun run(problem, row_engine());
  UnrollCall call{.window = problem.window, .parameters = run.parameters(), .tape = run.tape()};
  EXPECT_THROW(run.engine().unroll(call), InvalidInput);
  call.checked = true;
  EXPECT_NO_THROW(run.engine().unroll(call));
}

}  // namespace
}  // namespace throughtime::testing

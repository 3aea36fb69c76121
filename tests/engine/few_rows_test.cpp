// Windows of a few rows: with registers across rows where layers are narrow, else as one slice whose gradients are
// summed up in the flat vector. Against the reference and the general way.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>

#include "allocations/counted_new.h"
#include "engine/cpu/few_rows/across_window.h"
#include "engine/row_problems.h"
#include "support/errors.h"

namespace throughtime::testing {
namespace {

constexpr std::uint64_t seeds = 16;

/// Two to 32 rows of any model that the short ways take.
ProblemSpec few_rows_spec(std::uint64_t seed, const std::string& cell) {
  Choice choice(seed + 100);
  ProblemSpec spec = row_spec(seed, cell);
  spec.batch = choice.yes() ? choice.between(2, 32) : choice.one_of<int>({2, 3, 4, 5, 8, 12, 15, 16, 17, 24, 31, 32});
  spec.steps = choice.one_of<int>({1, 2, 3, 10, 13});
  spec.resets = choice.one_of<double>({0.0, 0.0, 0.2});
  return spec;
}

/// The same with layers so narrow that registers lie across rows, and rows of several blocks.
ProblemSpec narrow_spec(std::uint64_t seed, const std::string& cell) {
  Choice choice(seed + 200);
  ProblemSpec spec = few_rows_spec(seed, cell);
  spec.batch = choice.one_of<int>({4, 5, 15, 16, 17, 32, 33, 100});
  spec.resets = 0;
  const int most = static_cast<int>(cpu::padded(kAcross) * spec.batch / cpu::padded(spec.batch));
  for (LayerConfig& layer : spec.model.layers) layer.hidden = choice.between(1, most);
  spec.model.input.reals = choice.between(0, 8);
  spec.model.input.vocabulary = spec.model.input.reals == 0 || choice.yes() ? choice.between(1, 8) : 0;
  const HeadType& head = find_head(spec.model.head.name);
  spec.model.head.outputs = (choice.between(head.name == "softmax" ? 2 : 1, 6) + head.beside) *
                            head.outputs_per_target(spec.model.head.levels.size());
  spec.parameter_range = 0.4;
  return spec;
}

bool goes_across(const Problem& problem, Keep keep = Keep::gradient) {
  std::vector<RowKernels> kernels;
  for (const Layer& layer : problem.model->layers())
    kernels.push_back(layer.cell->rows ? layer.cell->rows() : RowKernels());
  return cpu::AcrossWindow(*problem.model, kernels, SingleRows::in_one_piece)
      .fits({.steps = problem.window.steps, .batch = problem.window.batch, .keep = keep});
}

TEST(FewRows, AgreeWithTheReferenceOnRandomProblems) {
  for (const std::string& cell : cells_with_row_steps())
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      SCOPED_TRACE(fmt::format("{}, seed {}", cell, seed));
      expect_agreement(random_problem(few_rows_spec(seed, cell)), seed);
    }
}

TEST(FewRows, AgreeAcrossRegistersOnRandomProblems) {
  for (const std::string& cell : cells_with_row_steps())
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      SCOPED_TRACE(fmt::format("{}, seed {}", cell, seed));
      const Problem problem = random_problem(narrow_spec(seed, cell));
      ASSERT_TRUE(goes_across(problem));
      expect_agreement(problem, seed);
    }
}

TEST(FewRows, AgreeWithEveryHeadAndOneUnitOneStep) {
  for (const std::string& cell : cells_with_row_steps())
    for (const std::string& head : plain_heads()) {
      SCOPED_TRACE(cell + ", " + head);
      const ProblemSpec spec = smallest_of(narrow_spec(7, cell), cell, head);
      const Problem problem = random_problem(spec);
      ASSERT_TRUE(goes_across(problem));
      expect_agreement(problem, 7);
    }
}

TEST(FewRows, HaveTheSameBitsForEveryThreadCount) {
  for (const std::string& cell : cells_with_row_steps())
    for (const ProblemSpec& spec : {few_rows_spec(11, cell), narrow_spec(11, cell)}) {
      const Problem problem = random_problem(spec);
      const std::vector<double> one = all_numbers(problem, row_engine());
      for (const int threads : {2, 3})
        EXPECT_EQ(all_numbers(problem, row_engine(SingleRows::in_one_piece, threads)), one) << cell;
    }
}

/// What neither way takes keeps the bits that it had.
TEST(FewRows, LeaveOtherWindowsToTheGeneralWay) {
  const auto expect_general = [](const char* what, const Problem& problem) {
    EXPECT_EQ(all_numbers(problem, row_engine()), all_numbers(problem, row_engine(SingleRows::general))) << what;
  };
  ProblemSpec plain = narrow_spec(5, "lstm");
  plain.model = with_head(stack_of("lstm", {7, 5}), "softmax", 3);
  plain.batch = 17;  // the second block of rows has one
  plain.steps = 9;
  plain.zero_weights = 0;
  ASSERT_TRUE(goes_across(random_problem(plain)));
  EXPECT_NE(all_numbers(random_problem(plain), row_engine()),
            all_numbers(random_problem(plain), row_engine(SingleRows::general)))
      << "the two ways add up in different orders";
  for (double DropoutConfig::*share : {&DropoutConfig::input, &DropoutConfig::between, &DropoutConfig::output,
                                       &DropoutConfig::logits, &DropoutConfig::recurrent}) {
    ProblemSpec other = plain;
    other.model.dropout.*share = 0.3;
    expect_general("dropout", random_problem(other));
  }
  ProblemSpec other = plain;
  other.model.penalties = {.activation = 0.1, .slowness = 0.1};
  expect_general("penalties", random_problem(other));
  other = plain;
  other.model.head.hidden = 4;
  expect_general("a layer in the head", random_problem(other));
  other = plain;
  other.model.input.encoder = 4;
  expect_general("an encoder", random_problem(other));
  other = plain;
  other.batch = 33;
  other.model.layers.front().hidden = 17;
  expect_general("many rows", random_problem(other));
  other = plain;
  other.model.layers.back().cell = "antisymmetric";
  expect_general("a cell without steps of a row", random_problem(other));
}

/// Rows that are reset or held at some steps go the general way, forth and back, on a tape that has room for both.
TEST(FewRows, AgreeWithRowsThatAreResetOrHeld) {
  for (const std::string& cell : cells_with_row_steps())
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      SCOPED_TRACE(fmt::format("{}, seed {}", cell, seed));
      ProblemSpec spec = narrow_spec(seed, cell);
      spec.steps = 5;
      if (seed > 2) spec.model.layers.front().hidden = 20;
      Problem problem = random_problem(spec);
      problem.window.flags.assign(problem.window.weight.size(), StepFlag::go_on);
      for (std::size_t i = seed; i < problem.window.flags.size(); i += 3) {
        problem.window.flags[i] = i % 2 == 0 ? StepFlag::reset : StepFlag::hold;
        if (problem.window.flags[i] == StepFlag::hold) problem.window.weight[i] = 0;
      }
      expect_agreement(problem, seed);
    }
}

/// A row beside others has the numbers that it has alone.
TEST(FewRows, DoNotTouchEachOther) {
  ProblemSpec spec = narrow_spec(3, "gru");
  spec.batch = 17;
  spec.targets = TargetLayout::source;
  spec.zero_weights = 0;
  Problem problem = random_problem(spec);
  const std::vector<double> all = EngineRun(problem, row_engine()).unroll().losses;
  std::fill(problem.window.start.begin() + 1, problem.window.start.end(), problem.window.start[0]);
  if (!problem.window.source.empty())
    std::fill(problem.window.source.begin() + 1, problem.window.source.end(), problem.window.source[0]);
  const std::vector<double> same = EngineRun(problem, row_engine()).unroll().losses;
  for (std::size_t step = 0; step < static_cast<std::size_t>(spec.steps); ++step)
    for (std::size_t row = 0; row < 17; ++row) EXPECT_EQ(same[step * 17 + row], all[step * 17]) << row;
}

TEST(FewRows, DoNotAllocate) {
  for (const ProblemSpec& spec : {few_rows_spec(2, "lstm"), narrow_spec(2, "lstm"), narrow_spec(4, "gru")}) {
    const Problem problem = random_problem(spec);
    const auto engine = make_engine(*problem.model, row_engine());
    const auto tape = engine->make_tape({.steps = spec.steps, .batch = spec.batch});
    const Buffer parameters = engine->allocate(problem.parameters.size());
    const Buffer gradient = engine->allocate(problem.parameters.size());
    const Buffer state = engine->allocate(static_cast<std::size_t>(spec.batch * problem.model->state_size()));
    engine->write(parameters, problem.parameters);
    const auto pass = [&] {
      engine->unroll({.window = problem.window,
                      .parameters = parameters,
                      .tape = *tape,
                      .initial_state = state,
                      .final_state = state});
      engine->pull_back({.tape = *tape, .window = problem.window, .parameters = parameters, .gradient = gradient});
    };
    pass();
    const std::int64_t before = allocations();
    pass();
    EXPECT_EQ(allocations(), before);
  }
}

}  // namespace
}  // namespace throughtime::testing

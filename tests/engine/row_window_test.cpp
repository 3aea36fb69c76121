// Windows of one row, which pass through the cpu engine in one piece, against the reference and the general way.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>

#include "engine/cpu/few_rows/row_window.h"
#include "engine/row_problems.h"
#include "support/errors.h"

namespace throughtime::testing {
namespace {

bool takes(const Problem& problem) {
  std::vector<RowKernels> kernels;
  for (const Layer& layer : problem.model->layers())
    kernels.push_back(layer.cell->rows ? layer.cell->rows() : RowKernels());
  cpu::Slice slice;
  slice.rows = problem.window.batch;
  slice.chunk = problem.window.steps;
  return cpu::RowWindow(*problem.model, kernels, SingleRows::in_one_piece).takes(problem.window, slice);
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
      expect_agreement(random_problem(smallest_of(row_spec(7, cell), cell, head)), 7);
    }
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

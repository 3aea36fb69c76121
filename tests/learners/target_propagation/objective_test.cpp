// The blocked loss of target propagation and its gradients: oracles 1, 2, 13, 14 and 15 of the specification.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "learners/target_propagation/support.h"

namespace throughtime::testing {
namespace {

struct Arm {
  std::string cell;
  int block;
  bool last_spring;
};

class BlockGradient : public ::testing::TestWithParam<Arm> {};

TEST_P(BlockGradient, EqualsCentralDifferencesOfTheDefinition) {
  const Arm& arm = GetParam();
  const Problem problem = block_problem(arm.cell);
  Definition definition(problem, arm.block, 0.7, arm.last_spring);
  Objective objective(problem, arm.block, 0.7, "reference", 0, arm.last_spring);
  const Variables at = random_variables(problem, definition.table(), 5);
  const Objective::Gradients found = objective.at(at);

  EXPECT_NEAR(objective.value(at), definition.value(at), 1e-12);
  const auto along = [&](std::vector<double> Variables::*part) {
    return central_differences(
        [&](std::span<const double> values) {
          Variables moved = at;
          (moved.*part).assign(values.begin(), values.end());
          return definition.value(moved);
        },
        at.*part);
  };
  EXPECT_LT(relative_error(found.theta, along(&Variables::theta)), 1e-9);
  EXPECT_LT(relative_error(found.states, along(&Variables::states)), 1e-9);
  std::vector<double> of_duals = found.residuals;
  for (double& value : of_duals) value *= 0.7;
  EXPECT_LT(relative_error(of_duals, along(&Variables::duals), 1e-9), 1e-9);
  EXPECT_EQ(objective.at(at, true).states, found.states) << "the tape of H alone";
}

std::vector<Arm> arms() {
  std::vector<Arm> list;
  for (const char* cell : {"rnn_tanh", "gru", "lstm"})
    for (const int block : {1, 2, 4, 6}) list.push_back({cell, block, false});  // 4: the last block is shorter
  list.push_back({"gru", 2, true});
  list.push_back({"lstm", 4, true});
  return list;
}

INSTANTIATE_TEST_SUITE_P(Blocks, BlockGradient, ::testing::ValuesIn(arms()), [](const auto& info) {
  return fmt::format("{}_{}{}", info.param.cell, info.param.block, info.param.last_spring ? "_to_the_last" : "");
});

TEST(BlockObjective, OneBlockIsFullBackPropagation) {
  const Problem problem = block_problem("gru");
  Objective objective(problem, 6, 0.7);
  EngineRun run(problem);
  const Unrolled unrolled = run.unroll();
  const Variables at{problem.parameters, std::vector<double>(2 * 2 * 3), std::vector<double>(2 * 2 * 3)};
  const Objective::Gradients found = objective.at(at);
  EXPECT_DOUBLE_EQ(found.loss, unrolled.loss_sum);
  EXPECT_EQ(found.springs, 0);
  EXPECT_EQ(found.theta, run.pull_back().gradient);
}

TEST(BlockObjective, WithoutLambdaBlocksAreIndependent) {
  const Problem problem = block_problem("lstm");
  Definition definition(problem, 2, 0);
  Objective objective(problem, 2, 0);
  const Variables at = random_variables(problem, definition.table(), 9);
  std::vector<double> sum(problem.parameters.size());
  for (int j = 0; j < definition.blocks(); ++j) {
    const auto [start, theta] =
        definition.pull(at.theta, j, definition.state(at.states, j), std::vector<double>(definition.numbers()));
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += theta[k];
  }
  EXPECT_LT(relative_error(objective.at(at).theta, sum), 1e-14);
}

TEST(BlockObjective, ShardsAndTheirSizesChangeNothing) {
  for (const std::string engine : {"reference", "cpu"}) {
    const Problem problem = block_problem("gru", 11, 3);  // six blocks, the last one of one step
    const double bound = engine == "cpu" ? 1e-5 : 1e-13;
    Objective whole(problem, 2, 0.7, engine);
    const Variables at = random_variables(problem, 7 * 3 * 3, 3);
    const Objective::Gradients wanted = whole.at(at);
    for (const int shard : {1, 2, 4, 5}) {
      Objective sharded(problem, 2, 0.7, engine, shard);
      const Objective::Gradients found = sharded.at(at);
      EXPECT_LT(relative_error(found.theta, wanted.theta), bound) << engine << shard;
      EXPECT_LT(relative_error(found.states, wanted.states), bound) << engine << shard;
      EXPECT_LT(relative_error(found.residuals, wanted.residuals), bound) << engine << shard;
      EXPECT_NEAR(found.loss, wanted.loss, 30 * bound) << engine << shard;
    }
  }
}

std::vector<double> sum_of(std::vector<double> a, const std::vector<double>& b) {
  for (std::size_t k = 0; k < a.size(); ++k) a[k] += b[k];
  return a;
}

/// Two owners of neighbouring blocks, who know the state at their border, sum to the whole: what both add to its row of
/// dL/dH is all that they exchange.
TEST(BlockObjective, OwnersOfRangesSumToTheWhole) {
  const Problem problem = block_problem("lstm", 11, 2);  // six blocks
  Objective objective(problem, 2, 0.7);
  const Variables at = random_variables(problem, 7 * 2 * 6, 3);
  const Objective::Gradients wanted = objective.at(at);
  for (const int border : {1, 3, 5}) {
    objective.blocks().begin(problem.window, {0, border});
    const Objective::Gradients before = objective.at(at);
    objective.blocks().begin(problem.window, {border, 6});
    const Objective::Gradients after = objective.at(at);
    EXPECT_LT(relative_error(sum_of(before.theta, after.theta), wanted.theta), 1e-13);
    EXPECT_LT(relative_error(sum_of(before.states, after.states), wanted.states), 1e-13);
    EXPECT_NEAR(before.loss + after.loss, wanted.loss, 1e-12);
    const std::size_t row = border * 2 * 6;
    for (std::size_t k = 0; k < wanted.states.size(); ++k) {
      EXPECT_TRUE(k >= row || after.states[k] == 0) << k;
      EXPECT_TRUE(k < row + 2 * 6 || before.states[k] == 0) << k;
    }
  }
}

/// Oracle 13: blocks are independent given H and U. One after the other in any order, with the springs between them,
/// they sum to what all of them give at once.
TEST(BlockObjective, TheOrderOfBlocksChangesNothing) {
  for (const std::string engine : {"reference", "cpu"})
    for (const char* cell : {"gru", "lstm"}) {
      const Problem problem = block_problem(cell, 11, 2);  // six blocks, the last one of one step
      const double bound = engine == "cpu" ? 2e-5 : 1e-13;
      Objective objective(problem, 2, 0.7, engine);
      const std::size_t row = 2 * problem.model->state_size();
      const Variables at = random_variables(problem, 7 * row, 3);
      const Objective::Gradients wanted = objective.at(at);
      EXPECT_GT(wanted.springs, 0.1);
      EXPECT_GT(relative_error(wanted.theta, Objective(problem, 2, 0, engine).at(at).theta), 0.1) << "springs matter";
      for (const std::vector<int>& order :
           {std::vector<int>{0, 1, 2, 3, 4, 5}, {5, 4, 3, 2, 1, 0}, {3, 0, 5, 1, 4, 2}}) {
        Objective::Gradients sum{.theta = std::vector<double>(wanted.theta.size()),
                                 .states = std::vector<double>(wanted.states.size()),
                                 .residuals = std::vector<double>(wanted.residuals.size())};
        for (const int block : order) {
          objective.blocks().begin(problem.window, {block, block + 1});
          const Objective::Gradients one = objective.at(at);
          sum = {sum.loss + one.loss, sum.springs + one.springs, sum_of(sum.theta, one.theta),
                 sum_of(sum.states, one.states), sum_of(sum.residuals, one.residuals)};
        }
        EXPECT_LT(relative_error(sum.theta, wanted.theta), bound) << engine;
        EXPECT_LT(relative_error(sum.states, wanted.states), bound) << engine;
        EXPECT_LT(relative_error(sum.residuals, wanted.residuals), bound) << engine;
        EXPECT_NEAR(sum.loss / wanted.loss, 1, bound) << engine;
        EXPECT_NEAR(sum.springs / wanted.springs, 1, bound) << engine;
      }
      objective.blocks().begin(problem.window);
    }
}

/// The rows of a stretch, turned round with their free states and duals: chains with springs change places.
TEST(BlockObjective, TheOrderOfChainsChangesNothing) {
  constexpr std::size_t rows = 3, numbers = 3, tables = 4;  // three blocks
  Problem problem = block_problem("rnn_tanh", 6, rows);
  const Variables at = random_variables(problem, tables * rows * numbers, 3);
  const Objective::Gradients wanted = Objective(problem, 2, 0.7).at(at);
  EXPECT_GT(wanted.springs, 0.1);
  const auto turned = [&](const std::vector<double>& table) {
    std::vector<double> result(table.size());
    for (std::size_t j = 0; j < tables; ++j)
      for (std::size_t row = 0; row < rows; ++row)
        for (std::size_t k = 0; k < numbers; ++k)
          result[(j * rows + row) * numbers + k] = table[(j * rows + rows - 1 - row) * numbers + k];
    return result;
  };
  Window& window = problem.window;
  std::reverse(window.start.begin(), window.start.end());
  std::reverse(window.source.begin(), window.source.end());
  for (int step = 0; step < window.steps; ++step)
    std::reverse(window.weight.begin() + rows * step, window.weight.begin() + rows * (step + 1));
  const Objective::Gradients found = Objective(problem, 2, 0.7).at({at.theta, turned(at.states), turned(at.duals)});
  EXPECT_LT(relative_error(found.theta, wanted.theta), 1e-13);
  EXPECT_LT(relative_error(found.states, turned(wanted.states)), 1e-13);
  EXPECT_LT(relative_error(found.residuals, turned(wanted.residuals)), 1e-13);
}

TEST(BlockObjective, TheFastEngineAgreesOnEveryCellAndHead) {
  for (const std::string& cell : cell_names())
    for (const std::string& head : head_names()) {
      SCOPED_TRACE(cell + " " + head);
      const Problem problem = random_problem({.model = with_head(stack_of(cell, {5, 4}, 2), head, 3),
                                              .steps = 7,
                                              .batch = 2,
                                              .zero_weights = 0.2,
                                              .resets = 0.1,
                                              .ragged = false});
      Objective slow(problem, 3, 0.7), fast(problem, 3, 0.7, "cpu");
      const Variables at = random_variables(problem, 4 * 2 * problem.model->state_size(), 3);
      const Objective::Gradients wanted = slow.at(at), found = fast.at(at);
      EXPECT_LT(relative_error(found.theta, wanted.theta), 2e-5);
      EXPECT_LT(relative_error(found.states, wanted.states), 2e-5);
      Definition definition(problem, 3, 0.7);
      EXPECT_NEAR(slow.value(at), definition.value(at), 1e-11);
    }
}

TEST(BlockObjective, TargetsOfRowsAndStepsGoWithTheirBlocks) {
  for (const TargetLayout layout : {TargetLayout::per_row, TargetLayout::per_step})
    for (const bool soft : {false, true}) {
      const Problem problem = random_problem({.model = with_head(stack_of("gru", {3}, 2), "softmax", 4),
                                              .steps = 7,
                                              .batch = 2,
                                              .targets = layout,
                                              .soft = soft});
      Definition definition(problem, 3, 0.7);
      Objective objective(problem, 3, 0.7);
      const Variables at = random_variables(problem, definition.table(), 4);
      EXPECT_NEAR(objective.value(at), definition.value(at), 1e-12);
    }
}

/// Block j of a row reads steps jB ... jB + B - 1 of the text, and its targets are the inputs one step later, also
/// across the border to the next block.
TEST(Blocks, AreConsecutivePartsOfTheText) {
  std::vector<std::int32_t> text(21);
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<std::int32_t>(i);
  Source source;
  source.steps = 20;
  source.tokens = std::span<const std::int32_t>(text).first(20);
  source.labels = std::span<const std::int32_t>(text).last(20);
  Window stretch;
  stretch.steps = 7;
  stretch.batch = 2;
  stretch.sources = {&source, 1};
  stretch.start = {3, 13};  // the second row ends where the text does
  stretch.weight.assign(14, 1.0f);
  Blocks blocks({.steps = 9, .batch = 2}, 3, 0, false);
  blocks.begin(stretch);
  ASSERT_EQ(blocks.range().count(), 3);
  const BlockShard& shard = blocks.shard(0);
  validate(shard.window);
  ASSERT_EQ(shard.window.batch, 6);
  EXPECT_EQ(shard.window.start,
            (std::vector<std::int64_t>{3, 13, 6, 16, 7, 17}));  // the short blocks begin with two held steps
  EXPECT_EQ(shard.entry, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(shard.exit, (std::vector<std::int64_t>{2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(shard.loose, (std::vector<std::int64_t>{4, 5}));
  int losses = 0;
  for (int row = 0; row < 6; ++row)
    for (int step = 0; step < 3; ++step) {
      const bool held = row >= 4 && step < 2;
      EXPECT_EQ(shard.window.holds_at(step, row), held);
      EXPECT_EQ(shard.window.weight_at(step, row), held ? 0.0f : 1.0f);
      losses += !held;
      const std::int64_t at = shard.window.start[row] + step;
      EXPECT_EQ(source.labels[at], at + 1);
    }
  EXPECT_EQ(losses, 14);
}

/// A sequence that begins with a block owes nothing to the block before it.
TEST(Blocks, HaveNoSpringAcrossAReset) {
  Problem problem = block_problem("gru", 6, 2);
  problem.window.flags.assign(12, StepFlag::go_on);
  problem.window.flags[2 * 2 + 1] = StepFlag::reset;  // row 1 before block 1
  problem.window.flags[5 * 2 + 0] = StepFlag::reset;  // inside a block
  Blocks blocks({.steps = 6, .batch = 2}, 2, 0, false);
  blocks.begin(problem.window);
  EXPECT_EQ(blocks.shard(0).loose, (std::vector<std::int64_t>{1, 4, 5}));
  Definition definition(problem, 2, 0.7);
  Objective objective(problem, 2, 0.7);
  const Variables at = random_variables(problem, definition.table(), 4);
  EXPECT_NEAR(objective.value(at), definition.value(at), 1e-12);
}

/// h and c of an LSTM are one state of 2 d numbers: what is put in as h_0 with one block of no steps' worth of change
/// comes out in the same places.
TEST(BlockObjective, TheStateOfAnLstmGoesThroughWithoutOverlap) {
  Problem problem = block_problem("lstm", 6, 2);
  problem.window.flags.assign(12, StepFlag::hold);  // asleep: E_j(h_j) = h_j
  problem.window.weight.assign(12, 0.0f);
  Objective objective(problem, 2, 1);
  Variables at = random_variables(problem, 4 * 2 * 6, 3);
  std::fill(at.duals.begin(), at.duals.end(), 0.0);
  const std::vector<double> residuals = objective.at(at).residuals;
  for (std::size_t k = 0; k < 24; ++k) EXPECT_EQ(residuals[k], at.states[k + 12] - at.states[k]) << k;
}

}  // namespace
}  // namespace throughtime::testing

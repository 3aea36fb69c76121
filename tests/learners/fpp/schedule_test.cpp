// When FPP updates what: variants, lambda, several updates per step.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "learners/fpp/schedule.h"
#include "learners/fpp/state_cells.h"
#include "learners/fpp/support.h"
#include "support/errors.h"
#include "support/numeric.h"
#include "throughtime/random.h"

namespace throughtime::testing {
namespace {

TEST(FppSchedule, DecaysByHalvesAtConstantCost) {
  const auto plans = [](int T) {
    FppConfig config;
    config.steps = T;
    config.variant = FppVariant::decay;
    config.phase_steps = 100;
    std::vector<std::pair<int, int>> found;
    for (int phase = 0; phase < 5; ++phase) {
      const FppPlan plan = FppSchedule(config).plan(phase * 100 + 99, 0);
      found.emplace_back(plan.steps, plan.updates);
    }
    return found;
  };
  using Plans = std::vector<std::pair<int, int>>;
  EXPECT_EQ(plans(8), (Plans{{8, 1}, {4, 2}, {2, 4}, {1, 8}, {1, 8}}));
  EXPECT_EQ(plans(10), (Plans{{10, 1}, {5, 2}, {2, 4}, {1, 8}, {1, 10}}));
}

TEST(FppSchedule, LowersTheChanceOfALongTrajectoryByAFifth) {
  FppConfig config;
  config.steps = 7;
  config.variant = FppVariant::random;
  config.phase_steps = 10;
  const FppSchedule schedule(config);
  for (int phase = 0; phase < 5; ++phase) {
    const double p = 1 - 0.2 * phase;
    EXPECT_DOUBLE_EQ(schedule.chance(phase), p);
    EXPECT_EQ(schedule.plan(phase * 10, p - 1e-9).steps, 7);
    EXPECT_EQ(schedule.plan(phase * 10, p - 1e-9).updates, 1);
    if (phase == 0) continue;
    EXPECT_EQ(schedule.plan(phase * 10, p + 1e-9).steps, 1);
    EXPECT_EQ(schedule.plan(phase * 10, p + 1e-9).updates, 7);
  }
  config.chance = FppChance::multiplicative;
  EXPECT_DOUBLE_EQ(FppSchedule(config).chance(2), 0.64);
}

TEST(FppSchedule, LambdaGrowsToItsBound) {
  FppConfig config;
  config.lambda = 0.5;
  EXPECT_EQ(FppSchedule(config).lambda(123456), 0.5);
  config.lambda_growth = 2;
  config.lambda_most = 3;
  EXPECT_DOUBLE_EQ(FppSchedule(config).lambda(2000), 2);
  EXPECT_DOUBLE_EQ(FppSchedule(config).lambda(9000), 3);
}

TEST(FppVariants, DoWhatTheirScheduleSays) {
  const Problem problem = stream_problem(50, 1);
  LearnerConfig config = fpp(4, 20);
  config.fpp.variant = FppVariant::decay;
  config.fpp.phase_steps = 10;
  Lesson lesson(problem, config, 50);
  lesson.learn(problem.window);
  std::map<int, int> lengths;
  for (const auto* record : trajectories(lesson)) ++lengths[record->window.steps];
  EXPECT_EQ(lengths, (std::map<int, int>{{4, 7}, {2, 20}, {1, 120}}));

  config.fpp.variant = FppVariant::random;
  Lesson random(problem, config, 50);
  random.learn(problem.window);
  int long_ones = 0, short_ones = 0;
  for (const auto* record : trajectories(random)) (record->window.steps == 4 ? long_ones : short_ones) += 1;
  EXPECT_EQ(short_ones % 4, 0);
  EXPECT_GT(short_ones, 20);
  EXPECT_GT(long_ones, 10);
}

TEST(FppUpdates, ManyPerStepSeeEachOtherOrNot) {
  const Problem problem = stream_problem(30, 1);
  std::map<FppOrder, std::vector<double>> results;
  for (const FppOrder order : {FppOrder::sequential, FppOrder::parallel}) {
    LearnerConfig config = fpp(2, 10, 0.1);
    config.fpp.updates = 4;
    config.fpp.order = order;
    Lesson lesson(problem, config, 30, 0.01);
    lesson.learn(problem.window);
    EXPECT_EQ(lesson.learner->updates(), 4 * 29);
    results[order] = lesson.parameters();
  }
  EXPECT_GT(relative_error(results[FppOrder::parallel], results[FppOrder::sequential]), 1e-6);
  EXPECT_LT(relative_error(results[FppOrder::parallel], results[FppOrder::sequential]), 0.1);

  // One update is one update in either order.
  std::map<FppOrder, std::vector<double>> single;
  for (const FppOrder order : {FppOrder::sequential, FppOrder::parallel}) {
    LearnerConfig config = fpp(2, 10, 0.1);
    config.fpp.order = order;
    Lesson lesson(problem, config, 30, 0.1);
    lesson.learn(problem.window);
    single[order] = lesson.parameters();
  }
  EXPECT_EQ(single[FppOrder::parallel], single[FppOrder::sequential]);
}

TEST(FppUpdates, ChangeStatesInTheLastOneAloneWhereTheReleasedCodeDid) {
  const Problem problem = stream_problem(3, 1);
  std::map<FppWriteBack, int> moves;
  for (const FppWriteBack when : {FppWriteBack::each, FppWriteBack::last}) {
    LearnerConfig config = fpp(3, 3, 0.1);
    config.fpp.updates = 3;
    config.fpp.write_back = when;
    Lesson lesson(problem, config, 3);
    lesson.learn(problem.window);
    const auto drawn = trajectories(lesson);
    ASSERT_EQ(drawn.size(), 3u);
    moves[when] =
        (drawn[1]->initial_state != drawn[0]->initial_state) + (drawn[2]->initial_state != drawn[1]->initial_state);
  }
  EXPECT_EQ(moves[FppWriteBack::each], 2);
  EXPECT_EQ(moves[FppWriteBack::last], 0);
}

}  // namespace
}  // namespace throughtime::testing

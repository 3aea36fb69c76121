// What FPP keeps and draws: the buffer of transitions, its state cells, several streams.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>

#include "learners/fpp/state_cells.h"
#include "learners/fpp/support.h"
#include "support/errors.h"
#include "support/numeric.h"
#include "throughtime/index.h"
#include "throughtime/random.h"

namespace throughtime::testing {
namespace {

TEST(FppBuffer, DrawsEveryTrajectoryOfTheBufferEquallyOftenTheNewestIncluded) {
  constexpr int T = 3, N = 10;
  const Problem problem = stream_problem(1200, 1);
  Lesson lesson(problem, fpp(T, N), 1200);
  lesson.learn(problem.window);
  const auto drawn = trajectories(lesson);
  ASSERT_EQ(drawn.size(), 1200u - T + 1);  // as soon as T transitions are stored
  std::map<std::int64_t, int> ages;        // of the end, once the buffer is full
  for (std::size_t k = 0; k < drawn.size(); ++k) {
    const std::int64_t newest = static_cast<std::int64_t>(k) + T - 1, end = drawn[k]->window.start[0] + T - 1;
    EXPECT_LE(end, newest);
    EXPECT_GE(end - T + 1, std::max<std::int64_t>(0, newest - N + 1)) << "a step that was dropped";
    if (newest >= N - 1) ++ages[newest - end];
  }
  const int choices = N - T + 1, draws = std::accumulate(ages.begin(), ages.end(), 0,
                                                         [](int sum, const auto&age) { return sum + age.second; });
  double chi_square = 0;
  for (int age = 0; age < choices; ++age)
    chi_square += std::pow(ages[age] - draws / static_cast<double>(choices), 2) * choices / draws;
  EXPECT_EQ(ages.size(), elements(choices));
  EXPECT_LT(chi_square, 24.3);  // 7 degrees of freedom, p = 0.001
}

TEST(FppBuffer, LeavesTheNewestOutWhereAskedTo) {
  const Problem problem = stream_problem(40, 1);
  LearnerConfig config = fpp(2, 5);
  config.fpp.newest = false;
  Lesson lesson(problem, config, 40);
  lesson.learn(problem.window);
  const auto drawn = trajectories(lesson);
  ASSERT_EQ(drawn.size(), 38u);
  for (std::size_t k = 0; k < drawn.size(); ++k)
    EXPECT_LE(drawn[k]->window.start[0] + 1, static_cast<std::int64_t>(k) + 1);
}

TEST(FppBuffer, ShowsTheInputsAndTargetsThatTheStreamHad) {
  const Problem problem = stream_problem(30, 2, "lstm");
  Lesson lesson(problem, fpp(4, 7), 30);
  // A recorded window points into the buffer, which moves on: look at each one right away.
  for (int step = 0; step < 30; ++step) {
    Window one;
    slice(problem.window, step, 1, one);
    lesson.learn(one);
    const auto drawn = trajectories(lesson);
    if (step < 3) continue;
    ASSERT_FALSE(drawn.empty());
    const Window& window = drawn.back()->window;
    for (int row = 0; row < 2; ++row) {
      const Source& ours = window.sources[row];
      const std::size_t source = problem.window.source.empty() ? 0 : problem.window.source[row];
      const Source& theirs = problem.sources[source];
      for (int l = 0; l < 4; ++l) {
        const std::size_t at = window.start[row] + l - ours.first;
        const std::size_t from = problem.window.start[row] + window.start[row] + l;
        EXPECT_EQ(ours.values[at * 2], theirs.values[from * 2]);
        EXPECT_EQ(ours.values[at * 2 + 1], theirs.values[from * 2 + 1]);
        EXPECT_EQ(ours.labels[at], theirs.labels[from]);
      }
      EXPECT_EQ(window.weight_at(0, row), 0.0f);
      EXPECT_NE(window.weight_at(3, row), 0.0f);
    }
  }
}

TEST(FppBuffer, StartsATrajectoryFromTheCellThatTheTransitionBeforeItEndsIn) {
  const Problem problem = stream_problem(6, 1, "lstm");
  LearnerConfig config = fpp(2, 5, 0.5);
  config.fpp.fixed = true;
  Lesson lesson(problem, config, 6);
  Window stretch;
  slice(problem.window, 0, 5, stretch);
  lesson.learn(stretch);
  const std::size_t S = elements(problem.model->state_size());
  int changed = 0;
  for (int k = 0; k < 50; ++k) {
    const std::vector<double> before = kept(lesson)["cells.states"];
    Window one;
    slice(problem.window, 5, 1, one);
    lesson.learn(one);
    const auto* drawn = trajectories(lesson).back();
    const std::int64_t first = drawn->window.start[0];
    const std::size_t cell = first == 0 ? 6 : first - 1;  // of the second ring: the start
    const std::size_t end = first + 1;
    EXPECT_EQ(drawn->initial_state, std::vector<double>(before.begin() + cell * S, before.begin() + (cell + 1) * S));
    const std::vector<double> after = kept(lesson)["cells.states"];
    for (std::size_t i = 0; i < before.size(); ++i) {
      const bool touched = i / S == cell || i / S == end;
      if (!touched) {
        EXPECT_EQ(before[i], after[i]) << "cell " << i / S;
      }
      changed += touched && before[i] != after[i];
    }
  }
  EXPECT_GT(changed, 500);
}

TEST(FppBuffer, FeedsTheNextStepFromTheUpdatedCellOrFromARunningState) {
  for (const FppFeed feed : {FppFeed::buffer, FppFeed::running}) {
    const Problem problem = stream_problem(30, 1);
    LearnerConfig config = fpp(1, 3, 0.5);
    config.fpp.feed = feed;
    config.fpp.updates = 4;  // one alone finds the newest state where its own weights have just put it
    Lesson lesson(problem, config, 30, 0.1);
    int moved = 0;
    std::vector<double> running;
    for (int step = 0; step < 30; ++step) {
      const std::vector<double> table = kept(lesson)["cells.states"];
      const std::size_t records = lesson.engine.unrolls.size();
      Window one;
      slice(problem.window, step, 1, one);
      lesson.learn(one);
      const std::vector<double>& used = lesson.engine.unrolls[records].initial_state;
      if (step > 0) {
        const int cell = (step - 1) % 4;
        const std::vector<double> stored(table.begin() + cell * 3, table.begin() + (cell + 1) * 3);
        EXPECT_EQ(used, feed == FppFeed::buffer ? stored : running);
        moved += stored != running;
      }
      running = kept(lesson)["state"];
    }
    EXPECT_GT(moved, 5) << "no update ever touched the newest state";
  }
}

TEST(FppBuffer, NoTrajectoryCrossesAReset) {
  constexpr int T = 3;
  Problem problem = stream_problem(200, 3);
  problem.window.flags.assign(600, StepFlag::go_on);
  const Random random(3, Purpose::task);
  for (std::size_t i = 3; i < 600; ++i)
    problem.window.flags[i] = random.uniform(0, 0, i) < 0.2 ? StepFlag::reset : StepFlag::go_on;
  Lesson lesson(problem, fpp(T, 20), 200);
  lesson.learn(problem.window);
  const auto drawn = trajectories(lesson);
  EXPECT_GT(drawn.size(), 150u);
  int from_start = 0;
  for (const auto* record : drawn) {
    int active = 0;
    for (int row = 0; row < 3; ++row) {
      if (record->window.weight_at(T - 1, row) == 0) continue;
      ++active;
      const std::int64_t first = record->window.start[row];
      for (int l = 1; l < T; ++l) EXPECT_FALSE(problem.window.resets_at(static_cast<int>(first) + l, row));
      from_start += problem.window.resets_at(static_cast<int>(first), row);
    }
    EXPECT_GT(active, 0);
  }
  EXPECT_GT(from_start, 20);  // a sequence's own start is a good one
}

TEST(FppBuffer, EndsOnlyWhereThereIsATargetUnlessToldOtherwise) {
  Problem problem = stream_problem(120, 1);
  for (int step = 0; step < 120; ++step) problem.window.weight[step] = step % 6 == 5 ? 1.0f : 0.0f;
  for (const FppEnds ends : {FppEnds::weighted, FppEnds::all}) {
    LearnerConfig config = fpp(2, 24);
    config.fpp.ends = ends;
    Lesson lesson(problem, config, 120);
    lesson.learn(problem.window);
    int elsewhere = 0;
    for (const auto* record : trajectories(lesson)) elsewhere += (record->window.start[0] + 1) % 6 != 5;
    EXPECT_EQ(elsewhere > 0, ends == FppEnds::all);
    EXPECT_GT(trajectories(lesson).size(), 100u);
  }
}

TEST(FppStreams, AreIndependentWhereTheWeightsStay) {
  Problem many = stream_problem(40, 3, "lstm");
  Lesson all(many, fpp(3, 10, 0.3), 40);
  all.learn(many.window);
  const std::vector<double> table = kept(all)["cells.states"];
  const std::size_t S = elements(many.model->state_size());
  for (std::size_t row = 0; row < 3; ++row) {
    Problem one = stream_problem(40, 3, "lstm");
    Window& window = one.window;
    std::vector<float> weight;
    for (int step = 0; step < 40; ++step) weight.push_back(window.weight_at(step, static_cast<int>(row)));
    window.batch = 1;
    window.weight = weight;
    window.start = {window.start[row]};
    if (!window.source.empty()) window.source = {window.source[row]};
    window.flags.clear();
    Lesson alone(one, fpp(3, 10, 0.3), 40);
    alone.learn(window);
    const std::vector<double> single = kept(alone)["cells.states"];
    for (std::size_t cell = 0; cell < 11; ++cell)
      for (std::size_t k = 0; k < S; ++k) EXPECT_EQ(single[cell * S + k], table[(cell * 3 + row) * S + k]);
  }
}

}  // namespace
}  // namespace throughtime::testing

// The loop of FPP, and the sliding T-BPTT baseline.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "learners/fpp/state_cells.h"
#include "learners/fpp/support.h"
#include "support/errors.h"
#include "support/numeric.h"
#include "throughtime/random.h"

namespace throughtime::testing {
namespace {

TEST(FppOnline, RecordsTheLossBeforeTheUpdate) {
  const Problem problem = stream_problem(1, 2);
  EngineRun untouched(problem);
  const Unrolled wanted = untouched.unroll();
  Lesson lesson(problem, fpp(1, 5), 1, 0.5);  // T = 1: the first step is learned from at once
  lesson.learn(problem.window);
  EXPECT_EQ(lesson.learner->updates(), 1);
  const double weights = problem.window.weight[0] + problem.window.weight[1];
  EXPECT_DOUBLE_EQ(lesson.learner->take_mean_loss(), wanted.loss_sum / weights);
}

TEST(FppOnline, TheSameSeedGivesTheSameBitsAndAnotherOneOtherDraws) {
  const Problem problem = stream_problem(60, 2, "lstm");
  const auto run = [&](std::uint64_t seed, const std::string& name) {
    const auto engine = make_engine(*problem.model, {.name = name, .threads = 1, .communicator = nullptr});
    Trainee trainee = make_trainee(*engine, problem.parameters, Lesson::sgd(), {});
    const auto learner = make_learner(fpp(3, 20), trainee, {.steps = 60, .batch = 2, .seed = seed});
    learner->learn(problem.window, [](std::int64_t) { return 0.1; });
    return engine->read(trainee.parameters);
  };
  EXPECT_EQ(run(1, "cpu"), run(1, "cpu"));
  EXPECT_NE(run(1, "cpu"), run(2, "cpu"));
  EXPECT_LT(relative_error(run(1, "cpu"), run(1, "reference")), 1e-4);
}

TEST(FppOnline, AStretchMayBeCutAnywhere) {
  const Problem problem = stream_problem(30, 2, "gru");
  Lesson whole(problem, fpp(3, 10), 30, 0.1), cut(problem, fpp(3, 10), 30, 0.1);
  whole.learn(problem.window);
  cut.learn_in_stretches(problem.window, {1, 7, 2, 20});
  EXPECT_EQ(whole.parameters(), cut.parameters());
}

TEST(FppFixedBuffer, LearnsFromItsFirstTransitionsAlone) {
  const Problem problem = stream_problem(60, 2);
  LearnerConfig config = fpp(2, 10);
  config.fpp.fixed = true;
  Lesson lesson(problem, config, 60, 0.2);
  lesson.learn(problem.window);
  const auto drawn = trajectories(lesson);
  EXPECT_EQ(drawn.size(), 51u);
  for (const auto* record : drawn) EXPECT_LE(record->window.start[0], 8);
  const double first = lesson.learner->diagnostics().front().value;
  for (int pass = 0; pass < 10; ++pass) lesson.learn(problem.window);
  EXPECT_EQ(lesson.learner->diagnostics().front().name, "buffer_loss");
  EXPECT_LT(lesson.learner->diagnostics().front().value, first);
}

// ---------------------------------------------------------------- the baseline

TEST(SlidingTbptt, MovesLikeAHandWrittenOne) {
  constexpr int T = 3, steps = 12;
  constexpr double rate = 0.3;
  const Problem problem = stream_problem(steps, 1);
  for (const std::string& start : {std::string("stored"), std::string("shifted")}) {
    LearnerConfig config;
    config.name = "sliding_tbptt";
    config.fpp.steps = T;
    config.fpp.start = start;
    Lesson lesson(problem, config, steps, rate);
    lesson.learn(problem.window);

    std::vector<double> parameters = problem.parameters;
    std::vector<std::vector<double>> stored = {std::vector<double>(3, 0.0)};
    std::vector<double> last;
    for (int t = 0; t < steps; ++t) {
      EngineRun run(problem);
      run.set_parameters(parameters);
      Window one, window;
      slice(problem.window, t, 1, one);
      run.set_window(one);
      stored.push_back(run.unroll(stored.back()).final_state);
      if (t + 1 < T) continue;
      slice(problem.window, t + 1 - T, T, window);
      std::fill(window.weight.begin(), window.weight.end() - 1, 0.0f);
      run.set_window(window);
      const bool shifted = start == "shifted" && !last.empty();
      last = run.unroll(shifted ? last : stored[static_cast<std::size_t>(t + 1 - T)]).final_state;
      const std::vector<double> gradient = run.pull_back().gradient;
      for (std::size_t k = 0; k < parameters.size(); ++k) parameters[k] -= rate * gradient[k];
    }
    EXPECT_LT(relative_error(lesson.parameters(), parameters), 1e-12) << start;
  }
}

TEST(SlidingTbptt, DiffersFromFreshStatesOnlyByTheWeightsThatMadeThem) {
  Problem problem = stream_problem(20, 1);
  std::fill(problem.window.weight.begin(), problem.window.weight.end(), 1.0f);
  LearnerConfig stored, fresh;
  stored.name = "sliding_tbptt";
  stored.fpp.steps = 4;
  fresh.name = "tbptt";
  fresh.steps = 4;
  fresh.losses = fresh.stride = 1;
  const auto difference = [&](double rate) {
    Lesson a(problem, stored, 20, rate), b(problem, fresh, 20, rate);
    a.learn(problem.window);
    b.learn(problem.window);
    return relative_error(a.engine.updates.back().gradient, b.engine.updates.back().gradient);
  };
  EXPECT_LT(difference(0), 1e-12);
  EXPECT_GT(difference(0.3), 1e-4);
}

// ---------------------------------------------------------------- refusals

TEST(FppConfig, RefusesWhatCannotWork) {
  const Problem problem = stream_problem(10, 1);
  const auto made = [&](const LearnerConfig& config) { Lesson(problem, config, 10); };
  EXPECT_REFUSED(made(fpp(0, 10)), "[fpp] fpp_steps (T) must be between 1 and the buffer's transitions (10), got 0");
  EXPECT_REFUSED(made(fpp(11, 10)), "between 1 and the buffer's transitions (10), got 11");
  LearnerConfig config = fpp(2, 10);
  config.fpp.lambda = -1;
  EXPECT_REFUSED(made(config), "[fpp] lambda must be 0 or positive, got -1");
  config = fpp(2, 10);
  config.fpp.variant = "decay";
  EXPECT_REFUSED(made(config), "needs phase_steps");
  config = fpp(2, 10);
  config.fpp.batch = "blocks";
  config.fpp.state_optimizer = "rmsprop";
  EXPECT_REFUSED(made(config), "collisions = overwrite");
  config = fpp(2, 10);
  config.fpp.penalise = "weigths";
  EXPECT_REFUSED(made(config), "weights");
  config = fpp(2, 10);
  config.fpp.start = "shifted";
  EXPECT_REFUSED(made(config), "sliding_tbptt");
}

}  // namespace
}  // namespace throughtime::testing

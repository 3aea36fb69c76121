// The loop of FPP, and the sliding T-BPTT baseline.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "learners/fpp/state_cells.h"
#include "learners/fpp/support.h"
#include "support/errors.h"
#include "support/numeric.h"
#include "throughtime/options.h"
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
    const auto learner = make_learner(fpp(3, 20).fpp, trainee, {.steps = 60, .batch = 2, .seed = seed});
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
  for (const SlidingStart start : {SlidingStart::stored, SlidingStart::shifted}) {
    LearnerConfig config;
    config.name = "sliding_tbptt";
    config.sliding_tbptt = {.steps = T, .start = start};
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
      const bool shifted = start == SlidingStart::shifted && !last.empty();
      last = run.unroll(shifted ? last : stored[t + 1 - T]).final_state;
      const std::vector<double> gradient = run.pull_back().gradient;
      for (std::size_t k = 0; k < parameters.size(); ++k) parameters[k] -= rate * gradient[k];
    }
    EXPECT_LT(relative_error(lesson.parameters(), parameters), 1e-12) << name_of(start);
  }
}

TEST(SlidingTbptt, DiffersFromFreshStatesOnlyByTheWeightsThatMadeThem) {
  Problem problem = stream_problem(20, 1);
  std::fill(problem.window.weight.begin(), problem.window.weight.end(), 1.0f);
  LearnerConfig stored, fresh;
  stored.name = "sliding_tbptt";
  stored.sliding_tbptt.steps = 4;
  fresh.name = "tbptt";
  fresh.tbptt = {.steps = 4, .losses = 1, .stride = 1};
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

/// A configuration is checked before anything is made of it.
TEST(FppConfig, RefusesWhatCannotWork) {
  const Problem problem = stream_problem(10, 1);
  const StretchShape shape{.steps = 10, .batch = 1};
  const auto checked = [&](const auto& config) { check_learner(config, *problem.model, shape); };
  EXPECT_REFUSED(checked(FppConfig{.buffer = 10}),
                 "[fpp] steps (T) must be between 1 and the buffer's transitions (10), got 0");
  EXPECT_REFUSED(checked(FppConfig{.steps = 11, .buffer = 10}), "between 1 and the buffer's transitions (10), got 11");
  EXPECT_REFUSED(checked(FppConfig{.steps = 2, .lambda = -1}), "[fpp] lambda must be 0 or positive, got -1");
  EXPECT_REFUSED(checked(FppConfig{.steps = 2, .variant = FppVariant::decay}), "the variant decay needs phase_steps");
  EXPECT_REFUSED(
      checked(FppConfig{.steps = 2, .state_optimizer = FppStateRule::rmsprop, .batch = FppBatch::blocks, .blocks = 2}),
      "collisions = overwrite");
  EXPECT_REFUSED(checked(FppConfig{.steps = 2, .batch = FppBatch::blocks, .blocks = 2, .sample = FppSample::newest}),
                 "sample = newest has no meaning");
  EXPECT_REFUSED(checked(SlidingTbpttConfig{}), "[sliding_tbptt] steps (T) must be between 1 and 1000000000, got 0");
  EXPECT_REFUSED(Lesson(problem, fpp(0, 10), 10), "[fpp] steps (T) must be between 1 and");
  EXPECT_NO_THROW(checked(fpp(2, 10).fpp));
}

TEST(FppConfig, ReadsItsChoicesByName) {
  FppConfig fpp;
  SlidingTbpttConfig sliding;
  OptionList list;
  describe(fpp, list);
  describe(sliding, list);
  const auto set = [&](const std::string& key, const std::string& value) {
    for (const Option& option : list.options())
      if (option.key == key) std::get<ChoiceField>(option.field).set({value});
  };
  EXPECT_REFUSED(set("penalise", "weigths"), "weights");
  EXPECT_REFUSED(set("start", "shited"), "shifted");
  set("penalise", "weights");
  set("start", "shifted");
  EXPECT_EQ(fpp.penalise, FppPenalise::weights);
  EXPECT_EQ(sliding.start, SlidingStart::shifted);
}

/// Where rows of an update are trajectories, ranks share those.
TEST(FppConfig, SaysWhatRanksShare) {
  const StretchShape shape{.steps = 10, .batch = 6};
  const SharedWork streams = shared_work(FppConfig{.steps = 2}, shape);
  EXPECT_EQ(streams.count, 6);
  EXPECT_EQ(streams.options, "train.batch");
  const SharedWork blocks = shared_work(FppConfig{.steps = 2, .batch = FppBatch::blocks, .blocks = 4}, shape);
  EXPECT_EQ(blocks.count, 4);
  EXPECT_EQ(blocks.options, "learner.fpp.blocks");
}

}  // namespace
}  // namespace throughtime::testing

// Options of FPTT beside its equations, what it tells, and what it refuses.
#include <gtest/gtest.h>

#include <cmath>

#include "learners/fptt/support.h"
#include "support/errors.h"
#include "support/numeric.h"

namespace throughtime::testing {
namespace {

TEST(FpttOptions, EndOfEpochMovesToTheAverageAndGrowsAlpha) {
  LearnerConfig config = fptt(1);
  config.take_average = true;
  config.reset_multiplier = true;
  Parabolas run("reference", {2.0f}, config);
  for (int i = 0; i < 3; ++i) run.learn(0.1);
  run.learner().end_epoch();
  EXPECT_NEAR(run.w(), 3.94325, 1e-12);  // W-bar of the golden trace
}

TEST(FpttOptions, InnerIterationsRepeatTheStepOfWAlone) {
  // Two steps at lambda = 0, W-bar = 5: W = 4.7, then G = 2.7 + alpha (4.7 - 5).
  LearnerConfig config = fptt(1);
  config.inner_iterations = 2;
  Parabolas run("reference", {2.0f}, config);
  run.learn(0.1);
  EXPECT_NEAR(run.w(), 4.7 - 0.1 * (2.7 + 0.5 * -0.3), 1e-12);
}

TEST(FpttOptions, InnerIterationsStartAtTheWindowsFirstStateOrGoOnFromItsLast) {
  const Problem problem = random_problem({.model = stack_of("lstm", {4}), .steps = 6, .batch = 2});
  for (const std::string inner_state : {"restart", "continue"}) {
    RecordingEngine engine(*problem.model);
    Trainee trainee = make_trainee(engine, problem.parameters, optimizer("sgd"), {});
    LearnerConfig config = fptt(2);
    config.inner_iterations = 2;
    config.inner_state = inner_state;
    make_learner(config, trainee, {6, 2})->learn(problem.window, no_rate);  // the weights stay
    ASSERT_EQ(engine.unrolls.size(), 4u);
    Window first;
    slice(problem.window, 0, 3, first);
    EngineRun run(problem);
    run.set_window(first);
    const auto once = run.unroll().final_state, twice = run.unroll(once).final_state;
    const bool goes_on = inner_state == "continue";
    const std::vector<double> zeros(once.size(), 0.0);
    EXPECT_LT(distance(engine.unrolls[1].initial_state, goes_on ? once : zeros), 1e-12) << inner_state;
    EXPECT_LT(distance(engine.unrolls[2].initial_state, goes_on ? twice : once), 1e-12) << inner_state;
  }
}

TEST(FpttOptions, RerunCarriesTheStateOfTheNewWeights) {
  const Problem problem = random_problem({.model = stack_of("gru", {4}), .steps = 8, .batch = 2});
  Window first, second;
  slice(problem.window, 0, 4, first);
  slice(problem.window, 4, 4, second);
  for (const std::string carry : {"windows", "rerun"}) {
    RecordingEngine engine(*problem.model);
    Trainee trainee = make_trainee(engine, problem.parameters, optimizer("sgd"), {});
    LearnerConfig config = fptt(1);
    config.carry = carry;
    const auto learner = make_learner(config, trainee, {4, 2});
    learner->learn(first, constant(0.5));
    const auto new_weights = engine.Engine::read(trainee.parameters);
    learner->learn(second, constant(0.5));
    EngineRun run(problem);
    run.set_parameters(carry == "rerun" ? new_weights : problem.parameters);
    run.set_window(first);
    EXPECT_LT(distance(engine.unrolls[carry == "rerun" ? 2 : 1].initial_state, run.unroll().final_state), 1e-12)
        << carry;
  }
}

TEST(FpttOptions, BadOnesAreRefusedBeforeTraining) {
  const auto make = [](const LearnerConfig& config) { Parabolas run("reference", {2.0f, 2.0f}, config); };
  EXPECT_REFUSED(make(fptt(3)), "[fptt] windows must be between 1 and the sequence length (2), got 3");
  EXPECT_REFUSED(make(fptt(0)), "give either windows (K) or window_length");
  EXPECT_REFUSED(make(fptt(1, "lambda", 0)), "alpha must be positive");
  EXPECT_REFUSED(make(fptt(1, "lamda")), "did you mean 'lambda'");
  LearnerConfig config = fptt(1);
  config.averaging = 1.5;
  EXPECT_REFUSED(make(config), "averaging must be between 0 and 1");
  config = fptt(1, "ogd", 0);
  EXPECT_NO_THROW(make(config));
}

TEST(FpttOptions, LossesBeforeTheEndNeedTasksThatHaveThem) {
  const auto make = [](LearnerConfig config) { Parabolas run("reference", {2.0f, 2.0f}, config); };
  const auto with = [](auto change) {
    LearnerConfig config = fptt(1);
    change(config);
    return config;
  };
  EXPECT_REFUSED(make(with([](LearnerConfig& c) { c.intermediate = "always"; })), "intermediate");
  EXPECT_REFUSED(make(with([](LearnerConfig& c) { c.intermediate = "window_end"; })), "one target at the end");
  EXPECT_REFUSED(make(with([](LearnerConfig& c) { c.intermediate = "every_step"; })), "one target at the end");
  EXPECT_REFUSED(make(with([](LearnerConfig& c) { c.terminal.q = "examples"; })), "one target at the end");
  EXPECT_REFUSED(make(with([](LearnerConfig& c) { c.terminal.q = "wrong"; })), "known: auto, examples");
  EXPECT_REFUSED(make(with([](LearnerConfig& c) { c.terminal.skip_last = true; })), "one target at the end");
  EXPECT_REFUSED(make(with([](LearnerConfig& c) { c.name = "bptt", c.aux_losses = true; })), "[bptt] losses before");
  EXPECT_NO_THROW(make(with([](LearnerConfig& c) { c.intermediate = "none"; })));
}

TEST(FpttOptions, RatesAreScaledByWindowsAndLength) {
  const Problem problem = random_problem({.model = stack_of("rnn_tanh", {2}), .steps = 10, .batch = 1});
  LearnerConfig config = fptt(3);  // four windows, the remainder's included
  config.rate_by_windows = true;
  Lesson by_windows(problem, config, 20, 0.8);
  by_windows.learn(problem.window);
  EXPECT_EQ(by_windows.engine.updates.size(), 4u);
  for (const auto& update : by_windows.engine.updates) EXPECT_DOUBLE_EQ(update.rate, 0.8 / 8);
  config = fptt(3);
  config.rate_by_length = true;
  Lesson by_length(problem, config, 20, 0.8);
  by_length.learn(problem.window);
  for (const auto& update : by_length.engine.updates) EXPECT_DOUBLE_EQ(update.rate, 0.4);
}

TEST(FpttOptions, AlphaGrowsByEpochsUpToItsBound) {
  // With lambda = 0 and W-bar = W the first update ignores alpha; the second shows it.
  const auto second_step = [](double growth, double most, int epochs) {
    LearnerConfig config = fptt(1, "lambda", 0.1);
    config.alpha_growth = growth;
    config.alpha_most = most;
    Parabolas run("reference", {2.0f}, config);
    for (int i = 0; i < epochs; ++i) run.learner().end_epoch();
    run.learn(0.1);
    run.learn(0.1);
    return run.w();
  };
  EXPECT_EQ(second_step(2, 0, 2), second_step(4, 0, 1));
  EXPECT_EQ(second_step(2, 0.2, 5), second_step(2, 0, 1));
  EXPECT_NE(second_step(2, 0, 1), second_step(1, 0, 1));
}

TEST(FpttOptions, MasksChangeFromWindowToWindowUnlessLocked) {
  const Problem problem = random_problem({.model = stack_of("rnn_tanh", {2}), .steps = 6, .batch = 1});
  for (const std::string masks : {"window", "sequence"}) {
    LearnerConfig config = fptt(3);
    config.masks = masks;
    Lesson lesson(problem, config, 6);
    lesson.learn(problem.window);
    const auto key = [&](int window) {
      return lesson.engine.unrolls[static_cast<std::size_t>(window)].window.mask_key;
    };
    EXPECT_EQ(key(0) == key(1), masks == "sequence");
    EXPECT_EQ(key(1) == key(2), masks == "sequence");
  }
}

class FpttDiagnostics : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Engines, FpttDiagnostics, ::testing::Values("reference", "cpu"),
                         [](const auto& info) { return info.param; });

TEST_P(FpttDiagnostics, TellNormsOfTheLastUpdateInEveryForm) {
  // Two outputs share the gradient of w: norms are sqrt(2) times those of the golden traces' second row.
  struct Row {
    std::string form;
    double loss, regulariser, distance;
  };
  for (const Row& row :
       {Row{"lambda", 2.7, -0.15, 0.15}, Row{"gradient", 2.7, -1.425, 3.78375}, Row{"ogd", 2.7, 0, 0}}) {
    Parabolas run(GetParam(), {2.0f}, fptt(1, row.form));
    run.learn(0.1);
    run.learn(0.1);
    const std::vector<Diagnostic> told = run.learner().diagnostics();
    ASSERT_EQ(told.size(), row.form == "ogd" ? 1u : 4u);
    EXPECT_EQ(told[0].name, "loss_gradient_norm");
    EXPECT_NEAR(told[0].value, std::sqrt(2) * row.loss, 1e-5) << row.form;
    if (row.form == "ogd") continue;
    EXPECT_NEAR(told[1].value, std::sqrt(2) * std::abs(row.regulariser), 1e-5) << row.form;
    EXPECT_NEAR(told[2].value, told[1].value / told[0].value, 1e-9);
    EXPECT_EQ(told[3].name, "distance_to_average");
    EXPECT_NEAR(told[3].value, std::sqrt(2) * row.distance, 1e-5) << row.form;
  }
}

}  // namespace
}  // namespace throughtime::testing

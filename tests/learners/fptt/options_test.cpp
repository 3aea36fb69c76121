// Options of FPTT beside its equations, what it tells, and what it refuses.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "learners/fptt/support.h"
#include "support/errors.h"
#include "support/numeric.h"
#include "throughtime/options.h"

namespace throughtime::testing {
namespace {

TEST(FpttOptions, EndOfEpochMovesToTheAverageAndGrowsAlpha) {
  FpttConfig config = fptt(1);
  config.take_average = true;
  config.reset_multiplier = true;
  Parabolas run("reference", {2.0f}, config);
  for (int i = 0; i < 3; ++i) run.learn(0.1);
  run.learner().end_epoch();
  EXPECT_NEAR(run.w(), 3.94325, 1e-12);  // W-bar of the golden trace
}

class FpttEndOfEpoch : public FpttOnEngine {};
INSTANTIATE_TEST_SUITE_P(Engines, FpttEndOfEpoch, ::testing::Values("reference", "cpu"),
                         [](const auto& info) { return info.param; });

/// The golden traces of l = (w - 2)^2 / 2 with an epoch that ends after their third row: W in the rows after it, by
/// hand.
TEST_P(FpttEndOfEpoch, ResetsTheMultiplierAndNothingElse) {
  struct Trace {
    FpttForm form;
    bool reset, take_average;
    std::vector<double> w;
  };
  for (const Trace& trace : {
           // W = 4.22075, lambda = .314625, W-bar = 3.94325
           Trace{FpttForm::lambda, false, false, {4.0162625}},
           // G = 2.22075 - 0 + (4.22075 - 3.94325) / 2; lambda = -.020775, W-bar = W; G = 1.9848 + .020775
           Trace{FpttForm::lambda, true, false, {3.9848, 3.7842425}},
           // W = W-bar: G = 1.94325 - .314625
           Trace{FpttForm::lambda, false, true, {3.7803875}},
           // and without lambda a step of ogd: G = 1.94325
           Trace{FpttForm::lambda, true, true, {3.748925}},
           // W = 4.3833125, W-bar = .20271875; what is reset is g_before: G = 2.3833125 + (W - W-bar) / 2
           Trace{FpttForm::gradient, false, false, {4.1742828125}},
           Trace{FpttForm::gradient, true, false, {3.9359515625}},
           // with W = W-bar = .20271875 a step of ogd too: G = -1.79728125
           Trace{FpttForm::gradient, true, true, {0.382446875}},
           // ogd has neither: 2 + 3 * .9^4
           Trace{FpttForm::ogd, true, true, {3.9683}},
       }) {
    FpttConfig config = fptt(1, trace.form);
    config.reset_multiplier = trace.reset;
    config.take_average = trace.take_average;
    Parabolas run(GetParam(), {2.0f}, config);
    for (int i = 0; i < 3; ++i) run.learn(0.1);
    run.learner().end_epoch();
    for (const double wanted : trace.w) {
      run.learn(0.1);
      EXPECT_NEAR(run.w(), wanted, tolerance() * 5) << name_of(trace.form) << trace.reset << trace.take_average;
    }
  }
}

TEST(FpttOptions, InnerIterationsRepeatTheStepOfWAlone) {
  // Two steps at lambda = 0, W-bar = 5: W = 4.7, then G = 2.7 + alpha (4.7 - 5).
  FpttConfig config = fptt(1);
  config.inner_iterations = 2;
  Parabolas run("reference", {2.0f}, config);
  run.learn(0.1);
  EXPECT_NEAR(run.w(), 4.7 - 0.1 * (2.7 + 0.5 * -0.3), 1e-12);
}

TEST(FpttOptions, InnerIterationsStartAtTheWindowsFirstStateOrGoOnFromItsLast) {
  const Problem problem = random_problem({.model = stack_of("lstm", {4}), .steps = 6, .batch = 2});
  for (const InnerState inner_state : {InnerState::restart, InnerState::go_on}) {
    RecordingEngine engine(*problem.model);
    Trainee trainee = make_trainee(engine, problem.parameters, optimizer("sgd"), {});
    FpttConfig config = fptt(2);
    config.inner_iterations = 2;
    config.inner_state = inner_state;
    make_learner(config, trainee, {6, 2})->learn(problem.window, no_rate);  // the weights stay
    ASSERT_EQ(engine.unrolls.size(), 4u);
    Window first;
    slice(problem.window, 0, 3, first);
    EngineRun run(problem);
    run.set_window(first);
    const auto once = run.unroll().final_state, twice = run.unroll(once).final_state;
    const bool goes_on = inner_state == InnerState::go_on;
    const std::vector<double> zeros(once.size(), 0.0);
    EXPECT_LT(distance(engine.unrolls[1].initial_state, goes_on ? once : zeros), 1e-12) << name_of(inner_state);
    EXPECT_LT(distance(engine.unrolls[2].initial_state, goes_on ? twice : once), 1e-12) << name_of(inner_state);
  }
}

TEST(FpttOptions, RerunCarriesTheStateOfTheNewWeights) {
  const Problem problem = random_problem({.model = stack_of("gru", {4}), .steps = 8, .batch = 2});
  Window first, second;
  slice(problem.window, 0, 4, first);
  slice(problem.window, 4, 4, second);
  for (const FpttCarry carry : {FpttCarry::windows, FpttCarry::rerun}) {
    RecordingEngine engine(*problem.model);
    Trainee trainee = make_trainee(engine, problem.parameters, optimizer("sgd"), {});
    FpttConfig config = fptt(1);
    config.carry = carry;
    const auto learner = make_learner(config, trainee, {4, 2});
    learner->learn(first, constant(0.5));
    const auto new_weights = engine.Engine::read(trainee.parameters);
    learner->learn(second, constant(0.5));
    EngineRun run(problem);
    run.set_parameters(carry == FpttCarry::rerun ? new_weights : problem.parameters);
    run.set_window(first);
    EXPECT_LT(distance(engine.unrolls[carry == FpttCarry::rerun ? 2 : 1].initial_state, run.unroll().final_state),
              1e-12)
        << name_of(carry);
  }
}

TEST(FpttOptions, BadOnesAreRefusedBeforeTraining) {
  const auto make = [](const FpttConfig& config) { Parabolas run("reference", {2.0f, 2.0f}, config); };
  EXPECT_REFUSED(make(fptt(3)), "[fptt] windows must be between 1 and the sequence length (2), got 3");
  EXPECT_REFUSED(make(fptt(0)), "give either windows (K) or window_length");
  EXPECT_REFUSED(make(fptt(1, FpttForm::lambda, 0)), "alpha must be positive");
  EXPECT_REFUSED(choice_of<FpttForm>("lamda", "fptt", "form"), "did you mean 'lambda'");
  FpttConfig config = fptt(1);
  config.averaging = 1.5;
  EXPECT_REFUSED(make(config), "averaging must be between 0 and 1");
  config = fptt(1, FpttForm::ogd, 0);
  EXPECT_NO_THROW(make(config));
}

TEST(FpttOptions, LossesBeforeTheEndNeedTasksThatHaveThem) {
  const auto make = [](const TerminalConfig& terminal) {
    FpttConfig config = fptt(1);
    config.terminal = terminal;
    Parabolas run("reference", {2.0f, 2.0f}, config);
  };
  EXPECT_REFUSED(choice_of<IntermediateLoss>("always", "fptt", "intermediate"), "intermediate");
  EXPECT_REFUSED(make({.intermediate = IntermediateLoss::window_end}), "one target at the end");
  EXPECT_REFUSED(make({.intermediate = IntermediateLoss::every_step}), "one target at the end");
  EXPECT_REFUSED(make({.q = PriorKind::examples}), "one target at the end");
  EXPECT_REFUSED(choice_of<PriorKind>("wrong", "fptt", "q"), "known: auto, examples");
  EXPECT_REFUSED(make({.skip_last = true}), "one target at the end");
  EXPECT_REFUSED(Parabolas("reference", {2.0f, 2.0f}, BpttConfig{.aux_losses = true, .windows = 1}),
                 "[bptt] losses before");
  EXPECT_NO_THROW(make({.intermediate = IntermediateLoss::none}));
}

TEST(FpttOptions, AreCheckedWithoutAnEngine) {
  const Model model(with_head(stack_of("lstm", {4}), "regression", 2));
  const StretchShape shape{.steps = 8, .batch = 2};
  EXPECT_NO_THROW(check_learner(fptt(8), model, shape));
  EXPECT_REFUSED(check_learner(fptt(9), model, shape), "[fptt] windows must be between 1 and the sequence length (8)");
  EXPECT_REFUSED(check_learner(fptt(1), model, {.steps = 0, .batch = 2}), "at least 1 step");
  FpttConfig config = fptt(2);
  config.terminal.q = PriorKind::uniform;
  config.terminal.skip_last = true;
  EXPECT_REFUSED(check_learner(config, model, {.steps = 8, .batch = 2, .terminal = true}), "the head predicts numbers");
}

TEST(FpttOptions, AreDescribedByTheirNames) {
  FpttConfig config;
  OptionList list;
  describe(config, list);
  const auto find = [&](const std::string& name) { return std::ranges::find(list.options(), name, &Option::key); };
  for (const Option& option : list.options()) {
    EXPECT_EQ(std::ranges::count(list.options(), option.key, &Option::key), 1) << option.key;
    EXPECT_FALSE(option.help.empty()) << option.key;
  }
  ASSERT_NE(find("remainder"), list.options().end());
  EXPECT_EQ(find("remainder")->names, (std::vector<std::string>{"auto", "extra", "absorb", "spread"}));
  std::get<ChoiceField>(find("remainder")->field).set({"spread"});
  EXPECT_EQ(config.remainder, Remainder::spread);
  *std::get<int*>(find("windows")->field) = 7;
  EXPECT_EQ(config.windows, 7);
  std::get<ChoiceField>(find("beta")->field).set({"ref_index"});
  EXPECT_EQ(config.terminal.beta, TargetShare::ref_index);
}

TEST(FpttOptions, AStreamHasWindowsOfALength) {
  EXPECT_EQ(stream_needs(FpttConfig{.window_length = 6}).steps, 6);
  EXPECT_EQ(stream_needs(FpttConfig{.window_length = 6}).look_back, 0);
  EXPECT_REFUSED(stream_needs(fptt(3)), "[fptt] a stream has no length that windows (K) could divide");
}

TEST(FpttOptions, RatesAreScaledByWindowsAndLength) {
  const Problem problem = random_problem({.model = stack_of("rnn_tanh", {2}), .steps = 10, .batch = 1});
  FpttConfig config = fptt(3);  // four windows, the remainder's included
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
    FpttConfig config = fptt(1, FpttForm::lambda, 0.1);
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
  for (const MaskSpan masks : {MaskSpan::window, MaskSpan::sequence}) {
    FpttConfig config = fptt(3);
    config.masks = masks;
    Lesson lesson(problem, config, 6);
    lesson.learn(problem.window);
    const auto key = [&](int window) { return lesson.engine.unrolls[window].window.mask_key; };
    EXPECT_EQ(key(0) == key(1), masks == MaskSpan::sequence);
    EXPECT_EQ(key(1) == key(2), masks == MaskSpan::sequence);
  }
}

class FpttDiagnostics : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Engines, FpttDiagnostics, ::testing::Values("reference", "cpu"),
                         [](const auto& info) { return info.param; });

TEST_P(FpttDiagnostics, TellNormsOfTheLastUpdateInEveryForm) {
  // Two outputs share the gradient of w: norms are sqrt(2) times those of the golden traces' second row.
  struct Row {
    FpttForm form;
    double loss, regulariser, distance;
  };
  for (const Row& row : {Row{FpttForm::lambda, 2.7, -0.15, 0.15}, Row{FpttForm::gradient, 2.7, -1.425, 3.78375},
                         Row{FpttForm::ogd, 2.7, 0, 0}}) {
    Parabolas run(GetParam(), {2.0f}, fptt(1, row.form));
    run.learn(0.1);
    run.learn(0.1);
    const std::vector<Diagnostic> told = run.learner().diagnostics();
    ASSERT_EQ(told.size(), row.form == FpttForm::ogd ? 1u : 4u);
    EXPECT_EQ(told[0].name, "loss_gradient_norm");
    EXPECT_NEAR(told[0].value, std::sqrt(2) * row.loss, 1e-5) << name_of(row.form);
    if (row.form == FpttForm::ogd) continue;
    EXPECT_NEAR(told[1].value, std::sqrt(2) * std::abs(row.regulariser), 1e-5) << name_of(row.form);
    EXPECT_NEAR(told[2].value, told[1].value / told[0].value, 1e-9);
    EXPECT_EQ(told[3].name, "distance_to_average");
    EXPECT_NEAR(told[3].value, std::sqrt(2) * row.distance, 1e-5) << name_of(row.form);
  }
}

}  // namespace
}  // namespace throughtime::testing

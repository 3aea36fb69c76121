// Oracles O1-O12 of the FPTT paper's mathematics, on both engines.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "learners/recording_engine.h"
#include "support/errors.h"
#include "support/numeric.h"
#include "support/random_problem.h"
#include "throughtime/learner.h"

namespace throughtime::testing {
namespace {

const RateFunction no_rate = [](std::int64_t) { return 0.0; };
RateFunction constant(double rate) {
  return [rate](std::int64_t) { return rate; };
}

LearnerConfig fptt(int windows, const std::string& form = "lambda", double alpha = 0.5) {
  LearnerConfig config;
  config.name = "fptt";
  config.windows = windows;
  config.form = form;
  config.alpha = alpha;
  return config;
}

OptimizerConfig optimizer(const std::string& name) {
  OptimizerConfig config;
  config.name = name;
  return config;
}

/// A net whose only number with a gradient is the head's bias w, with the loss (w - c_t)^2 / 2 at step t: the input, all
/// other parameters and so the state are zero, and the mean over two outputs halves the square.
class Parabolas {
 public:
  Parabolas(const std::string& engine, std::vector<float> centres, const LearnerConfig& config, double start = 5)
      : model_(model()), values_(centres.size(), 0.0f) {
    for (const float centre : centres) targets_.insert(targets_.end(), 2, centre);
    source_ = {.steps = centres.size(), .reals = 1, .target_width = 2, .values = values_, .tokens = {}, .labels = {},
               .target_values = targets_};
    window_.steps = static_cast<int>(centres.size());
    window_.batch = 1;
    window_.sources = {&source_, 1};
    window_.start = {0};
    window_.weight.assign(centres.size(), 1.0f);
    engine_ = make_engine(model_, {.name = engine, .threads = 1, .communicator = nullptr});
    std::vector<double> parameters(model_.parameters().size(), 0.0);
    bias_ = model_.parameters().find("head.bias").offset;
    parameters[bias_] = parameters[bias_ + 1] = start;
    trainee_ = std::make_unique<Trainee>(make_trainee(*engine_, parameters, optimizer("sgd"), {}));
    learner_ = make_learner(config, *trainee_, {window_.steps, 1});
  }

  void learn(double rate) { learner_->learn(window_, constant(rate)); }
  double w() const { return engine_->read(trainee_->parameters)[bias_]; }
  Learner& learner() { return *learner_; }

 private:
  static ModelConfig model() { return with_head(stack_of("rnn_linear", {1}, 1), "regression", 2); }

  Model model_;
  std::vector<float> values_, targets_;
  Source source_;
  Window window_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Trainee> trainee_;
  std::unique_ptr<Learner> learner_;
  std::size_t bias_ = 0;
};

class FpttOnEngine : public ::testing::TestWithParam<std::string> {
 protected:
  double tolerance() const { return GetParam() == "reference" ? 1e-12 : 2e-6; }
};
INSTANTIATE_TEST_SUITE_P(Engines, FpttOnEngine, ::testing::Values("reference", "cpu"),
                         [](const auto& info) { return info.param; });

TEST_P(FpttOnEngine, FollowsTheGoldenTraceOfEachForm) {
  struct Trace {
    std::string form;
    double kappa;
    std::vector<double> w;
  };
  for (const Trace& trace : {Trace{"lambda", 1, {4.7, 4.445, 4.22075, 4.0162625}},
                             Trace{"gradient", 1, {4.7, 4.5725, 4.3833125, 4.1742828125}},
                             Trace{"gradient", 0.5, {4.7, 4.4375, 4.1365625, 3.8408984375}}}) {
    LearnerConfig config = fptt(1, trace.form);
    config.kappa = trace.kappa;
    Parabolas run(GetParam(), {2.0f}, config);
    for (const double wanted : trace.w) {
      run.learn(0.1);
      EXPECT_NEAR(run.w(), wanted, tolerance() * 5) << trace.form << " " << trace.kappa;
    }
  }
}

TEST_P(FpttOnEngine, WindowsOfOneSequenceAreTheSameTrace) {
  Parabolas run(GetParam(), {2.0f, 2.0f, 2.0f, 2.0f}, fptt(4));
  run.learn(0.1);
  EXPECT_NEAR(run.w(), 4.0162625, tolerance() * 5);
}

TEST_P(FpttOnEngine, AnExactArgminKeepsLambdaTheGradient) {
  // With the rate 1 / (a + alpha) one gradient step is the argmin, for a = 1.
  Parabolas run(GetParam(), {2.0f}, fptt(1, "lambda", 1.0));
  for (const double wanted : {7.0 / 2, 7.0 / 2, 25.0 / 8, 11.0 / 4, 79.0 / 32}) {
    run.learn(0.5);
    EXPECT_NEAR(run.w(), wanted, tolerance() * 5);
  }
}

TEST_P(FpttOnEngine, AnExactArgminConvergesAtThePredictedRate) {
  // Error ~ rate^n with the rate (1 + sqrt((1 - r) / (1 + r))) / 2, r = a / alpha <= 1.
  for (const double r : {0.1, 0.5}) {
    const double alpha = 1 / r, predicted = (1 + std::sqrt((1 - r) / (1 + r))) / 2;
    Parabolas run("reference", {2.0f}, fptt(1, "lambda", alpha));
    for (int i = 0; i < 60; ++i) run.learn(1 / (1 + alpha));
    const double before = run.w() - 2;
    run.learn(1 / (1 + alpha));
    EXPECT_NEAR((run.w() - 2) / before, predicted, 1e-6);
  }
}

TEST(FpttOracle, OverACycleOfLossesTheMeanOfWIsTheMeanOfTheirMinima) {
  // One window per learn(), the centres in turn: W itself goes round, its mean over a cycle does not depend on alpha.
  for (const double alpha : {0.5, 3.0}) {
    Model model(with_head(stack_of("rnn_linear", {1}, 1), "regression", 2));
    const auto engine = make_engine(model, EngineRun::reference());
    std::vector<double> parameters(model.parameters().size());
    const std::size_t bias = model.parameters().find("head.bias").offset;
    Trainee trainee = make_trainee(*engine, parameters, optimizer("sgd"), {});
    const auto learner = make_learner(fptt(1, "lambda", alpha), trainee, {1, 1});
    const std::vector<float> centres = {1.0f, -2.0f, 4.0f, 0.5f}, zero = {0.0f};
    double sum = 0;
    for (int i = 0; i < 4004; ++i) {
      const std::vector<float> target(2, centres[i % 4]);
      const Source source{.steps = 1, .reals = 1, .target_width = 2, .values = zero, .tokens = {}, .labels = {},
                          .target_values = target};
      Window window;
      window.steps = window.batch = 1;
      window.sources = {&source, 1};
      window.start = {0};
      window.weight = {1.0f};
      learner->learn(window, constant(1 / (1 + alpha)));
      if (i >= 4000) sum += engine->read(trainee.parameters)[bias];
    }
    EXPECT_NEAR(sum / 4, 0.875, 1e-9);
  }
}

// -------------------------------------------------------------------------------------------- the update itself

/// W, W-bar and lambda as bare vectors under apply_update.
class BareUpdate {
 public:
  BareUpdate(const std::string& engine_name, const std::string& rule, std::vector<double> start)
      : model_(with_head(stack_of("rnn_tanh", {2}), "regression", 1)),
        engine_(make_engine(model_, {.name = engine_name, .threads = 2, .communicator = nullptr})),
        weights(engine_->allocate(start.size())),
        gradient(engine_->allocate(start.size())),
        average(engine_->allocate(start.size())),
        multiplier(engine_->allocate(start.size())),
        diagnostics(engine_->allocate(3)),
        optimizer_(engine_->make_optimizer(optimizer(rule), weights)) {
    engine_->write(weights, start);
    engine_->write(average, start);
  }

  void step(const std::vector<double>& g, double rate, double alpha, double penalty = 1, double averaging = 0.5) {
    engine_->write(gradient, g);
    const DynamicRegulariser terms{average, multiplier, alpha, penalty, averaging, true, diagnostics};
    engine_->apply_update({.target = weights, .gradient = gradient, .optimizer = *optimizer_, .rate = rate,
                           .regulariser = &terms});
  }
  std::vector<double> read(Buffer buffer) const { return engine_->read(buffer); }
  Engine& engine() { return *engine_; }

 private:
  Model model_;
  std::unique_ptr<Engine> engine_;

 public:
  Buffer weights, gradient, average, multiplier, diagnostics;

 private:
  std::unique_ptr<OptimizerState> optimizer_;
};

TEST_P(FpttOnEngine, TheAverageIsTheIterateMinusHalfTheLastMultiplierOverAlpha) {
  // I1: W-bar' = W' - lambda / (2 alpha) for b = 1/2 and any optimizer, with the lambda before the update.
  constexpr std::size_t size = 40000;  // several blocks and a tail
  for (const std::string rule : {"sgd", "momentum", "adam"}) {
    BareUpdate run(GetParam(), rule, random_numbers(size, 1));
    std::vector<double> before(size);
    for (int i = 0; i < 5; ++i) {
      run.step(random_numbers(size, 10 + i), 0.05, 0.5);
      auto wanted = run.read(run.weights);
      for (std::size_t k = 0; k < size; ++k) wanted[k] -= before[k] / (2 * 0.5);
      EXPECT_LT(relative_error(run.read(run.average), wanted), GetParam() == "reference" ? 1e-12 : 1e-6) << rule;
      before = run.read(run.multiplier);
    }
  }
}

TEST_P(FpttOnEngine, AConstantGradientHasTheSteadyStepOfEachPenalty) {
  for (const auto& [penalty, step, lambda] : {std::array{1.0, 1 / 1.2, 1 / 3.0}, std::array{2.0, 1.0, 0.4}}) {
    BareUpdate run(GetParam(), "sgd", {0.0});
    double last = 0;
    for (int i = 0; i < 80; ++i) {
      last = run.read(run.weights)[0];
      run.step({1.0}, 0.4, 0.5, penalty);
    }
    EXPECT_NEAR((run.read(run.weights)[0] - last) / -0.4, step, 1e-4);
    EXPECT_NEAR(run.read(run.multiplier)[0], lambda, 1e-5);
  }
}

TEST_P(FpttOnEngine, IsStableUpToThePredictedProductOfRateAndAlpha) {
  for (const auto& [penalty, bound] : {std::pair{1.0, 5.0 / 3}, std::pair{2.0, 5.0 / 4}}) {
    const auto size_after = [&](double product) {
      BareUpdate run("reference", "sgd", {1.0});
      run.engine().write(run.average, std::vector<double>{0.3});
      run.engine().write(run.multiplier, std::vector<double>{0.7});
      for (int i = 0; i < 2000; ++i) run.step({0.0}, product, 1.0, penalty);
      return std::abs(run.read(run.multiplier)[0]);
    };
    EXPECT_LT(size_after(bound * 0.99), 1e-3);
    EXPECT_GT(size_after(bound * 1.01), 1e3);
  }
}

TEST_P(FpttOnEngine, TheRegularisersGradientIsThatOfItsLossTerm) {
  // -<W, lambda> + m alpha / 2 |W - W-bar|^2 at a gradient of zero; a rate of zero leaves W.
  constexpr std::size_t size = 7;
  BareUpdate run(GetParam(), "sgd", random_numbers(size, 1));
  const auto w = run.read(run.weights);
  run.engine().write(run.average, random_numbers(size, 2));
  run.engine().write(run.multiplier, random_numbers(size, 3));
  const auto average = run.read(run.average), lambda = run.read(run.multiplier);
  const auto term = [&](std::span<const double> at) {
    double sum = 0;
    for (std::size_t i = 0; i < size; ++i)
      sum += -at[i] * lambda[i] + 2 * 0.7 / 2 * (at[i] - average[i]) * (at[i] - average[i]);
    return sum;
  };
  run.step(std::vector<double>(size), 0, 0.7, 2);
  EXPECT_LT(relative_error(run.read(run.gradient), central_differences(term, w)), 1e-6);
  const auto norms = run.read(run.diagnostics);
  EXPECT_NEAR(norms[1], norm(run.read(run.gradient)), 1e-5);
  EXPECT_EQ(norms[0], 0);
}

TEST_P(FpttOnEngine, ClipsLossAndRegulariserTogether) {
  BareUpdate run(GetParam(), "sgd", {0.0, 0.0});
  run.engine().write(run.multiplier, std::vector<double>{-4.0, 0.0});
  run.engine().write(run.gradient, std::vector<double>{0.0, 3.0});
  const DynamicRegulariser terms{run.average, run.multiplier, 1.0};
  const auto state = run.engine().make_optimizer(optimizer("sgd"), run.weights);
  const Buffer norm_of = run.engine().allocate(1);
  run.engine().apply_update({.target = run.weights, .gradient = run.gradient, .optimizer = *state, .rate = 1,
                             .clip = {.value = 0, .norm = 1}, .norm = norm_of, .regulariser = &terms});
  EXPECT_NEAR(run.read(norm_of)[0], 5, 1e-6);
  EXPECT_NEAR(run.read(run.weights)[0], -0.8, 1e-6);
  EXPECT_NEAR(run.read(run.weights)[1], -0.6, 1e-6);
}

// -------------------------------------------------------------------------------------------- against other learners

/// Parameters after a number of stretches of one problem.
std::vector<double> train(const Problem& problem, const std::string& engine_name, const LearnerConfig& config, int stretches,
                          const std::string& rule = "sgd") {
  const auto engine = make_engine(*problem.model, {.name = engine_name, .threads = 2, .communicator = nullptr});
  Trainee trainee = make_trainee(*engine, problem.parameters, optimizer(rule), {.value = 0, .norm = 1});
  const auto learner = make_learner(config, trainee, {problem.window.steps, problem.window.batch});
  for (int i = 0; i < stretches; ++i) learner->learn(problem.window, constant(0.1));
  return engine->read(trainee.parameters);
}

TEST_P(FpttOnEngine, OneWindowWithoutRegulariserIsBpttBitForBit) {
  for (const std::string& cell : cell_names())
    for (const std::vector<int>& widths : {std::vector{6}, std::vector{5, 7}, std::vector{4, 3, 5}}) {
      const Problem problem = random_problem({.model = stack_of(cell, widths), .steps = 9, .batch = 11});
      EXPECT_EQ(train(problem, GetParam(), fptt(1, "ogd"), 3), train(problem, GetParam(), {}, 3)) << cell;
    }
}

TEST_P(FpttOnEngine, TheFirstUpdateEverIsThatOfOgd) {
  const Problem problem = random_problem({.model = stack_of("lstm", {6}), .steps = 8, .batch = 3});
  for (const std::string form : {"lambda", "gradient"})
    for (const double alpha : {0.01, 1.0, 50.0})
      EXPECT_LT(distance(train(problem, GetParam(), fptt(1, form, alpha), 1), train(problem, GetParam(), fptt(1, "ogd"), 1)),
                tolerance()) << form;
}

TEST_P(FpttOnEngine, LearnsOnEveryCellAndDepth) {
  for (const std::string& cell : cell_names()) {
    const Problem problem = random_problem({.model = stack_of(cell, {5, 4}), .steps = 10, .batch = 3, .resets = 0.1});
    for (const std::string form : {"lambda", "gradient", "ogd"}) {
      const auto after = train(problem, GetParam(), fptt(3, form), 4, "adam");
      EXPECT_GT(distance(after, problem.parameters), 1e-3) << cell << " " << form;
    }
  }
}

// -------------------------------------------------------------------------------------------- windows

TEST(FpttWindows, CoverTheSequenceOnceWithTheRemainderAsAsked) {
  struct Case {
    int steps, windows, length;
    std::string remainder;
    std::vector<int> lengths;
  };
  for (const Case& c : {Case{784, 10, 0, "extra", {78, 78, 78, 78, 78, 78, 78, 78, 78, 78, 4}},
                        Case{61, 6, 0, "extra", {10, 10, 10, 10, 10, 10, 1}}, Case{61, 6, 0, "absorb", {10, 10, 10, 10, 10, 11}},
                        Case{20, 20, 0, "extra", std::vector<int>(20, 1)}, Case{20, 1, 0, "extra", {20}},
                        Case{20, 0, 8, "extra", {8, 8, 4}}, Case{20, 0, 8, "absorb", {8, 12}}}) {
    const Problem problem = random_problem({.model = stack_of("rnn_tanh", {2}), .steps = c.steps, .batch = 2});
    RecordingEngine engine(*problem.model);
    Trainee trainee = make_trainee(engine, problem.parameters, optimizer("sgd"), {});
    LearnerConfig config = fptt(c.windows);
    config.window_length = c.length;
    config.remainder = c.remainder;
    const auto learner = make_learner(config, trainee, {c.steps, 2});
    learner->learn(problem.window, no_rate);
    std::vector<int> lengths;
    std::int64_t next = problem.window.start[0];
    for (const auto& record : engine.unrolls) {
      EXPECT_EQ(record.window.start[0], next);
      next += record.window.steps;
      lengths.push_back(record.window.steps);
    }
    EXPECT_EQ(lengths, c.lengths);
    EXPECT_EQ(learner->updates(), static_cast<std::int64_t>(c.lengths.size()));
  }
}

TEST(FpttWindows, NoGradientCrossesABoundary) {
  // The second window's gradient is the derivative of its own loss with its first state held fixed.
  const Problem problem = random_problem({.model = stack_of("lstm", {3}), .steps = 6, .batch = 1});
  RecordingEngine engine(*problem.model);
  Trainee trainee = make_trainee(engine, problem.parameters, optimizer("sgd"), {});
  make_learner(fptt(2, "ogd"), trainee, {6, 1})->learn(problem.window, no_rate);
  ASSERT_EQ(engine.updates.size(), 2u);
  const auto& record = engine.unrolls[1];
  EngineRun run(problem);
  run.set_window(record.window);
  const double weights = std::accumulate(record.window.weight.begin(), record.window.weight.end(), 0.0);
  const auto loss = [&](std::span<const double> parameters) {
    run.set_parameters({parameters.begin(), parameters.end()});
    return run.unroll(record.initial_state).loss_sum / weights;
  };
  EXPECT_LT(relative_error(engine.updates[1].gradient, central_differences(loss, problem.parameters)), 1e-7);
}

// -------------------------------------------------------------------------------------------- terminal targets

Problem terminal_problem(const std::string& head, int outputs) {
  Problem problem = random_problem({.model = with_head(stack_of("lstm", {4}), head, outputs), .steps = 10, .batch = 3,
                                    .targets = TargetLayout::per_row});
  std::fill(problem.window.weight.begin(), problem.window.weight.end() - 3, 0.0f);
  std::fill(problem.window.weight.end() - 3, problem.window.weight.end(), 1.0f);
  return problem;
}

std::vector<Window> windows_of(const Problem& problem, LearnerConfig config) {
  RecordingEngine engine(*problem.model);
  Trainee trainee = make_trainee(engine, problem.parameters, optimizer("sgd"), {});
  make_learner(config, trainee, {10, 3})->learn(problem.window, no_rate);
  std::vector<Window> windows;
  for (const auto& record : engine.unrolls) windows.push_back(record.window);
  return windows;
}

TEST(FpttTerminal, ANumberCountsWithTheShareOfTimeAtEachWindowsEnd) {
  const Problem problem = terminal_problem("regression", 2);
  const auto windows = windows_of(problem, fptt(5));
  ASSERT_EQ(windows.size(), 5u);
  for (int p = 0; p < 5; ++p) {
    EXPECT_EQ(windows[p].weight_at(0, 0), 0.0f);
    for (int row = 0; row < 3; ++row)
      EXPECT_FLOAT_EQ(windows[p].weight_at(1, row), static_cast<float>(p + 1) / 5);
  }
}

TEST(FpttTerminal, EveryStepSharesAWindowsLoss) {
  const Problem problem = terminal_problem("regression", 2);
  LearnerConfig config = fptt(5);
  config.intermediate = "every_step";
  const auto windows = windows_of(problem, config);
  EXPECT_FLOAT_EQ(windows[1].weight_at(0, 0), 0.5f * 0.3f);
  EXPECT_FLOAT_EQ(windows[1].weight_at(1, 0), 0.5f * 0.4f);
}

TEST(FpttTerminal, WithoutIntermediateLossesOnlyTheLastWindowUpdates) {
  const Problem problem = terminal_problem("regression", 2);
  RecordingEngine engine(*problem.model);
  Trainee trainee = make_trainee(engine, problem.parameters, optimizer("sgd"), {});
  LearnerConfig config = fptt(5);
  config.intermediate = "none";
  const auto learner = make_learner(config, trainee, {10, 3});
  learner->learn(problem.window, no_rate);
  EXPECT_EQ(learner->updates(), 1);
}

TEST(FpttTerminal, AClassIsMixedWithTheUniformDistribution) {
  // d(loss)/d(logits) = P - (beta onehot + (1 - beta) / C), and the last window is the plain cross-entropy.
  const Problem problem = terminal_problem("softmax", 4);
  RecordingEngine engine(*problem.model);
  Trainee trainee = make_trainee(engine, problem.parameters, optimizer("sgd"), {});
  make_learner(fptt(2), trainee, {10, 3})->learn(problem.window, no_rate);
  const auto& bias = problem.model->parameters().find("head.bias");
  for (int p = 0; p < 2; ++p) {
    Window window;
    slice(problem.window, p * 5, 5, window);
    std::copy_n(problem.window.weight.end() - 3, 3, window.weight.end() - 3);
    EngineRun run(problem);
    run.set_window(window);
    const auto predictions = run.unroll(engine.unrolls[p].initial_state).predictions;
    const double beta = (p + 1) / 2.0;
    for (int c = 0; c < 4; ++c) {
      double wanted = 0;
      for (int row = 0; row < 3; ++row) {
        const double onehot = problem.window.targets.labels[row] == c ? 1 : 0;
        wanted += (predictions[(4 * 3 + row) * 4 + c] - beta * onehot - (1 - beta) / 4) / 3;
      }
      EXPECT_NEAR(engine.updates[p].gradient[bias.offset + c], wanted, 1e-7);
    }
  }
}

// -------------------------------------------------------------------------------------------- options

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
    EXPECT_LT(distance(engine.unrolls[carry == "rerun" ? 2 : 1].initial_state, run.unroll().final_state), 1e-12) << carry;
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
  config = fptt(1);
  config.intermediate = "always";
  EXPECT_REFUSED(make(config), "intermediate");
}

}  // namespace
}  // namespace throughtime::testing

// window = adaptive: FPTT whose windows are as long as gradients reach.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "learners/fptt/terminal_support.h"
#include "learners/scalar_problem.h"
#include "throughtime/error.h"

namespace throughtime::testing {
namespace {

FpttConfig adaptive(int lags, int burn_in, double delta = 0.1, int shortest = 1, int longest = 100) {
  FpttConfig config{.remainder = Remainder::extra, .window = WindowRule::adaptive, .form = FpttForm::ogd};
  config.estimate.delta = delta;
  config.estimate.shortest = shortest;
  config.estimate.longest = longest;
  config.estimate.lags = lags;
  config.estimate.burn_in = burn_in;
  return config;
}

/// h' = w h + x: phi_k = |dL/dh| w^k exactly, so beta = w.
Problem chain(double w, int steps) {
  std::vector<float> inputs(static_cast<std::size_t>(steps)), targets(static_cast<std::size_t>(steps), 7.0f);
  std::iota(inputs.begin(), inputs.end(), 1.0f);
  return scalar_problem("rnn_linear", {.w = w}, std::move(inputs), targets);
}

/// The smallest K whose tail sum_{k > K} w^k is below delta times what is certain of the whole sum.
int smallest_truncation(double w, double delta, int longest) {
  double largest = 0;
  for (int k = 0; k < longest; ++k) {
    const double tail = std::pow(w, k + 1) / (1 - w), head = (1 - std::pow(w, k + 1)) / (1 - w);
    largest = std::max(largest, head - tail);
    if (k >= 1 && largest > 0 && tail / largest < delta) return k;
  }
  return longest;
}

struct Fixture {
  explicit Fixture(const Problem& problem, const FpttConfig& config, bool terminal = true)
      : engine(*problem.model), trainee(make_trainee(engine, problem.parameters, optimizer("sgd"), {})) {
    StretchShape shape{.steps = problem.window.steps, .batch = problem.window.batch, .terminal = terminal};
    shape.row_steps = problem.window.steps;
    shape.positions = [this, &problem](std::uint64_t, int, int steps) -> const Window& {
      slice(problem.window, problem.window.steps - steps, steps, place);
      std::fill(place.weight.begin(), place.weight.end() - place.batch, 0.0f);
      return place;
    };
    learner = make_learner(config, trainee, shape);
  }
  /// Steps of the windows that one stretch is cut into: of the unrolls that keep a tape for gradients.
  std::vector<int> lengths(const Window& stretch, double rate = 0) {
    engine.unrolls.clear();
    learner->learn(stretch, constant(rate));
    std::vector<int> steps;
    for (const RecordingEngine::UnrollRecord& unroll : engine.unrolls)
      if (unroll.keep == Keep::gradient) steps.push_back(unroll.window.steps);
    return steps;
  }

  Window place;
  RecordingEngine engine;
  Trainee trainee;
  std::unique_ptr<Learner> learner;
};

/// Of one target at the end.
Problem with_last_loss(Problem problem) {
  std::fill(problem.window.weight.begin(), problem.window.weight.end() - 1, 0.0f);
  problem.window.targets.layout = TargetLayout::per_row;
  problem.window.targets.width = 2;
  static const std::vector<float> target = {7, 0};
  problem.window.targets.values = target;
  return problem;
}

TEST(AdaptiveWindow, IsTheTruncationOfAGeometricDecay) {
  for (const double w : {0.2, 0.5, 0.8, 0.9})
    for (const double delta : {0.5, 0.1, 0.01}) {
      const Problem problem = chain(w, 40);
      const int omega = smallest_truncation(w, delta, 40);
      Fixture each_step(problem, adaptive(30, 5, delta), false);
      EXPECT_EQ(each_step.lengths(problem.window).front(), omega) << w << ", " << delta;
      const Problem last = with_last_loss(chain(w, 40));
      Fixture terminal(last, adaptive(30, 5, delta));
      EXPECT_EQ(terminal.lengths(last.window).front(), omega) << w << ", " << delta;
    }
}

TEST(AdaptiveWindow, KeepsToItsBoundsAndToTheSequence) {
  const Problem fast = with_last_loss(chain(0.2, 12)), slow = with_last_loss(chain(0.99, 12));
  EXPECT_EQ(Fixture(fast, adaptive(8, 2, 0.1, 5, 9)).lengths(fast.window), (std::vector{5, 5, 2}));
  EXPECT_EQ(Fixture(slow, adaptive(8, 2, 0.1, 5, 9)).lengths(slow.window), (std::vector{9, 3}));
  EXPECT_EQ(Fixture(slow, adaptive(8, 2, 0.1, 5, 900)).lengths(slow.window), std::vector{12}) << "the whole sequence";
}

TEST(AdaptiveWindow, AtTheSmallestSizes) {
  const Problem problem = with_last_loss(chain(0.5, 2));
  EXPECT_EQ(Fixture(problem, adaptive(2, 0, 0.9, 1, 1)).lengths(problem.window), (std::vector{1, 1}));
  EXPECT_EQ(Fixture(problem, adaptive(2, 0, 0.01, 1, 2)).lengths(problem.window), std::vector{2});
}

/// Bounds that meet leave nothing to choose.
TEST(AdaptiveWindow, WithOneLengthIsFpttWithThatLength) {
  for (const char* head : {"softmax", "regression"})
    for (const int length : {1, 3, 10}) {
      const Problem problem = terminal_problem(head, 3);
      FpttConfig fixed{.window_length = length};
      fixed.terminal.q = std::string(head) == "softmax" ? PriorKind::uniform : PriorKind::automatic;
      FpttConfig chosen = adaptive(6, 2, 0.1, length, length);
      chosen.remainder = fixed.remainder;
      chosen.form = fixed.form;
      TerminalLesson one(problem, fixed, 0, 0.1), other(problem, chosen, 0, 0.1);
      for (int i = 0; i < 3; ++i) {
        one.learn(problem.window);
        other.learn(problem.window);
      }
      EXPECT_EQ(one.engine.Engine::read(one.trainee.parameters), other.engine.Engine::read(other.trainee.parameters))
          << head << ", " << length;
    }
}

TEST(AdaptiveWindow, IsChosenAgainWhenAnEstimateIsDue) {
  const Problem slow = with_last_loss(chain(0.9, 40));
  FpttConfig config = adaptive(30, 5, 0.1, 1, 40);
  config.window_length = 4;
  config.estimate.first = false;
  Fixture epochs(slow, config);
  EXPECT_EQ(epochs.lengths(slow.window).front(), 4) << "no estimate before the first epoch ends";
  epochs.learner->end_epoch();
  EXPECT_EQ(epochs.lengths(slow.window).front(), smallest_truncation(0.9, 0.1, 40));
  config.estimate.every = 15;
  Fixture updates(slow, config);
  EXPECT_EQ(updates.lengths(slow.window).front(), 4) << "ten updates";
  EXPECT_EQ(updates.lengths(slow.window).front(), 4) << "another ten, and the estimate only between sequences";
  EXPECT_EQ(updates.lengths(slow.window).front(), smallest_truncation(0.9, 0.1, 40));
}

TEST(AdaptiveWindow, TellsWhatItChoseAndWhatItRead) {
  const Problem slow = with_last_loss(chain(0.9, 40));
  Fixture fixture(slow, adaptive(30, 5));
  fixture.lengths(slow.window);
  const auto value = [&](const std::string& name) {
    for (const Diagnostic& number : fixture.learner->diagnostics())
      if (number.name == name) return number.value;
    return -1.0;
  };
  EXPECT_EQ(value("truncation"), smallest_truncation(0.9, 0.1, 40));
  EXPECT_NEAR(value("beta"), 0.9, 1e-9);
  EXPECT_EQ(value("rows"), 40);
  EXPECT_EQ(value("estimation_rows"), 35);
}

TEST(AdaptiveWindow, RefusesWhatCannotBe) {
  const Problem problem = terminal_problem("softmax", 3);
  const auto refused = [&](const FpttConfig& config) {
    try {
      const TerminalLesson lesson(problem, config);
    } catch (const InvalidInput& error) {
      return std::string(error.what());
    }
    return std::string("taken");
  };
  EXPECT_EQ(refused(adaptive(6, 2)), "taken");
  FpttConfig config = adaptive(6, 2);
  config.windows = 2;
  EXPECT_NE(refused(config).find("windows (K) must be 0, got 2"), std::string::npos);
  EXPECT_NE(refused(adaptive(6, 5)).find("must be 10 steps (the sequence) at most together, got 5 and 6"),
            std::string::npos);
  EXPECT_NE(refused(adaptive(6, 2, 1.5)).find("delta must lie between 0 and 1"), std::string::npos);
  EXPECT_NE(
      refused(adaptive(6, 2, 0.1, 11, 12)).find("shortest must be between 1 and the sequence length (10), got 11"),
      std::string::npos);
  config = adaptive(6, 2);
  config.terminal.q = PriorKind::class_wrong;
  EXPECT_NE(refused(config).find("q must be auto or uniform"), std::string::npos);
  config = adaptive(6, 2);
  config.estimate.positions = 2;
  EXPECT_NE(refused(config).find("positions must be the batch (3) or 0"), std::string::npos);
  config = adaptive(6, 2);
  config.estimate.repeats = 4;
  EXPECT_NE(refused(config).find("repeats must be 1"), std::string::npos);
  config = {.windows = 2};
  config.estimate.delta = 0.2;
  EXPECT_NE(refused(config).find("need window = adaptive"), std::string::npos);
}

}  // namespace
}  // namespace throughtime::testing

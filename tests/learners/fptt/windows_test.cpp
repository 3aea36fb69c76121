// Oracles O1, O2 and O10 of the FPTT specification: windows, their gradients, and what BPTT would do.
#include <gtest/gtest.h>

#include <numeric>

#include "learners/fptt/support.h"
#include "support/numeric.h"

namespace throughtime::testing {
namespace {

class FpttOnCells : public FpttOnEngine {};
INSTANTIATE_TEST_SUITE_P(Engines, FpttOnCells, ::testing::Values("reference", "cpu"),
                         [](const auto& info) { return info.param; });

const std::vector<std::vector<int>> depths = {{6}, {5, 7}, {4, 3, 5}};

TEST_P(FpttOnCells, OneWindowWithoutRegulariserIsBpttBitForBit) {
  for (const std::string& cell : cell_names())
    for (const std::vector<int>& widths : depths) {
      const Problem problem = random_problem({.model = stack_of(cell, widths), .steps = 9, .batch = 11});
      for (const std::string rule : {"sgd", "momentum", "adam"})
        EXPECT_EQ(train(problem, GetParam(), fptt(1, "ogd"), 3, rule), train(problem, GetParam(), {}, 3, rule))
            << cell << " " << rule;
    }
}

TEST_P(FpttOnCells, TheFirstUpdateEverIsThatOfOgd) {
  const Problem problem = random_problem({.model = stack_of("lstm", {6}), .steps = 8, .batch = 3});
  for (const std::string form : {"lambda", "gradient"})
    for (const std::string rule : {"sgd", "momentum", "adam"})
      for (const double alpha : {0.01, 1.0, 50.0})
        EXPECT_LT(distance(train(problem, GetParam(), fptt(1, form, alpha), 1, rule),
                           train(problem, GetParam(), fptt(1, "ogd"), 1, rule)),
                  tolerance())
            << form << " " << rule;
}

TEST_P(FpttOnCells, LearnsOnEveryCellAndDepth) {
  for (const std::string& cell : cell_names())
    for (const std::vector<int>& widths : depths) {
      const Problem problem = random_problem({.model = stack_of(cell, widths), .steps = 10, .batch = 3, .resets = 0.1});
      for (const std::string form : {"lambda", "gradient", "ogd"}) {
        const auto after = train(problem, GetParam(), fptt(3, form), 4, "adam");
        EXPECT_GT(distance(after, problem.parameters), 1e-3) << cell << " " << form;
      }
    }
}

TEST(FpttEngines, AgreeOnEveryForm) {
  const Problem problem = random_problem({.model = stack_of("lstm", {5, 4}), .steps = 12, .batch = 3});
  for (const std::string form : {"lambda", "gradient", "ogd"})
    for (const std::string rule : {"sgd", "momentum"})
      EXPECT_LT(relative_error(train(problem, "cpu", fptt(3, form), 3, rule),
                               train(problem, "reference", fptt(3, form), 3, rule)),
                1e-5)
          << form << " " << rule;
}

TEST(FpttWindows, CoverTheSequenceOnceWithTheRemainderAsAsked) {
  struct Case {
    int steps, windows, length;
    std::string remainder;
    std::vector<int> lengths;
  };
  for (const Case& c :
       {Case{784, 10, 0, "extra", {78, 78, 78, 78, 78, 78, 78, 78, 78, 78, 4}},
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
  // Each window's gradient is the derivative of its own loss with its first state held fixed.
  for (const std::string& cell : cell_names())
    for (const std::vector<int>& widths : {std::vector{3}, std::vector{2, 2}, std::vector{2, 1, 2}}) {
      const Problem problem = random_problem({.model = stack_of(cell, widths), .steps = 6, .batch = 1});
      Lesson lesson(problem, fptt(2, "ogd"), 6);
      lesson.learn(problem.window);
      ASSERT_EQ(lesson.engine.updates.size(), 2u);
      const auto& record = lesson.engine.unrolls[1];
      EngineRun run(problem);
      run.set_window(record.window);
      const double weights = std::accumulate(record.window.weight.begin(), record.window.weight.end(), 0.0);
      const auto loss = [&](std::span<const double> parameters) {
        run.set_parameters({parameters.begin(), parameters.end()});
        return run.unroll(record.initial_state).loss_sum / weights;
      };
      EXPECT_LT(relative_error(lesson.engine.updates[1].gradient, central_differences(loss, problem.parameters)), 1e-6)
          << cell;
    }
}

TEST(FpttWindows, KeepATapeOfOneWindow) {
  const Problem problem = random_problem({.model = stack_of("lstm", {8}), .steps = 400, .batch = 4});
  const auto engine = make_engine(*problem.model, {.name = "cpu", .threads = 1, .communicator = nullptr});
  const auto bytes = [&](const LearnerConfig& config, int steps) {
    Trainee trainee = make_trainee(*engine, problem.parameters, optimizer("sgd"), {});
    return static_cast<double>(make_learner(config, trainee, {steps, 4})->activation_bytes());
  };
  EXPECT_NEAR(bytes({}, 400) / bytes(fptt(10), 400), 10, 0.5);
  EXPECT_EQ(bytes(fptt(10), 400), bytes({}, 40));
}

}  // namespace
}  // namespace throughtime::testing

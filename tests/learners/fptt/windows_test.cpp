// Oracles O1, O2 and O10 of the FPTT specification: windows, their gradients, and what BPTT would do.
#include <gtest/gtest.h>

#include <numeric>

#include "learners/fptt/support.h"
#include "support/errors.h"
#include "support/numeric.h"

namespace throughtime::testing {
namespace {

class FpttOnCells : public FpttOnEngine {};
INSTANTIATE_TEST_SUITE_P(Engines, FpttOnCells, ::testing::Values("reference", "cpu"),
                         [](const auto& info) { return info.param; });

constexpr auto all_forms = {FpttForm::lambda, FpttForm::gradient, FpttForm::ogd};
const std::vector<std::vector<int>> depths = {{6}, {5, 7}, {4, 3, 5}};

TEST_P(FpttOnCells, OneWindowWithoutRegulariserIsBpttBitForBit) {
  for (const std::string& cell : cell_names())
    for (const std::vector<int>& widths : depths) {
      const Problem problem = random_problem({.model = stack_of(cell, widths), .steps = 9, .batch = 11});
      for (const std::string rule : {"sgd", "momentum", "adam"})
        EXPECT_EQ(train(problem, GetParam(), fptt(1, FpttForm::ogd), 3, rule),
                  train(problem, GetParam(), BpttConfig(), 3, rule))
            << cell << " " << rule;
    }
}

TEST_P(FpttOnCells, TheFirstUpdateEverIsThatOfOgd) {
  const Problem problem = random_problem({.model = stack_of("lstm", {6}), .steps = 8, .batch = 3});
  for (const FpttForm form : {FpttForm::lambda, FpttForm::gradient})
    for (const std::string rule : {"sgd", "momentum", "adam"})
      for (const double alpha : {0.01, 1.0, 50.0})
        EXPECT_LT(distance(train(problem, GetParam(), fptt(1, form, alpha), 1, rule),
                           train(problem, GetParam(), fptt(1, FpttForm::ogd), 1, rule)),
                  tolerance())
            << name_of(form) << " " << rule;
}

TEST_P(FpttOnCells, LearnsOnEveryCellAndDepth) {
  for (const std::string& cell : cell_names())
    for (const std::vector<int>& widths : depths) {
      const Problem problem = random_problem({.model = stack_of(cell, widths), .steps = 10, .batch = 3, .resets = 0.1});
      for (const FpttForm form : all_forms) {
        const auto after = train(problem, GetParam(), fptt(3, form), 4, "adam");
        EXPECT_GT(distance(after, problem.parameters), 1e-3) << cell << " " << name_of(form);
      }
    }
}

TEST(FpttEngines, AgreeOnEveryForm) {
  const Problem problem = random_problem({.model = stack_of("lstm", {5, 4}), .steps = 12, .batch = 3});
  for (const FpttForm form : all_forms)
    for (const std::string rule : {"sgd", "momentum"})
      EXPECT_LT(relative_error(train(problem, "cpu", fptt(3, form), 3, rule),
                               train(problem, "reference", fptt(3, form), 3, rule)),
                1e-5)
          << name_of(form) << " " << rule;
}

TEST(FpttWindows, CoverTheSequenceOnceWithTheRemainderAsAsked) {
  struct Case {
    int steps, windows, length;
    Remainder remainder;
    std::vector<int> lengths;
  };
  for (const Case& c :
       {Case{784, 10, 0, Remainder::extra, {78, 78, 78, 78, 78, 78, 78, 78, 78, 78, 4}},
        Case{61, 6, 0, Remainder::extra, {10, 10, 10, 10, 10, 10, 1}},
        Case{61, 6, 0, Remainder::absorb, {10, 10, 10, 10, 10, 11}},
        Case{20, 20, 0, Remainder::extra, std::vector<int>(20, 1)}, Case{20, 1, 0, Remainder::extra, {20}},
        Case{20, 0, 8, Remainder::extra, {8, 8, 4}}, Case{20, 0, 8, Remainder::absorb, {8, 12}},
        Case{20, 7, 0, Remainder::automatic, {2, 3, 3, 3, 3, 3, 3}}, Case{10, 4, 0, Remainder::spread, {2, 3, 2, 3}},
        Case{20, 0, 8, Remainder::spread, {6, 7, 7}}}) {
    const Problem problem = random_problem({.model = stack_of("rnn_tanh", {2}), .steps = c.steps, .batch = 2});
    RecordingEngine engine(*problem.model);
    Trainee trainee = make_trainee(engine, problem.parameters, optimizer("sgd"), {});
    FpttConfig config = fptt(c.windows);
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
      Lesson lesson(problem, fptt(2, FpttForm::ogd), 6);
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

class FpttTape : public ::testing::TestWithParam<std::string> {
 protected:
  template <class Config>
  std::size_t bytes(const Config& config, int steps, bool lengths_vary = false) const {
    Trainee trainee = make_trainee(*engine_, problem_.parameters, optimizer("sgd"), {});
    return make_learner(config, trainee, {.steps = steps, .batch = 4, .lengths_vary = lengths_vary})
        ->activation_bytes();
  }
  std::size_t bytes_of_tape(int steps) const {
    return engine_->make_tape({.steps = steps, .batch = 4, .keep = Keep::gradient})->activation_bytes();
  }

 private:
  Problem problem_ = random_problem({.model = stack_of("lstm", {8}), .steps = 1, .batch = 4});
  std::unique_ptr<Engine> engine_ =
      make_engine(*problem_.model, {.name = GetParam(), .threads = 1, .communicator = nullptr});
};
INSTANTIATE_TEST_SUITE_P(Engines, FpttTape, ::testing::Values("reference", "cpu"),
                         [](const auto& info) { return info.param; });

TEST_P(FpttTape, IsOneWindowLong) {
  const auto as_double = [](std::size_t bytes) { return static_cast<double>(bytes); };
  EXPECT_NEAR(as_double(bytes(BpttConfig(), 400)) / as_double(bytes(fptt(10), 400)), 10, 0.5);
  EXPECT_EQ(bytes(fptt(10), 400), bytes(BpttConfig(), 40));
}

TEST_P(FpttTape, IsWhatTheWindowsOfTheOneLengthNeed) {
  EXPECT_EQ(bytes(fptt(80), 400), bytes_of_tape(5));
  EXPECT_EQ(bytes(fptt(1), 400), bytes_of_tape(400));
  EXPECT_EQ(bytes(fptt(400), 400), bytes_of_tape(1));
  FpttConfig config = fptt(80);
  for (const auto& [remainder, longest] :
       {std::pair{Remainder::automatic, 5}, {Remainder::extra, 79}, {Remainder::absorb, 83}, {Remainder::spread, 5}}) {
    config.remainder = remainder;
    EXPECT_EQ(bytes(config, 399), bytes_of_tape(longest)) << name_of(remainder);  // 80 x 4 + 79
    EXPECT_EQ(bytes(config, 400), bytes_of_tape(5)) << name_of(remainder);
  }
}

TEST_P(FpttTape, HoldsTheWindowsOfShorterSequencesWhereLengthsVary) {
  FpttConfig config = fptt(80);
  for (const auto& [remainder, longest] :
       {std::pair{Remainder::automatic, 5}, {Remainder::extra, 79}, {Remainder::absorb, 83}, {Remainder::spread, 5}}) {
    config.remainder = remainder;
    EXPECT_EQ(bytes(config, 400, true), bytes_of_tape(longest)) << name_of(remainder);
  }
}

TEST_P(FpttTape, ChangesNoBitByItsLength) {
  const Problem problem = random_problem({.model = stack_of("gru", {8}), .steps = 40, .batch = 5});
  const auto parameters_with = [&](bool lengths_vary) {
    const auto engine = make_engine(*problem.model, {.name = GetParam(), .threads = 2, .communicator = nullptr});
    Trainee trainee = make_trainee(*engine, problem.parameters, optimizer("adam"), {});
    FpttConfig config = fptt(8);
    config.remainder = Remainder::extra;
    config.carry = FpttCarry::rerun;
    const auto learner = make_learner(config, trainee, {.steps = 40, .batch = 5, .lengths_vary = lengths_vary});
    for (int i = 0; i < 3; ++i) learner->learn(problem.window, constant(0.01));
    return std::pair{engine->read(trainee.parameters), learner->activation_bytes()};
  };
  EXPECT_EQ(parameters_with(true).first, parameters_with(false).first);
  EXPECT_GT(parameters_with(true).second, parameters_with(false).second);
}

TEST(FpttWindows, TakeShorterSequencesOnlyWhereLengthsVary) {
  const Problem problem = random_problem({.model = stack_of("rnn_tanh", {2}), .steps = 11, .batch = 2});
  RecordingEngine engine(*problem.model);
  Trainee trainee = make_trainee(engine, problem.parameters, optimizer("sgd"), {});
  const auto fixed = make_learner(fptt(4), trainee, {.steps = 12, .batch = 2});
  EXPECT_REFUSED(fixed->learn(problem.window, no_rate), "[fptt] a stretch must have 12 steps, as promised");
  const auto varied = make_learner(fptt(4), trainee, {.steps = 12, .batch = 2, .lengths_vary = true});
  for (int steps = 1; steps <= 11; ++steps) {
    Window stretch;
    slice(problem.window, 0, steps, stretch);
    EXPECT_NO_THROW(varied->learn(stretch, no_rate)) << steps;
  }
}

}  // namespace
}  // namespace throughtime::testing

#include <gtest/gtest.h>

#include <cmath>

#include "learners/fptt/terminal_support.h"
#include "support/errors.h"
#include "support/numeric.h"

namespace throughtime::testing {
namespace {

BpttConfig aux(int windows) { return {.aux_losses = true, .windows = windows}; }

/// The window with a loss of weight 1 at every step.
Window shown_everywhere(const Problem& problem) {
  Window shown = problem.window;
  std::fill(shown.weight.begin(), shown.weight.end(), 1.0f);
  return shown;
}

TEST(BpttAux, StepsOnceOnTheMeanOfTheWindowsLossesThroughTheWholeSequence) {
  // Against central differences of (1 / K') sum of [beta CE + (1 - beta) Div], written out from predictions.
  const Problem problem = terminal_problem("softmax", 4);
  TerminalLesson lesson(problem, aux(4));  // windows of two steps, and the remainder's
  lesson.learn(problem.window);
  ASSERT_EQ(lesson.engine.unrolls.size(), 1u);
  ASSERT_EQ(lesson.engine.updates.size(), 1u);
  EXPECT_EQ(lesson.learner->updates(), 1);

  const Window shown = shown_everywhere(problem);
  EngineRun run(problem);
  run.set_window(shown);
  const auto loss = [&](std::span<const double> parameters) {
    run.set_parameters({parameters.begin(), parameters.end()});
    const auto predictions = run.unroll().predictions;
    double sum = 0;
    for (const int end : {2, 4, 6, 8, 10})
      for (int row = 0; row < terminal_rows; ++row) {
        const double beta = end / 10.0;
        for (int c = 0; c < 4; ++c) {
          const double onehot = problem.window.targets.labels[row] == c;
          const auto at = static_cast<std::size_t>(((end - 1) * terminal_rows + row) * 4 + c);
          sum -= (beta * onehot + (1 - beta) / 4) * std::log(predictions[at]);
        }
      }
    return sum / (5 * terminal_rows);
  };
  EXPECT_LT(relative_error(lesson.engine.updates[0].gradient, central_differences(loss, problem.parameters)), 1e-6);
}

TEST(BpttAux, WithOneWindowIsBptt) {
  const Problem problem = terminal_problem("regression", 2);
  TerminalLesson plain(problem, BpttConfig(), 0, 0.1), with_losses(problem, aux(1), 0, 0.1);
  for (int i = 0; i < 3; ++i) {
    plain.learn(problem.window);
    with_losses.learn(problem.window);
  }
  EXPECT_EQ(plain.engine.Engine::read(plain.trainee.parameters),
            with_losses.engine.Engine::read(with_losses.trainee.parameters));
}

TEST(BpttAux, HasTheSameTargetsAsFpttEpochAfterEpoch) {
  Problem problem = terminal_problem("softmax", 4);
  problem.window.example = {0, 1, 2};
  TerminalLesson whole(problem, aux(5), 3), windows(problem, fptt(5), 3);
  for (int epoch = 0; epoch < 2; ++epoch)
    for (TerminalLesson* lesson : {&whole, &windows}) {
      lesson->learn(problem.window);
      lesson->learner->end_epoch();
    }
  constexpr std::size_t numbers = terminal_rows * 4;  // of a step
  const std::vector<float>& all = whole.engine.unrolls[1].target_values;
  for (std::size_t p = 0; p < 5; ++p) {
    const std::vector<float>& part = windows.engine.unrolls[5 + p].target_values;
    for (std::size_t i = 0; i < numbers; ++i) EXPECT_FLOAT_EQ(all[(2 * p + 1) * numbers + i], part[numbers + i]) << p;
  }
}

/// Among mixtures of labels and predictions there are no right ones to count: no accuracy is better than a zero.
TEST(BpttAux, ReportsNoAccuracyOfMixturesAndNeitherDoesFptt) {
  const Problem problem = terminal_problem("softmax", 4);
  const auto accuracy_of = [&](const auto& config) {
    const auto engine = make_engine(*problem.model, EngineRun::reference());
    Trainee trainee = make_trainee(*engine, problem.parameters, optimizer("sgd"), {});
    const auto learner = make_learner(
        config, trainee, {.steps = terminal_steps, .batch = terminal_rows, .terminal = true, .accuracy = true});
    learner->learn(problem.window, no_rate);
    return learner->take_means().accuracy;
  };
  EXPECT_TRUE(std::isnan(accuracy_of(aux(5))));
  EXPECT_TRUE(std::isnan(accuracy_of(fptt(5))));
  EXPECT_TRUE(std::isnan(accuracy_of(fptt(1))));

  FpttConfig labels_alone = fptt(5);
  labels_alone.terminal.intermediate = IntermediateLoss::none;
  EngineRun run(problem);
  const auto predictions = run.unroll().predictions;
  double right = 0;
  for (int row = 0; row < terminal_rows; ++row) {
    const auto from = predictions.end() - (terminal_rows - row) * 4;
    right += std::max_element(from, from + 4) - from == problem.window.targets.labels[row];
  }
  EXPECT_DOUBLE_EQ(accuracy_of(labels_alone), right / terminal_rows);
}

/// Without the last window the mean is over those that are left.
TEST(BpttAux, WithoutTheLastWindowDividesByTheOthers) {
  const Problem problem = terminal_problem("regression", 2);
  BpttConfig config = aux(5);
  config.terminal.skip_last = true;
  TerminalLesson lesson(problem, config);
  lesson.learn(problem.window);
  const Window shown = shown_everywhere(problem);
  EngineRun run(problem);
  run.set_window(shown);
  const auto loss = [&](std::span<const double> parameters) {
    run.set_parameters({parameters.begin(), parameters.end()});
    const auto losses = run.unroll().losses;
    double sum = 0;
    for (const int end : {2, 4, 6, 8})
      for (int row = 0; row < terminal_rows; ++row) sum += end / 10.0 * losses[(end - 1) * terminal_rows + row];
    return sum / (4 * terminal_rows);
  };
  EXPECT_LT(relative_error(lesson.engine.updates[0].gradient, central_differences(loss, problem.parameters)), 1e-6);
}

TEST(BpttAux, RefusesWhatItCannotDo) {
  const Problem problem = terminal_problem("regression", 2);
  BpttConfig config = aux(11);
  EXPECT_REFUSED(TerminalLesson(problem, config),
                 "[bptt] windows must be between 1 and the sequence length (10), got 11");
  config = aux(2);
  config.memory = BpttMemory::recompute;
  EXPECT_REFUSED(TerminalLesson(problem, config), "aux_losses need memory = full");
}

}  // namespace
}  // namespace throughtime::testing

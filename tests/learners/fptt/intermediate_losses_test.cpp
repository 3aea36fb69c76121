// Oracle O11 of the FPTT specification: losses at the ends of windows for sequences with one target.
#include <gtest/gtest.h>

#include "learners/fptt/terminal_support.h"
#include "support/errors.h"

namespace throughtime::testing {
namespace {

/// The windows of one stretch of a problem with numbers as targets.
std::vector<Window> windows_of(const FpttConfig& config) {
  const Problem problem = terminal_problem("regression", 2);
  TerminalLesson lesson(problem, config);
  lesson.learn(problem.window);
  std::vector<Window> windows;
  for (const auto& record : lesson.engine.unrolls) windows.push_back(record.window);
  return windows;
}

TEST(IntermediateNumbers, CountWithTheShareOfTimeAtEachWindowsEnd) {
  const auto windows = windows_of(fptt(5));
  ASSERT_EQ(windows.size(), 5u);
  for (std::size_t p = 0; p < 5; ++p) {
    EXPECT_EQ(windows[p].weight_at(0, 0), 0.0f);
    for (int row = 0; row < terminal_rows; ++row)
      EXPECT_FLOAT_EQ(windows[p].weight_at(1, row), static_cast<float>(p + 1) / 5);
  }
}

TEST(IntermediateNumbers, CountWithTheWindowsIndexWhenAsked) {
  FpttConfig config = fptt(4);  // windows of two steps, five of them: the remainder's too
  config.terminal.beta = TargetShare::window;
  auto windows = windows_of(config);
  ASSERT_EQ(windows.size(), 5u);
  for (std::size_t p = 0; p < 5; ++p) EXPECT_FLOAT_EQ(windows[p].weight_at(1, 0), static_cast<float>(p + 1) / 5);
  config.terminal.beta = TargetShare::ref_index;
  windows = windows_of(config);
  for (std::size_t p = 0; p < 5; ++p) EXPECT_FLOAT_EQ(windows[p].weight_at(1, 0), static_cast<float>(p) + 0.25f);
}

TEST(IntermediateNumbers, EveryStepSharesAWindowsLoss) {
  FpttConfig config = fptt(5);
  config.terminal.intermediate = IntermediateLoss::every_step;
  const auto windows = windows_of(config);
  EXPECT_FLOAT_EQ(windows[1].weight_at(0, 0), 0.5f * 0.3f);
  EXPECT_FLOAT_EQ(windows[1].weight_at(1, 0), 0.5f * 0.4f);
}

TEST(IntermediateNumbers, WithoutThemOnlyTheLastWindowUpdates) {
  const Problem problem = terminal_problem("regression", 2);
  FpttConfig config = fptt(5);
  config.terminal.intermediate = IntermediateLoss::none;
  TerminalLesson lesson(problem, config);
  lesson.learn(problem.window);
  EXPECT_EQ(lesson.learner->updates(), 1);
}

/// Row 1 of the problem's sequences begins at step `begin` only; what is before it is padding.
void shorten(Problem& problem, std::vector<Source>& sources, int begin) {
  Window& window = problem.window;
  const auto steps = static_cast<std::size_t>(terminal_steps - begin);
  sources.assign(window.sources.begin(), window.sources.end());
  Source part = sources[window.source.empty() ? 0 : static_cast<std::size_t>(window.source[1])];
  const auto at = static_cast<std::size_t>(window.start[1] + begin);
  part.values =
      part.values.subspan(at * static_cast<std::size_t>(part.reals), steps * static_cast<std::size_t>(part.reals));
  if (!part.tokens.empty()) part.tokens = part.tokens.subspan(at, steps);
  part.labels = {};
  part.target_values = {};
  part.target_width = 0;
  part.steps = steps;
  sources.push_back(part);
  if (window.source.empty()) window.source.assign(terminal_rows, 0);
  window.source[1] = static_cast<std::int32_t>(sources.size()) - 1;
  window.start[1] = -begin;
  window.flags.assign(window.weight.size(), StepFlag::go_on);
  window.flags[elements(begin, terminal_rows) + 1] = StepFlag::reset;
  window.sources = sources;
}

TEST(IntermediateNumbers, CountFromWhereARowBegins) {
  Problem problem = terminal_problem("regression", 2);
  std::vector<Source> sources;
  shorten(problem, sources, 3);
  TerminalLesson lesson(problem, fptt(5));
  lesson.learn(problem.window);
  ASSERT_EQ(lesson.engine.unrolls.size(), 5u);
  for (int p = 0; p < 5; ++p) {
    const Window& window = lesson.engine.unrolls[static_cast<std::size_t>(p)].window;
    const int time = 2 * (p + 1);
    EXPECT_FLOAT_EQ(window.weight_at(1, 0), static_cast<float>(time) / 10);
    EXPECT_FLOAT_EQ(window.weight_at(1, 1), time > 3 ? static_cast<float>(time - 3) / 7 : 0.0f);
    EXPECT_EQ(window.weight_at(0, 1), 0.0f);
  }
}

TEST(IntermediateClasses, CountFromWhereARowBegins) {
  Problem problem = terminal_problem("softmax", 3);
  std::vector<Source> sources;
  shorten(problem, sources, 5);
  problem.window.example = {0, 1, 2};
  TerminalLesson lesson(problem, fptt(5), 3);
  for (int epoch = 0; epoch < 2; ++epoch) {
    lesson.engine.unrolls.clear();
    lesson.learn(problem.window);
    lesson.learner->end_epoch();
  }
  // In the second epoch row 1 has no loss in the windows before it begins, and Q of those after is its own prediction.
  const auto label = static_cast<std::size_t>(problem.window.targets.labels[1]);
  for (int p = 0; p < 5; ++p) {
    const auto& record = lesson.engine.unrolls[static_cast<std::size_t>(p)];
    const int time = 2 * (p + 1) - 5;
    EXPECT_EQ(record.window.weight_at(1, 1), time > 0 ? 1.0f : 0.0f) << p;
    if (time <= 0) continue;
    const std::vector<double> predicted = predictions_of(problem, record);
    for (std::size_t c = 0; c < 3; ++c) {
      const double beta = time / 5.0;
      const double wanted = (c == label ? beta : 0) + (1 - beta) * predicted[3 + c];
      EXPECT_NEAR(record.target_values[(3 + 1) * 3 + c], wanted, 1e-6) << p << " " << c;
    }
  }
}

TEST(IntermediateNumbers, TheLastWindowCanBeLeftOut) {
  FpttConfig config = fptt(5);
  config.terminal.skip_last = true;
  EXPECT_EQ(windows_of(config).size(), 4u);
  config.windows = 1;
  EXPECT_REFUSED(windows_of(config), "skip_last leaves nothing");
}

/// Gradients of the head's bias after one stretch, [windows][classes], against (P - target) / rows.
void expect_gradients(const Problem& problem, TerminalLesson& lesson, std::size_t first_window,
                      const std::vector<std::vector<double>>& targets) {
  const auto classes = elements(problem.model->outputs());
  const std::size_t bias = problem.model->parameters().find("head.bias").offset;
  for (std::size_t p = 0; p < targets.size(); ++p) {
    const auto predictions = predictions_of(problem, lesson.engine.unrolls[first_window + p]);
    for (std::size_t c = 0; c < classes; ++c) {
      double wanted = 0;
      for (std::size_t row = 0; row < terminal_rows; ++row)
        wanted += (predictions[row * classes + c] - targets[p][row * classes + c]) / terminal_rows;
      EXPECT_NEAR(lesson.engine.updates[first_window + p].gradient[bias + c], wanted, 1e-7) << p;
    }
  }
}

/// beta onehot + (1 - beta) Q for each row.
std::vector<double> mixture(const Problem& problem, double beta, const std::vector<double>& q) {
  const auto classes = elements(problem.model->outputs());
  std::vector<double> target(terminal_rows * classes);
  for (std::size_t i = 0; i < target.size(); ++i) {
    const auto label = static_cast<std::size_t>(problem.window.targets.labels[i / classes]);
    target[i] = beta * (label == i % classes) + (1 - beta) * q[i];
  }
  return target;
}

TEST(IntermediateClasses, AreMixedWithTheUniformDistributionAtFirst) {
  // d(loss)/d(logits) = P - (beta onehot + (1 - beta) / C), and the last window is the plain cross-entropy.
  const Problem problem = terminal_problem("softmax", 4);
  const std::vector<double> uniform(terminal_rows * 4, 0.25);
  for (const PriorKind q : {PriorKind::automatic, PriorKind::uniform, PriorKind::class_wrong, PriorKind::class_right}) {
    FpttConfig config = fptt(2);
    config.terminal.q = q;
    TerminalLesson lesson(problem, config);
    lesson.learn(problem.window);
    expect_gradients(problem, lesson, 0, {mixture(problem, 0.5, uniform), mixture(problem, 1, uniform)});
  }
}

TEST(IntermediateClasses, AreMixedWithTheLastEpochsPredictionOfTheSameExample) {
  Problem problem = terminal_problem("softmax", 4);
  const Problem other = terminal_problem("softmax", 4, 2);
  Window second = other.window;
  problem.window.example = {7, 2, 0};
  second.example = {1, 5, -1};
  TerminalLesson lesson(problem, fptt(2), 8);
  lesson.learn(problem.window);
  lesson.learn(second);
  lesson.learner->end_epoch();
  // In the second epoch the rows come in another order.
  Window turned = problem.window;
  turned.example = {0, 7, 2};
  lesson.learn(turned);
  const auto first = predictions_of(problem, lesson.engine.unrolls[0]);
  std::vector<double> q(first.end() - 4, first.end());
  q.insert(q.end(), first.begin(), first.end() - 4);
  expect_gradients(problem, lesson, 4, {mixture(problem, 0.5, q), mixture(problem, 1, q)});
}

TEST(IntermediateClasses, AnExampleThatWasNotShownStaysUniform) {
  Problem problem = terminal_problem("softmax", 4);
  problem.window.example = {0, 1, 2};
  TerminalLesson lesson(problem, fptt(2), 6);
  lesson.learn(problem.window);
  lesson.learner->end_epoch();
  problem.window.example = {3, 4, 5};
  lesson.learn(problem.window);
  expect_gradients(problem, lesson, 2, {mixture(problem, 0.5, std::vector<double>(12, 0.25))});
}

/// Q of the released code for each row: the first row of the class that was classified wrongly (rightly) before.
std::vector<double> of_class(const Problem& problem, const std::vector<double>& predictions, bool wrong) {
  std::vector<double> q;
  for (std::size_t row = 0; row < terminal_rows; ++row) {
    std::vector<double> mine(4, 0.25);
    for (std::size_t other = terminal_rows; other-- > 0;) {
      const auto begin = predictions.begin() + static_cast<std::ptrdiff_t>(4 * other);
      const bool right = std::max_element(begin, begin + 4) - begin == problem.window.targets.labels[other];
      if (problem.window.targets.labels[other] == problem.window.targets.labels[row] && right != wrong)
        mine.assign(begin, begin + 4);
    }
    q.insert(q.end(), mine.begin(), mine.end());
  }
  return q;
}

TEST(IntermediateClasses, AreMixedWithAnExampleOfTheClassInTheBatchBeforeWhenAsked) {
  for (const std::vector<std::int32_t>& labels : {std::vector{1, 1, 3}, std::vector{0, 2, 2}, std::vector{3, 0, 1}})
    for (const bool wrong : {true, false}) {
      Problem problem = terminal_problem("softmax", 4);
      problem.window.targets.labels = labels;
      FpttConfig config = fptt(2);
      config.terminal.q = wrong ? PriorKind::class_wrong : PriorKind::class_right;
      config.terminal.q_epoch = 2;
      TerminalLesson lesson(problem, config);
      const std::vector<double> uniform(12, 0.25);
      lesson.learn(problem.window);
      lesson.learn(problem.window);  // still the first epoch
      expect_gradients(problem, lesson, 2, {mixture(problem, 0.5, uniform)});
      lesson.learner->end_epoch();
      lesson.learn(problem.window);  // the first batch of the second
      lesson.learn(problem.window);
      const auto q = of_class(problem, predictions_of(problem, lesson.engine.unrolls[4]), wrong);
      expect_gradients(problem, lesson, 6, {mixture(problem, 0.5, q)});
    }
}

TEST(IntermediateClasses, AWeakDivergenceCountsOneOverTheClasses) {
  // beta CE + (1 - beta) Div / C: the weights of the two terms no longer sum to one.
  const Problem problem = terminal_problem("softmax", 4);
  FpttConfig config = fptt(2);
  config.terminal.divergence = Divergence::mean;
  TerminalLesson lesson(problem, config);
  lesson.learn(problem.window);
  const std::size_t bias = problem.model->parameters().find("head.bias").offset;
  const auto predictions = predictions_of(problem, lesson.engine.unrolls[0]);
  for (std::size_t c = 0; c < 4; ++c) {
    double wanted = 0;
    for (std::size_t row = 0; row < terminal_rows; ++row) {
      const double p = predictions[row * 4 + c], onehot = problem.window.targets.labels[row] == static_cast<int>(c);
      wanted += (0.5 * (p - onehot) + 0.5 / 4 * (p - 0.25)) / terminal_rows;
    }
    EXPECT_NEAR(lesson.engine.updates[0].gradient[bias + c], wanted, 1e-7);
  }
}

TEST(IntermediateClasses, LateWindowsCanUseTheLabelAsQ) {
  const Problem problem = terminal_problem("softmax", 4);
  FpttConfig config = fptt(5);
  config.terminal.one_hot_from = 3;
  TerminalLesson lesson(problem, config);
  lesson.learn(problem.window);
  const std::vector<double> uniform(12, 0.25);
  expect_gradients(problem, lesson, 0,
                   {mixture(problem, 0.2, uniform), mixture(problem, 0.4, uniform), mixture(problem, 1, uniform),
                    mixture(problem, 1, uniform), mixture(problem, 1, uniform)});
}

TEST(IntermediateClasses, TablesAreRefusedWhereTheyCannotBeFilled) {
  const Problem numbers = terminal_problem("regression", 2), classes = terminal_problem("softmax", 4);
  FpttConfig config = fptt(2);
  config.terminal.q = PriorKind::examples;
  EXPECT_REFUSED(TerminalLesson(classes, config), "[fptt] q = examples needs epochs over a finite number of examples");
  EXPECT_REFUSED(TerminalLesson(numbers, config, 5), "the head predicts numbers");
  TerminalLesson lesson(classes, config, 5);
  EXPECT_REFUSED(lesson.learn(classes.window), "Window::example");
  Window far = classes.window;
  far.example = {0, 5, 1};
  EXPECT_REFUSED(lesson.learn(far), "must be below 5");
  config.terminal.intermediate = IntermediateLoss::none;
  EXPECT_REFUSED(TerminalLesson(classes, config, 5), "intermediate = none leaves nothing");
  config = fptt(2);
  config.terminal.beta = TargetShare::ref_index;
  EXPECT_REFUSED(TerminalLesson(classes, config), "ref_index is no share of a class");
}

}  // namespace
}  // namespace throughtime::testing

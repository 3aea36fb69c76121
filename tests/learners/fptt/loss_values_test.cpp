// Oracle O11 of the FPTT specification, its values: what losses before the end of a sequence are, written out from the
// predictions of the windows.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "learners/fptt/terminal_support.h"
#include "support/numeric.h"

namespace throughtime::testing {
namespace {

constexpr std::size_t classes = 4;
const std::vector<double> uniform(terminal_rows* classes, 1.0 / classes);

/// Of one row, P and Q [classes].
double cross_entropy(const double* p, std::int32_t label) { return -std::log(p[label]); }
double divergence(const double* p, const double* q) {
  double sum = 0;
  for (std::size_t c = 0; c < classes; ++c) sum -= q[c] * std::log(p[c]);
  return sum;
}

/// The head alone, on targets that are mixtures: a shorter way to say beta CE + (1 - beta) Div.
TEST(LossValues, OfAMixtureAreTheTwoTermsAndTheSlopeIsPMinusIt) {
  Problem problem = random_problem({.model = with_head(stack_of("lstm", {3}), "softmax", classes),
                                    .steps = 1,
                                    .batch = 1,
                                    .targets = TargetLayout::per_step,
                                    .soft = true});
  problem.window.weight = {1.0f};
  const std::size_t bias = problem.model->parameters().find("head.bias").offset;
  constexpr std::int32_t label = 2;
  const std::vector<std::vector<double>> priors = {
      {0, 0, 1, 0}, std::vector<double>(classes, 0.25), {0.5, 0.125, 0.25, 0.125}};
  for (const double beta : {0.0, 0.25, 0.5, 1.0})
    for (std::size_t which = 0; which < priors.size(); ++which) {
      SCOPED_TRACE(fmt::format("beta {} Q {}", beta, which));
      const std::vector<double>& q = priors[which];
      std::vector<float> mixture(classes);
      for (std::size_t c = 0; c < classes; ++c)
        mixture[c] = static_cast<float>(beta * (c == label) + (1 - beta) * q[c]);  // exact: powers of two
      problem.window.targets.values = mixture;
      EngineRun run(problem);
      const Unrolled unrolled = run.unroll();
      const double* p = unrolled.predictions.data();
      EXPECT_NEAR(unrolled.loss_sum, beta * cross_entropy(p, label) + (1 - beta) * divergence(p, q.data()), 1e-13);
      if (beta == 1 || which == 0) {
        EXPECT_NEAR(unrolled.loss_sum, cross_entropy(p, label), 1e-13);
      }
      if (beta == 0 && which == 1) {
        const double mean = (cross_entropy(p, 0) + cross_entropy(p, 1) + cross_entropy(p, 2) + cross_entropy(p, 3)) / 4;
        EXPECT_NEAR(unrolled.loss_sum, mean, 1e-13);
      }
      const std::vector<double> gradient = run.pull_back().gradient;
      for (std::size_t c = 0; c < classes; ++c) EXPECT_NEAR(gradient[bias + c], p[c] - mixture[c], 1e-13);
    }
}

/// What a stretch reported, the weighted mean over the losses of its windows, and what is wanted of each.
struct Term {
  double weight, loss;
};
double mean_of(const std::vector<Term>& terms) {
  double sum = 0, weights = 0;
  for (const Term& term : terms) {
    sum += term.weight * term.loss;
    weights += term.weight;
  }
  return sum / weights;
}

/// beta CE + (1 - beta) Div of every row at the ends of windows; `q` [windows][rows, classes].
std::vector<Term> terms_of(const Problem& problem, const TerminalLesson& lesson, std::size_t first_window,
                           const std::vector<double>& betas, const std::vector<std::vector<double>>& q,
                           double of_divergence = 1) {
  std::vector<Term> terms;
  for (std::size_t p = 0; p < betas.size(); ++p) {
    const auto predictions = predictions_of(problem, lesson.engine.unrolls[first_window + p]);
    for (std::size_t row = 0; row < terminal_rows; ++row) {
      const double* mine = predictions.data() + row * classes;
      const double share = of_divergence * (1 - betas[p]);
      const double loss = betas[p] * cross_entropy(mine, problem.window.targets.labels[row]) +
                          share * divergence(mine, q[p].data() + row * classes);
      terms.push_back({betas[p] + share, loss / (betas[p] + share)});
    }
  }
  return terms;
}

TEST(LossValues, OfOneWindowAreTheCrossEntropy) {
  const Problem problem = terminal_problem("softmax", classes);
  TerminalLesson lesson(problem, fptt(1));
  lesson.learn(problem.window);
  double sum = 0;
  const auto predictions = predictions_of(problem, lesson.engine.unrolls[0]);
  for (std::size_t row = 0; row < terminal_rows; ++row)
    sum += cross_entropy(predictions.data() + row * classes, problem.window.targets.labels[row]);
  EXPECT_NEAR(lesson.learner->take_mean_loss(), sum / terminal_rows, 1e-7);
}

TEST(LossValues, OfTheFirstEpochHaveAUniformQ) {
  const Problem problem = terminal_problem("softmax", classes);
  TerminalLesson lesson(problem, fptt(5));
  lesson.learn(problem.window);
  EXPECT_NEAR(lesson.learner->take_mean_loss(),
              mean_of(terms_of(problem, lesson, 0, {0.2, 0.4, 0.6, 0.8, 1}, {5, uniform})), 1e-6);
}

TEST(LossValues, OfTheSecondEpochHaveTheFirstOnesPredictionsAsQ) {
  Problem problem = terminal_problem("softmax", classes);
  problem.window.example = {2, 0, 1};
  TerminalLesson lesson(problem, fptt(2), 3);
  lesson.learn(problem.window);
  lesson.learner->end_epoch();
  lesson.learner->take_mean_loss();
  lesson.learn(problem.window);
  const std::vector<std::vector<double>> q = {predictions_of(problem, lesson.engine.unrolls[0]),
                                              predictions_of(problem, lesson.engine.unrolls[1])};
  EXPECT_NEAR(lesson.learner->take_mean_loss(), mean_of(terms_of(problem, lesson, 2, {0.5, 1}, q)), 1e-6);
}

TEST(LossValues, OfLateWindowsWithTheLabelAsQAreTheCrossEntropy) {
  const Problem problem = terminal_problem("softmax", classes);
  FpttConfig config = fptt(5);
  config.terminal.one_hot_from = 1;
  TerminalLesson lesson(problem, config);
  lesson.learn(problem.window);
  EXPECT_NEAR(lesson.learner->take_mean_loss(), mean_of(terms_of(problem, lesson, 0, {1, 1, 1, 1, 1}, {5, uniform})),
              1e-6);
}

/// A weak Div counts C times less: the mean is over the shares beta + (1 - beta) / C.
TEST(LossValues, OfAWeakDivergenceAreWeighedByTheirShares) {
  const Problem problem = terminal_problem("softmax", classes);
  FpttConfig config = fptt(2);
  config.terminal.divergence = Divergence::mean;
  TerminalLesson lesson(problem, config);
  lesson.learn(problem.window);
  EXPECT_NEAR(lesson.learner->take_mean_loss(),
              mean_of(terms_of(problem, lesson, 0, {0.5, 1}, {2, uniform}, 1.0 / classes)), 1e-6);
}

/// Squared errors are means over the outputs, and beta is their weight.
TEST(LossValues, OfNumbersAreMeanSquaresWeighedByBeta) {
  const Problem problem = terminal_problem("regression", 3);
  TerminalLesson lesson(problem, fptt(2));
  lesson.learn(problem.window);
  std::vector<Term> terms;
  for (std::size_t p = 0; p < 2; ++p) {
    const auto predictions = predictions_of(problem, lesson.engine.unrolls[p]);
    for (std::size_t row = 0; row < terminal_rows; ++row) {
      double squares = 0;
      for (std::size_t i = 0; i < 3; ++i)
        squares += std::pow(predictions[3 * row + i] - problem.window.targets.values[3 * row + i], 2);
      terms.push_back({p == 0 ? 0.5 : 1.0, squares / 3});
    }
  }
  EXPECT_NEAR(lesson.learner->take_mean_loss(), mean_of(terms), 1e-7);
}

}  // namespace
}  // namespace throughtime::testing

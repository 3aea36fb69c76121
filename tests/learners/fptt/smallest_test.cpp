// FPTT at its smallest sizes: one unit, one row, sequences of one to three steps and every number of windows, against
// its equations written out with gradients by central differences.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <numeric>

#include "learners/fptt/support.h"
#include "support/numeric.h"
#include "throughtime/online.h"

namespace throughtime::testing {
namespace {

constexpr double rate = 0.3, alpha = 0.7;

/// W, W-bar and lambda (the gradient form: the gradient before) of plain steps.
class Equations {
 public:
  Equations(const Problem& problem, FpttForm form)
      : problem_(problem),
        form_(form),
        run_(problem),
        state_(run_.state_numbers(), 0.0),
        w_(problem.parameters),
        average_(problem.parameters),
        lambda_(w_.size(), 0.0) {}

  /// Steps [first, first + length) of the problem are one window.
  void learn(int first, int length) {
    slice(problem_.window, first, length, window_);
    run_.set_window(window_);
    const std::vector<double> g = gradient(w_);
    run_.set_parameters(w_);
    const std::vector<double> next = run_.unroll(state_).final_state;
    const bool of_lambda = form_ == FpttForm::lambda, of_gradient = form_ == FpttForm::gradient;
    for (std::size_t i = 0; i < w_.size(); ++i)
      w_[i] -= rate * (g[i] + (of_lambda || of_gradient ? alpha * (w_[i] - average_[i]) - lambda_[i] : 0));
    if (of_lambda)
      for (std::size_t i = 0; i < w_.size(); ++i) {
        lambda_[i] -= alpha * (w_[i] - average_[i]);
        average_[i] = (average_[i] + w_[i]) / 2 - lambda_[i] / (2 * alpha);
      }
    if (of_gradient) {
      lambda_ = gradient(w_);
      for (std::size_t i = 0; i < w_.size(); ++i) average_[i] = (average_[i] + w_[i]) / 2 - lambda_[i] / (2 * alpha);
    }
    state_ = next;
  }
  const std::vector<double>& weights() const { return w_; }

 private:
  /// Of the window's mean loss, with the state before it held fixed.
  std::vector<double> gradient(const std::vector<double>& at) {
    const double weights = std::accumulate(window_.weight.begin(), window_.weight.end(), 0.0);
    return central_differences(
        [&](std::span<const double> w) {
          run_.set_parameters({w.begin(), w.end()});
          return run_.unroll(state_).loss_sum / weights;
        },
        at);
  }

  const Problem& problem_;
  FpttForm form_;
  EngineRun run_;
  Window window_;
  std::vector<double> state_, w_, average_, lambda_;
};

Problem smallest(int steps) {
  return random_problem({.model = with_head(stack_of("lstm", {1}, 1), "softmax", 2),
                         .steps = steps,
                         .batch = 1,
                         .seed = static_cast<std::uint64_t>(steps)});
}

TEST(FpttSmallest, IsItsEquationsForEveryNumberOfWindows) {
  for (const FpttForm form : {FpttForm::lambda, FpttForm::gradient, FpttForm::ogd})
    for (int T = 1; T <= 3; ++T)
      for (int K = 1; K <= T; ++K) {
        SCOPED_TRACE(fmt::format("{} T {} K {}", name_of(form), T, K));
        const Problem problem = smallest(3 * T);
        Lesson lesson(problem, fptt(K, form, alpha), T, rate);
        lesson.learn_in_stretches(problem.window, {T, T, T});
        Equations equations(problem, form);
        for (int stretch = 0; stretch < 3; ++stretch)
          for (int step = 0; step < T;) {  // with T <= 3 a remainder is one more window of one step
            const int length = std::min(T / K, T - step);
            equations.learn(stretch * T + step, length);
            step += length;
          }
        EXPECT_LT(relative_error(lesson.parameters(), equations.weights()), 1e-8);
      }
}

/// A live stream in windows of one step.
TEST(FpttSmallest, OnAStreamOfSingleStepsIsItsEquations) {
  for (const FpttForm form : {FpttForm::lambda, FpttForm::gradient, FpttForm::ogd}) {
    const Problem problem = smallest(10);
    OnlineConfig config;
    config.learner = {.name = "fptt", .fptt = {.window_length = 1, .form = form, .alpha = alpha}};
    config.optimizer = Lesson::sgd();
    config.rate = rate;
    const auto engine = make_engine(*problem.model, EngineRun::reference());
    OnlineLearner learner(*engine, problem.parameters, config);
    Equations equations(problem, form);
    const Source& source = problem.sources[static_cast<std::size_t>(problem.window.source[0])];
    for (int t = 0; t < 10; ++t) {
      const auto at = static_cast<std::size_t>(problem.window.start[0] + t - source.first);
      learner.observe(0, {.reals = source.values.subspan(at, 1)}, {.label = source.labels[at]});
      equations.learn(t, 1);
    }
    EXPECT_LT(relative_error(engine->Engine::read(learner.parameters()), equations.weights()), 1e-8) << name_of(form);
  }
}

}  // namespace
}  // namespace throughtime::testing

#include <gtest/gtest.h>

#include <cmath>

#include "learners/recording_engine.h"
#include "support/numeric.h"

// TBPTT in closed form on the scalar chain h_t = w h_{t-1} + x_t with loss (h_t - y_t)^2.
namespace throughtime {
namespace {

constexpr double w = 0.8;
constexpr int steps = 14;

/// The chain as a model: one linear unit, input weight 1, read-out 1, no biases. The loss weight is 1 everywhere.
class Chain {
 public:
  Chain() {
    const ModelConfig linear = testing::with_head(testing::stack_of("rnn_linear", {1}, 1), "regression", 1);
    problem_.model = std::make_unique<Model>(linear);
    problem_.parameters.assign(problem_.model->parameters().size(), 0.0);
    const ParameterLayout& layout = problem_.model->parameters();
    problem_.parameters[layout.find("rnn.weight_ih_l0").offset] = 1;
    problem_.parameters[layout.find("rnn.weight_hh_l0").offset] = w;
    problem_.parameters[layout.block(problem_.model->head_weight).offset] = 1;
    problem_.storage.resize(1);
    for (int t = 0; t < steps; ++t) {
      problem_.storage[0].values.push_back(static_cast<float>(std::sin(1.0 + t)));
      problem_.storage[0].target_values.push_back(static_cast<float>(std::cos(0.7 * t)));
    }
    Source source;
    source.steps = steps;
    source.reals = source.target_width = 1;
    source.values = problem_.storage[0].values;
    source.target_values = problem_.storage[0].target_values;
    problem_.sources = {source};
    problem_.window.steps = steps;
    problem_.window.batch = 1;
    problem_.window.sources = problem_.sources;
    problem_.window.start = {0};
    problem_.window.weight.assign(steps, 1.0f);
  }
  const testing::Problem& problem() const { return problem_; }

  /// h after t steps (t = 0: the zero state), as the sum of w^(t-k) x_k.
  double h(int t) const {
    double sum = 0;
    for (int k = 1; k <= t; ++k) sum += std::pow(w, t - k) * problem_.sources[0].values[k - 1];
    return sum;
  }
  /// dL_t/dh_t.
  double slope(int t) const { return 2 * (h(t) - problem_.sources[0].target_values[static_cast<std::size_t>(t - 1)]); }
  /// dL_t/dw with h before cell `first` held fixed: the sum over cells k of w^(t-k) h_{k-1}.
  double loss_gradient(int t, int first) const {
    double sum = 0;
    for (int k = first; k <= t; ++k) sum += std::pow(w, t - k) * h(k - 1);
    return slope(t) * sum;
  }
  /// The mean over losses first_loss..end of a window whose first cell is `first` (cells counted from 1).
  double window_gradient(int first, int first_loss, int end) const {
    double sum = 0;
    for (int t = first_loss; t <= end; ++t) sum += loss_gradient(t, first);
    return sum / (end - first_loss + 1);
  }
  /// dL/dw of each update of a run with rate 0.
  std::vector<double> learned(int cells, int losses, int stride) const {
    const TbpttConfig config{.steps = cells, .losses = losses, .stride = stride};
    testing::Lesson lesson(problem_, config, steps);
    lesson.learn(problem_.window);
    std::vector<double> gradients;
    for (const auto& update : lesson.engine.updates)
      gradients.push_back(update.gradient[problem_.model->parameters().find("rnn.weight_hh_l0").offset]);
    return gradients;
  }

 private:
  testing::Problem problem_;
};

TEST(TbpttChain, IsItsClosedForm) {
  const Chain chain;
  for (const int cells : {1, 2, 4, 7, 20})
    for (const int stride : {1, 2, 3, 4}) {
      const int losses = std::min(cells, stride);
      const std::vector<double> got = chain.learned(cells, losses, stride);
      std::vector<double> wanted;
      for (int before = 0; before < steps; before += stride) {
        const int end = std::min(before + stride, steps);
        const int left = std::min(losses, end - before);
        wanted.push_back(chain.window_gradient(std::max(1, end - cells + 1), end - left + 1, end));
      }
      EXPECT_LT(testing::relative_error(got, wanted), 1e-12) << "cells " << cells << " stride " << stride;
    }
}

TEST(TbpttChain, PullsTheStartStateBackInClosedForm) {
  const Chain chain;
  testing::EngineRun run(chain.problem());
  run.unroll();
  double wanted = 0;
  for (int t = 1; t <= steps; ++t) wanted += chain.slope(t) * std::pow(w, t);
  EXPECT_NEAR(run.pull_back().initial_cotangent[0], wanted, 1e-12);
}

TEST(TbpttChain, LossesAreNotCountedAgainByTheWindowsThatLookBackOverThem) {
  // The trap: overlapping windows that carry a loss at every cell count each loss cells / stride times.
  const Chain chain;
  const int cells = 6, stride = 2;
  double counted_once = 0, counted_again = 0;
  for (int end = stride; end <= steps; end += stride) {
    const int first = std::max(1, end - cells + 1);
    for (int t = end - stride + 1; t <= end; ++t) counted_once += chain.loss_gradient(t, first);
    for (int t = first; t <= end; ++t) counted_again += chain.loss_gradient(t, first);
  }
  double got = 0;
  for (const double gradient : chain.learned(cells, stride, stride)) got += stride * gradient;
  EXPECT_NEAR(got, counted_once, 1e-12);
  EXPECT_GT(std::abs(counted_again - counted_once), 0.2 * std::abs(counted_once));
}

}  // namespace
}  // namespace throughtime

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>

#include "support/errors.h"
#include "support/random_problem.h"
#include "tasks/task_support.h"
#include "throughtime/engine.h"

namespace throughtime::testing {
namespace {

double entropy(double p) { return p <= 0 || p >= 1 ? 0.0 : -p * std::log(p) - (1 - p) * std::log(1 - p); }

TEST(CycleWorld, IsOneOnceInARound) {
  for (const int period : {2, 6, 10}) {
    const auto task = make_task(CycleWorldConfig{.length = 17, .period = period}, 1);
    for (std::uint64_t batch = 0; batch < 5; ++batch) {
      const Window& window = task->make_batch(Split::train, batch, 3);
      for (int row = 0; row < 3; ++row)
        for (int step = 0; step < window.steps; ++step) {
          const std::int64_t phase = (window.start[static_cast<std::size_t>(row)] + step + 1 + row) % period;
          EXPECT_EQ(token_at(window, step, row), phase == 0);
          EXPECT_EQ(label_at(window, step, row), phase == period - 1);
        }
    }
    EXPECT_DOUBLE_EQ(task->baseline(), (period - 1.0) / period);
  }
}

/// Accuracy and cross-entropy of the best predictor that knows the last `seen` observations and nothing else: for each
/// text of them the share of ones that follow it, counted on the task's own steps over whole rounds.
std::array<double, 2> windowed_optimum(int period, int seen) {
  const auto task = make_task(CycleWorldConfig{.length = 20 * period, .period = period}, 1);
  const Window& window = task->make_batch(Split::train, 1, 1);
  struct Counts {
    double all = 0, ones = 0;
  };
  std::map<std::vector<int>, Counts> after;
  const int counted = 10 * period;
  for (int step = seen; step < seen + counted; ++step) {
    std::vector<int> view;
    for (int back = 0; back < seen; ++back) view.push_back(token_at(window, step - back, 0));
    Counts& counts = after[view];
    ++counts.all;
    counts.ones += label_at(window, step, 0);
  }
  double accuracy = 0, loss = 0;
  for (const auto& [view, counts] : after) {
    const double p = counts.ones / counts.all;
    accuracy += counts.all * std::max(p, 1 - p) / counted;
    loss += counts.all * entropy(p) / counted;
  }
  return {accuracy, loss};
}

TEST(CycleWorld, ShortViewsHaveTheExactOptimaOfTheSpecification) {
  const auto expect = [](int period, int seen, double wanted) {
    const auto [accuracy, loss] = windowed_optimum(period, seen);
    EXPECT_NEAR(loss, wanted, seen == 0 ? 5e-8 : 5e-7) << period << " " << seen;
    EXPECT_NEAR(accuracy, seen >= period - 1 ? 1.0 : (period - 1.0) / period, 1e-12);
  };
  expect(6, 0, 0.4505612);  // nothing seen: a constant probability
  expect(10, 0, 0.3250830);
  expect(6, 2, 0.374890);
  expect(6, 4, 0.231049);
  expect(10, 3, 0.287081);
  expect(10, 5, 0.250201);
  expect(10, 8, 0.138629);
  expect(6, 5, 0);
  expect(10, 9, 0);
}

/// What a net that cannot see scores: the loss and the accuracy of the head on the task's steps, with the
/// probability `ones` of a one at every step.
std::array<double, 2> constant_prediction(int period, double ones) {
  ModelConfig config = with_head(stack_of("rnn_tanh", {1}, 0), "softmax", 2);
  config.input.vocabulary = 2;
  const Model model(config);
  const auto engine = make_engine(model, {.name = "reference", .threads = 1, .communicator = nullptr});
  std::vector<double> parameters(model.parameters().size(), 0.0);
  const std::size_t bias = model.parameters().find("head.bias").offset;
  parameters[bias] = std::log(1 - ones);
  parameters[bias + 1] = std::log(ones);
  const Buffer weights = engine->allocate(parameters.size()), loss = engine->allocate(1), correct = engine->allocate(1);
  engine->write(weights, parameters);
  const auto task = make_task(CycleWorldConfig{.length = 7 * period, .period = period}, 1);
  const Window& window = task->make_batch(Split::train, 0, 3);
  const auto tape = engine->make_tape({window.steps, window.batch, Keep::nothing});
  engine->unroll({.window = window, .parameters = weights, .tape = *tape, .loss_sum = loss, .correct_sum = correct});
  const double count = window.steps * window.batch;
  return {engine->read(correct)[0] / count, engine->read(loss)[0] / count};
}

TEST(CycleWorld, AConstantProbabilityHasTheLossOfTheSpecification) {
  for (const auto& [period, wanted] : {std::pair{6, 0.4505612}, std::pair{10, 0.3250830}}) {
    const auto [accuracy, loss] = constant_prediction(period, 1.0 / period);
    EXPECT_NEAR(loss, wanted, 5e-8);
    EXPECT_NEAR(loss, entropy(1.0 / period), 1e-12);
    EXPECT_NEAR(accuracy, (period - 1.0) / period, 1e-12);
    for (const double other : {0.9 / period, 1.1 / period, 0.5}) EXPECT_GT(constant_prediction(period, other)[1], loss);
  }
}

/// Mean cross-entropies of predictors that know no lag, one of them, or both, over a million steps of the task.
struct WorldLosses {
  double none = 0, first = 0, second = 0, both = 0, ones = 0;
};

WorldLosses world_losses(const std::vector<int>& lags) {
  const auto task = make_task(StochasticWorldConfig{.length = 10000, .lags = lags}, 5);
  WorldLosses losses;
  double count = 0;
  const auto loss = [](double p, int label) { return -std::log(label == 1 ? p : 1 - p); };
  for (std::uint64_t batch = 0; batch < 10; ++batch) {
    const Window& window = task->make_batch(Split::test, batch, 10);
    for (int row = 0; row < 10; ++row)
      for (int step = lags[1]; step < window.steps; ++step) {
        const int early = token_at(window, step - lags[0], row), late = token_at(window, step - lags[1], row);
        const int label = label_at(window, step, row);
        losses.none += loss(0.625, label);
        losses.first += loss(early ? 0.875 : 0.375, label);
        losses.second += loss(late ? 0.5 : 0.75, label);
        losses.both += loss(0.5 + 0.5 * early - 0.25 * late, label);
        losses.ones += label;
        ++count;
      }
  }
  for (double* sum : {&losses.none, &losses.first, &losses.second, &losses.both, &losses.ones}) *sum /= count;
  return losses;
}

TEST(StochasticWorld, HasTheExactEntropiesOfTheSpecification) {
  EXPECT_NEAR(entropy(5.0 / 8), 0.6615632, 5e-8);
  EXPECT_NEAR((entropy(3.0 / 8) + entropy(7.0 / 8)) / 2, 0.5191667, 5e-8);
  EXPECT_NEAR((entropy(3.0 / 4) + entropy(1.0 / 2)) / 2, 0.6277412, 5e-8);
  EXPECT_NEAR((std::log(2) + 2 * entropy(1.0 / 4)) / 4, 0.4544544, 5e-8);
  for (const std::vector<int>& lags : {std::vector<int>{5, 12}, std::vector<int>{15, 30}}) {
    const WorldLosses losses = world_losses(lags);
    EXPECT_NEAR(losses.none, 0.6615632, 1e-3);
    EXPECT_NEAR(losses.first, 0.5191667, 2e-3);
    EXPECT_NEAR(losses.second, 0.6277412, 1e-3);
    EXPECT_NEAR(losses.both, 0.4544544, 1.5e-3);  // infinite where a certain target is missed
    EXPECT_NEAR(losses.ones, 0.625, 2e-3);
    EXPECT_NEAR(make_task(StochasticWorldConfig{.lags = lags}, 1)->baseline(), 0.6615632, 5e-8);
  }
}

TEST(StochasticWorld, InputsBeforeTheStartAreZero) {
  // Until the first lag has passed, a target is a fair bit.
  const auto task = make_task(StochasticWorldConfig{.length = 5}, 1);
  const Window& window = task->make_batch(Split::train, 0, 20000);
  double ones = 0;
  for (int row = 0; row < window.batch; ++row)
    for (int step = 0; step < 5; ++step) ones += label_at(window, step, row);
  EXPECT_NEAR(ones / 1e5, 0.5, 4 * 0.5 / std::sqrt(1e5));
}

TEST(StochasticWorld, RefusesOtherThanTwoLags) {
  EXPECT_REFUSED(make_task(StochasticWorldConfig{.lags = {5}}, 1), "two different numbers");
  EXPECT_REFUSED(make_task(StochasticWorldConfig{.lags = {5, 5}}, 1), "two different numbers");
}

}  // namespace
}  // namespace throughtime::testing

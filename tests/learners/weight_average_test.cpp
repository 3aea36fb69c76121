#include "throughtime/weight_average.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

#include "support/engine_run.h"
#include "support/numeric.h"
#include "support/random_problem.h"

namespace throughtime::testing {
namespace {

const Model& small_model() {
  static const Model model(stack_of("rnn_tanh", {2}));
  return model;
}

/// The validation of a made-up curve after which averaging begins; -1: it never does.
int begins_at(OptimizerConfig config, const std::vector<double>& curve) {
  config.average = Averaging::non_monotone;
  const auto engine = make_engine(small_model(), {.name = "reference"});
  WeightAverage average(*engine, config, 3);
  int first = -1;
  for (std::size_t i = 0; i < curve.size(); ++i)
    if (average.observe_validation(curve[i], 10 * static_cast<std::int64_t>(i + 1))) {
      EXPECT_EQ(first, -1) << "it begins once";
      first = static_cast<int>(i);
    }
  return first;
}

/// The rule as the authors write it, with the whole list.
int written_out(const OptimizerConfig& config, const std::vector<double>& curve) {
  std::vector<double> logged;
  const auto patience = static_cast<std::size_t>(config.average_patience);
  for (std::size_t i = 0; i < curve.size(); ++i) {
    if (config.average_test == AverageTest::after) logged.push_back(curve[i]);
    if (logged.size() > patience &&
        curve[i] > *std::min_element(logged.begin(), logged.end() - static_cast<std::ptrdiff_t>(patience)))
      return static_cast<int>(i);
    if (config.average_test == AverageTest::before) logged.push_back(curve[i]);
  }
  return -1;
}

TEST(NonMonotone, WaitsUntilALossIsWorseThanOneBeyondThePatience) {
  // The 3 of the second validation is the best; two validations are forgiven.
  const std::vector<double> curve = {5, 3, 4, 3.5, 3.2, 3.1};
  EXPECT_EQ(begins_at({.average_patience = 2, .average_test = AverageTest::before}, curve), 4);
  EXPECT_EQ(begins_at({.average_patience = 2, .average_test = AverageTest::after}, curve), 3);
  EXPECT_EQ(begins_at({.average_patience = 5}, curve), -1) << "the first validation is the only one beyond";
  EXPECT_EQ(begins_at({.average_patience = 1}, {4, 3, 2, 1, 0.5}), -1) << "it goes on improving";
  EXPECT_EQ(begins_at({.average_patience = 1}, {2, 2, 2, 2}), -1) << "as good is not worse";
  EXPECT_EQ(begins_at({.average_patience = 1, .average_test = AverageTest::after}, {2, 2.1}), 1);
  EXPECT_EQ(begins_at({.average_patience = 1}, {}), -1);
}

RC_GTEST_PROP(NonMonotone, IsTheRuleOfTheAuthors, ()) {
  OptimizerConfig config;
  config.average_patience = *rc::gen::inRange(1, 5);
  config.average_test = *rc::gen::element(AverageTest::before, AverageTest::after);
  const auto steps = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 12));
  const std::vector<double> curve(steps.begin(), steps.end());
  RC_ASSERT(begins_at(config, curve) == written_out(config, curve));
}

/// An engine.
class AverageOfWeights : public ::testing::TestWithParam<std::string> {};

TEST_P(AverageOfWeights, IsTheMeanOfTheWeightsSinceItBegan) {
  constexpr std::size_t size = 37;
  const double tolerance = GetParam() == "reference" ? 1e-14 : 1e-6;
  for (const Averaging when : {Averaging::always, Averaging::non_monotone})
    for (const std::int64_t from : {0, 1, 4}) {
      const auto engine = make_engine(small_model(), {.name = GetParam()});
      WeightAverage average(*engine, {.average_from = from, .average = when, .average_patience = 1}, size);
      const Buffer weights = engine->allocate(size);
      const std::int64_t begins = when == Averaging::always ? 0 : 6;
      std::vector<double> sum(size, 0.0);
      for (std::int64_t step = 1; step <= 20; ++step) {
        const std::vector<double> now = random_numbers(size, static_cast<std::uint64_t>(step));
        engine->write(weights, now);
        average.follow(weights, step);
        if (step == 5 || step == 6) {
          EXPECT_EQ(average.observe_validation(step, step), false);
        }
        if (step == 6) {
          EXPECT_EQ(average.observe_validation(7, step), when == Averaging::non_monotone);
        }
        const std::int64_t averaged = step - begins - from;
        const Buffer mean = average.mean(step);
        ASSERT_EQ(static_cast<bool>(mean), averaged > 0) << step;
        if (averaged <= 0) continue;
        for (std::size_t i = 0; i < size; ++i) sum[i] += now[i];
        std::vector<double> wanted = sum;
        for (double& value : wanted) value /= static_cast<double>(averaged);
        EXPECT_LT(relative_error(engine->read(mean), wanted), tolerance) << step;
      }
    }
}

TEST_P(AverageOfWeights, LeavesOutTheStepsOfAnEarlierTraining) {
  const auto engine = make_engine(small_model(), {.name = GetParam()});
  WeightAverage average(*engine, {.average_from = 0, .average = Averaging::always}, 2);
  const Buffer weights = engine->allocate(2);
  EXPECT_FALSE(average.mean(100));
  for (const std::int64_t step : {101, 102}) {
    engine->write(weights, step == 101 ? std::vector<double>{1, -2} : std::vector<double>{3, 4});
    average.follow(weights, step);
  }
  EXPECT_EQ(engine->Engine::read(average.mean(102)), (std::vector<double>{2, 1}));
}

INSTANTIATE_TEST_SUITE_P(Engines, AverageOfWeights, ::testing::Values("reference", "cpu"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace throughtime::testing

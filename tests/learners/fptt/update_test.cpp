// Oracles O3, O4, O9 and O12 of the FPTT specification: the update of W, W-bar and lambda itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "learners/fptt/support.h"
#include "learners/state_editor.h"
#include "support/numeric.h"

namespace throughtime::testing {
namespace {

class FpttUpdate : public FpttOnEngine {};
INSTANTIATE_TEST_SUITE_P(Engines, FpttUpdate, ::testing::Values("reference", "cpu"),
                         [](const auto& info) { return info.param; });

TEST_P(FpttUpdate, TheAverageIsTheIterateMinusHalfTheLastMultiplierOverAlpha) {
  // I1: W-bar' = W' - lambda / (2 alpha) for b = 1/2 and any optimizer, with the lambda before the update.
  constexpr std::size_t size = 40000;  // several blocks and a tail
  for (const std::string rule : {"sgd", "momentum", "adam"}) {
    BareUpdate run(GetParam(), rule, random_numbers(size, 1));
    std::vector<double> before(size);
    for (int i = 0; i < 5; ++i) {
      run.step(random_numbers(size, 10 + i), 0.05, 0.5);
      auto wanted = run.read(run.weights);
      for (std::size_t k = 0; k < size; ++k) wanted[k] -= before[k] / (2 * 0.5);
      EXPECT_LT(relative_error(run.read(run.average), wanted), GetParam() == "reference" ? 1e-12 : 1e-6) << rule;
      before = run.read(run.multiplier);
    }
  }
}

TEST_P(FpttUpdate, IdentitiesHoldOfRawWeightsUnderMasksAndPenalties) {
  // I1, I2 and I3 with b = 1/2: W-bar' = W' - lambda / (2 alpha), lambda'' = lambda' - lambda / 2 - alpha (W'' - W'),
  // and so |W - W-bar| = |lambda of the window before| / (2 alpha). Masks differ from window to window.
  constexpr double alpha = 0.5;
  for (const char* head : {"softmax", "mixture_of_softmaxes"}) {
    ProblemSpec spec{.model = stack_of("lstm", {5, 4}, 0), .steps = 4, .batch = 3};
    spec.model.input = {.vocabulary = 6, .tokens = TokenInput::embedding, .embedding = 4};
    spec.model.head = {.name = head, .outputs = 6, .tied = true};
    spec.model.dropout.recurrent = 0.5;
    spec.model.dropout.embedding = 0.3;
    spec.model.penalties = {.activation = 2, .slowness = 1};
    Problem problem = random_problem(spec);
    const auto engine = make_engine(*problem.model, {.name = GetParam(), .threads = 2, .communicator = nullptr});
    Trainee trainee = make_trainee(*engine, problem.parameters, optimizer("adam"), {.value = 0, .norm = 1});
    const auto learner = make_learner(fptt(1, FpttForm::lambda, alpha), trainee, {problem.window.steps, 3});
    const std::size_t size = problem.parameters.size();
    std::vector<double> w = problem.parameters, lambda(size), before(size);
    for (std::uint64_t window = 0; window < 6; ++window) {
      problem.window.mask_key = window;
      learner->learn(problem.window, constant(0.05));
      StateEditor state;
      learner->archive(state);
      const auto moved = engine->read(trainee.parameters);
      std::vector<double> average = moved, filtered = lambda, distance = moved, half = lambda;
      for (std::size_t k = 0; k < size; ++k) {
        average[k] -= lambda[k] / (2 * alpha);
        filtered[k] -= before[k] / 2 + alpha * (moved[k] - w[k]);
        distance[k] -= state.buffers["average"][k];
        half[k] /= 2 * alpha;
      }
      const double close = GetParam() == "reference" ? 1e-12 : 1e-5;
      EXPECT_LT(relative_error(state.buffers["average"], average), close) << window;
      EXPECT_LT(relative_error(state.buffers["multiplier"], filtered), close) << window;
      EXPECT_NEAR(norm(distance), norm(half), close * norm(moved)) << window;
      w = moved;
      before = lambda;
      lambda = state.buffers["multiplier"];
    }
  }
}

TEST_P(FpttUpdate, AConstantGradientHasTheSteadyStepOfEachPenalty) {
  for (const auto& [penalty, step, lambda] : {std::array{1.0, 1 / 1.2, 1 / 3.0}, std::array{2.0, 1.0, 0.4}}) {
    BareUpdate run(GetParam(), "sgd", {0.0});
    double last = 0;
    for (int i = 0; i < 80; ++i) {
      last = run.read(run.weights)[0];
      run.step({1.0}, 0.4, 0.5, penalty);
    }
    EXPECT_NEAR((run.read(run.weights)[0] - last) / -0.4, step, 1e-4);
    EXPECT_NEAR(run.read(run.multiplier)[0], lambda, 1e-5);
  }
}

TEST_P(FpttUpdate, TheMultiplierIsADampedFilterOfTheLastSteps) {
  // I2: lambda'' = lambda' - lambda / 2 - alpha (W'' - W'), whatever the optimizer.
  constexpr std::size_t size = 300;
  constexpr double alpha = 0.5;
  for (const std::string rule : {"sgd", "momentum", "adam"}) {
    BareUpdate run(GetParam(), rule, random_numbers(size, 1));
    std::vector<double> before(size), last(size);
    for (int i = 0; i < 6; ++i) {
      const auto w = run.read(run.weights);
      run.step(random_numbers(size, 10 + i), 0.05, alpha);
      std::vector<double> wanted = last;
      const auto moved = run.read(run.weights);
      for (std::size_t k = 0; k < size; ++k) wanted[k] -= before[k] / 2 + alpha * (moved[k] - w[k]);
      const auto lambda = run.read(run.multiplier);
      EXPECT_LT(distance(lambda, wanted), GetParam() == "reference" ? 1e-12 : 1e-5) << rule;
      before = last;
      last = lambda;
    }
  }
}

TEST_P(FpttUpdate, TheMultiplierRingsAfterOneStep) {
  BareUpdate run(GetParam(), "sgd", {0.0});
  constexpr double alpha = 0.25;
  run.step({-1.0}, 1, alpha);
  for (const double wanted : {1.0, 1.0, 0.5, 0.0, -0.25, -0.25, -0.125, 0.0}) {
    EXPECT_NEAR(-run.read(run.multiplier)[0] / alpha, wanted, tolerance());
    run.step({0.0}, 0, alpha);
  }
}

/// The update written out for one number.
class Written {
 public:
  Written(std::string rule, double start) : rule_(std::move(rule)), w(start), average(start) {}

  void step(double g, double rate, double alpha, double penalty, double b) {
    const double total = g - lambda + penalty * alpha * (w - average);
    if (rule_ == "sgd") w -= rate * total;
    if (rule_ == "momentum") w -= rate * (first_ = 0.9 * first_ + total);
    if (rule_ == "adam") {
      first_ = 0.9 * first_ + 0.1 * total;
      second_ = 0.999 * second_ + 0.001 * total * total;
      ++count_;
      w -= rate * first_ / (1 - std::pow(0.9, count_)) / (std::sqrt(second_ / (1 - std::pow(0.999, count_))) + 1e-8);
    }
    lambda -= alpha * (w - average);
    average = (1 - b) * average + b * w - b / alpha * lambda;
  }

 private:
  std::string rule_;
  double first_ = 0, second_ = 0;
  int count_ = 0;

 public:
  double w, average, lambda = 0;
};

TEST_P(FpttUpdate, IsTheWrittenOneForEveryOptimizerPenaltyAndAveraging) {
  for (const std::string rule : {"sgd", "momentum", "adam"})
    for (const double penalty : {1.0, 2.0})
      for (const double b : {0.5, 0.7}) {
        BareUpdate run(GetParam(), rule, {3.0});
        Written written(rule, 3.0);
        for (int i = 0; i < 30; ++i) {
          const double g = run.read(run.weights)[0] - 1;
          run.step({g}, 0.02, 0.5, penalty, b);
          written.step(g, 0.02, 0.5, penalty, b);
          const double bound = GetParam() == "reference" ? 1e-12 : 2e-5;
          EXPECT_NEAR(run.read(run.weights)[0], written.w, bound) << rule;
          EXPECT_NEAR(run.read(run.average)[0], written.average, bound) << rule;
          EXPECT_NEAR(run.read(run.multiplier)[0], written.lambda, bound) << rule;
        }
      }
}

struct Threshold {
  std::string rule;
  double penalty, averaging, bound, margin;
};

TEST_P(FpttUpdate, IsStableUpToThePredictedProductOfRateAndAlpha) {
  // Zero curvature: where the largest eigenvalue of the linear recursion in (W - W-bar, lambda, momentum) passes one.
  for (const Threshold& row : {Threshold{"sgd", 1, 0.5, 5.0 / 3, 0.01}, Threshold{"sgd", 2, 0.5, 5.0 / 4, 0.01},
                               Threshold{"momentum", 1, 0.5, 3.167, 0.01}, Threshold{"momentum", 2, 0.5, 2.376, 0.01},
                               Threshold{"sgd", 1, 0.7, 2.112, 0.01}, Threshold{"sgd", 2, 0.7, 1.751, 0.01},
                               Threshold{"momentum", 2, 0.7, 0.176, 0.03}}) {
    const auto size_after = [&](double product) {
      BareUpdate run(GetParam(), row.rule, {1.0});
      run.engine().write(run.average, std::vector<double>{0.3});
      run.engine().write(run.multiplier, std::vector<double>{0.7});
      double size = 0;
      for (int i = 0; i < 3000 && size < 1e3; ++i) {
        run.step({0.0}, product, 1.0, row.penalty, row.averaging);
        size = std::max(size * 0.9, std::abs(run.read(run.multiplier)[0]));  // it turns: keep an envelope
      }
      return size;
    };
    EXPECT_LT(size_after(row.bound * (1 - row.margin)), 0.05) << row.rule << row.penalty << row.averaging;
    EXPECT_GT(size_after(row.bound * (1 + row.margin)), 1e2) << row.rule << row.penalty << row.averaging;
  }
}

TEST_P(FpttUpdate, TheRegularisersGradientIsThatOfItsLossTerm) {
  // -<W, lambda> + m alpha / 2 |W - W-bar|^2 at a gradient of zero; a rate of zero leaves W.
  constexpr std::size_t size = 7;
  BareUpdate run(GetParam(), "sgd", random_numbers(size, 1));
  const auto w = run.read(run.weights);
  run.engine().write(run.average, random_numbers(size, 2));
  run.engine().write(run.multiplier, random_numbers(size, 3));
  const auto average = run.read(run.average), lambda = run.read(run.multiplier);
  const auto term = [&](std::span<const double> at) {
    double sum = 0;
    for (std::size_t i = 0; i < size; ++i)
      sum += -at[i] * lambda[i] + 2 * 0.7 / 2 * (at[i] - average[i]) * (at[i] - average[i]);
    return sum;
  };
  run.step(std::vector<double>(size), 0, 0.7, 2);
  EXPECT_LT(relative_error(run.read(run.gradient), central_differences(term, w)), 1e-6);
  const auto norms = run.read(run.diagnostics);
  EXPECT_NEAR(norms[1], norm(run.read(run.gradient)), 1e-5);
  EXPECT_EQ(norms[0], 0);
}

TEST_P(FpttUpdate, ClipsLossAndRegulariserTogether) {
  BareUpdate run(GetParam(), "sgd", {0.0, 0.0});
  run.engine().write(run.multiplier, std::vector<double>{-4.0, 0.0});
  run.engine().write(run.gradient, std::vector<double>{0.0, 3.0});
  const DynamicRegulariser terms{run.average, run.multiplier, 1.0};
  const auto state = run.engine().make_optimizer(optimizer("sgd"), run.weights);
  const Buffer norm_of = run.engine().allocate(1);
  run.engine().apply_update({.target = run.weights,
                             .gradient = run.gradient,
                             .optimizer = *state,
                             .rate = 1,
                             .clip = {.value = 0, .norm = 1},
                             .norm = norm_of,
                             .regulariser = &terms});
  EXPECT_NEAR(run.read(norm_of)[0], 5, 1e-6);
  EXPECT_NEAR(run.read(run.weights)[0], -0.8, 1e-6);
  EXPECT_NEAR(run.read(run.weights)[1], -0.6, 1e-6);
}

}  // namespace
}  // namespace throughtime::testing

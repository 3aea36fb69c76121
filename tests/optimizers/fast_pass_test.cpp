#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/targets.h"
#include "throughtime/optimizer.h"
#include "throughtime/random.h"

namespace throughtime {
namespace {

constexpr std::size_t guard = 16;  // numbers before and behind each vector that no pass may touch

/// A vector at a chosen misalignment, in both number types, with guards around the floats.
struct Twin {
  Twin(std::size_t size, std::size_t shift)
      : fast(guard + shift + size + guard, -7.0f), plain(size), begin(guard + shift) {}
  float* data() { return fast.data() + begin; }
  void set(std::size_t i, double value) {
    data()[i] = static_cast<float>(value);
    plain[i] = data()[i];
  }
  /// The worst error of the floats, relative to a number's size before and after; takes the floats over.
  double take_error(const std::vector<double>& before) {
    double worst = guards_hold() ? 0 : HUGE_VAL;
    for (std::size_t i = 0; i < plain.size(); ++i) {
      const double error = std::abs(data()[i] - plain[i]) / (std::abs(before[i]) + std::abs(plain[i]) + 1e-30);
      worst = std::isfinite(error) ? std::max(worst, error) : HUGE_VAL;
      plain[i] = data()[i];
    }
    return worst;
  }
  bool guards_hold() const {
    for (std::size_t i = 0; i < fast.size(); ++i)
      if ((i < begin || i >= begin + plain.size()) && fast[i] != -7.0f) return false;
    return true;
  }
  std::vector<float> fast;
  std::vector<double> plain;
  std::size_t begin;
};

/// The worst relative error of some updates, each from the same numbers in both passes.
double difference(const OptimizerType& type, std::size_t size, std::size_t shift, double clip_value) {
  OptimizerConfig config;
  config.name = type.name;
  config.weight_decay = 0.01;
  const Random random(size * 31 + shift, Purpose::sampling);
  Twin weights(size, shift), gradient(size, (shift * 5 + 3) % 16);
  std::vector<Twin> moments(static_cast<std::size_t>(type.moments), Twin(size, (shift * 3 + 1) % 16));
  std::vector<float*> fast;
  std::vector<double*> plain;
  // Weights of size 2 or more, gradients of the same sign: nothing cancels, so all numbers stay relatively accurate.
  const auto signed_number = [&](int step, std::size_t i, double least) {
    const double size = std::abs(random.normal(static_cast<std::uint64_t>(step), 0, i)) + least;
    return i % 3 == 1 ? -size : size;
  };
  for (std::size_t i = 0; i < size; ++i) weights.set(i, signed_number(0, i, 2));
  for (int k = 0; k < type.moments; ++k) {
    Twin& moment = moments[static_cast<std::size_t>(k)];
    for (std::size_t i = 0; i < size; ++i) moment.set(i, type.first_moment);
    fast.push_back(moment.data());
    plain.push_back(moment.plain.data());
  }
  double worst = 0;
  for (int step = 1; step <= 20; ++step) {
    for (std::size_t i = 0; i < size; ++i) gradient.set(i, signed_number(step, i, 1e-3));
    std::vector<std::vector<double>> before = {weights.plain};
    for (const Twin& moment : moments) before.push_back(moment.plain);
    const UpdateCoefficients k = type.coefficients(config, step, 0.01);
    type.reference(k, size, 0.25, clip_value, gradient.plain.data(), weights.plain.data(), plain.data());
    type.fast()(k, size, 0.25f, static_cast<float>(clip_value), gradient.data(), weights.data(), fast.data());
    worst = std::max(worst, weights.take_error(before[0]));
    for (std::size_t m = 0; m < moments.size(); ++m) worst = std::max(worst, moments[m].take_error(before[m + 1]));
  }
  return worst;
}

/// Those of the library's own use too.
std::vector<const OptimizerType*> every_rule() {
  std::vector<const OptimizerType*> rules = all_optimizers();
  rules.push_back(&find_optimizer("anchored"));
  return rules;
}

TEST(FastPass, EqualsTheReferenceAtEveryLengthAndMisalignment) {
  testing::for_each_instruction_set([](const char* instructions) {
    for (const OptimizerType* type : every_rule()) {
      double worst = 0;
      for (std::size_t size = 1; size <= 70; ++size)
        for (std::size_t shift = size % 4; shift < 16; shift += 5)
          worst = std::max(worst, difference(*type, size, shift, size % 2 ? 0.5 : 0.0));
      EXPECT_LT(worst, 1e-6) << type->name << ", " << instructions;
    }
  });
}

TEST(FastPass, EqualsTheReferenceOnALongVector) {
  for (const OptimizerType* type : every_rule()) EXPECT_LT(difference(*type, 4567, 3, 0.0), 1e-6) << type->name;
}

TEST(FastPass, TouchesNothingOfAnEmptyVector) {
  for (const OptimizerType* type : all_optimizers()) EXPECT_EQ(difference(*type, 0, 0, 0.0), 0.0) << type->name;
}

TEST(FastPass, SteadyGradientsKeepMeanSquaresExact) {
  // The mean square of a constant gradient must stay where it is: no drift from a decay that was rounded to float.
  const OptimizerType& adam = find_optimizer("adam");
  std::vector<float> weights(19, 1.0f), gradient(19, 0.3f), first(19, 0.3f), second(19, 0.3f * 0.3f);
  float* moments[] = {first.data(), second.data()};
  for (int step = 1; step <= 20000; ++step)
    adam.fast()(adam.coefficients({}, step, 0.0), 19, 1.0f, 0.0f, gradient.data(), weights.data(), moments);
  for (int i = 0; i < 19; ++i) EXPECT_NEAR(second[i] / (0.3f * 0.3f), 1.0, 5e-7);
}

TEST(FastPass, KeepsAGradientThatIsNoNumberUnderClipping) {
  testing::for_each_instruction_set([](const char* instructions) {
    for (const OptimizerType* type : all_optimizers()) {
      std::vector<float> weights(33, 1.0f), gradient(33, 1.0f), first(33, 1.0f), second(33, 1.0f);
      gradient[2] = gradient[32] = std::numeric_limits<float>::quiet_NaN();
      float* moments[] = {first.data(), second.data()};
      OptimizerConfig config;
      config.name = type->name;
      type->fast()(type->coefficients(config, 1, 0.1), 33, 1.0f, 0.5f, gradient.data(), weights.data(), moments);
      EXPECT_TRUE(std::isnan(weights[2]) && std::isnan(weights[32])) << type->name << ", " << instructions;
      EXPECT_TRUE(std::isfinite(weights[3]) && std::isfinite(weights[31])) << type->name << ", " << instructions;
    }
  });
}

}  // namespace
}  // namespace throughtime

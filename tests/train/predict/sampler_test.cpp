#include "train/predict/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace throughtime {
namespace {

/// How often each class is drawn where `uniform` takes evenly spaced values.
std::vector<double> shares(const std::vector<double>& probabilities, const SamplingOptions& options) {
  constexpr int draws = 20000;
  std::vector<double> counts(probabilities.size());
  for (int i = 0; i < draws; ++i) {
    const std::int32_t drawn = draw_class(probabilities, options, (i + 0.5) / draws);
    counts.at(static_cast<std::size_t>(drawn)) += 1.0 / draws;
  }
  return counts;
}

/// By the definition: all but the largest `top` are impossible, the others get p^(1/T), and all is divided by the sum.
std::vector<double> brute_force(const std::vector<double>& probabilities, const SamplingOptions& options) {
  std::vector<double> expected(probabilities.size());
  double sum = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    int before = 0;
    for (std::size_t k = 0; k < expected.size(); ++k)
      before += probabilities[k] > probabilities[i] || (probabilities[k] == probabilities[i] && k < i);
    if (options.top == 0 || before < options.top) expected[i] = std::pow(probabilities[i], 1 / options.temperature);
    sum += expected[i];
  }
  for (double& share : expected) share /= sum;
  return expected;
}

TEST(Sampler, TemperatureAndTopAreThoseOfTheDefinition) {
  const std::vector<std::vector<double>> cases = {
      {1.0}, {0.25, 0.75}, {0.2, 0.5, 0.1, 0.2}, {0.25, 0.25, 0.25, 0.25}, {0.5, 0.0, 0.5}};
  for (const std::vector<double>& probabilities : cases)
    for (const double temperature : {0.25, 0.8, 1.0, 3.0})
      for (const int top : {0, 1, 2, 3, 40}) {
        const SamplingOptions options{.temperature = temperature, .top = top};
        const std::vector<double> drawn = shares(probabilities, options), wanted = brute_force(probabilities, options);
        for (std::size_t i = 0; i < wanted.size(); ++i)
          EXPECT_NEAR(drawn[i], wanted[i], 1e-4) << "class " << i << ", T " << temperature << ", top " << top;
      }
}

TEST(Sampler, WithoutTemperatureTheMostProbableIsDrawnAndOfEqualsTheFirst) {
  for (const double uniform : {0.0, 0.5, 0.999999999}) {
    EXPECT_EQ(draw_class({0.1, 0.6, 0.3}, {.temperature = 0}, uniform), 1);
    EXPECT_EQ(draw_class({0.5, 0.5}, {.temperature = 0}, uniform), 0);
    EXPECT_EQ(draw_class({0.4, 0.6}, {.temperature = 1e-300}, uniform), 1);
    EXPECT_EQ(draw_class({0.4, 0.6}, {.top = 1}, uniform), 1);
  }
}

}  // namespace
}  // namespace throughtime

// The double kernels of every head: gradients against central differences, losses against their definitions.
#include <gtest/gtest.h>

#include <cmath>

#include "support/numeric.h"
#include "throughtime/head.h"
#include "throughtime/random.h"

namespace throughtime {
namespace {

using testing::central_differences;
using testing::relative_error;

std::vector<double> draw(std::size_t count, double scale, std::uint64_t seed) {
  const Random random(seed, Purpose::sampling);
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = scale * random.normal(0, 0, i);
  return values;
}

/// Numbers in [0, 1): targets that every head takes; for softmax a q whose sum is not 1.
std::vector<double> draw_targets(std::size_t count, std::uint64_t seed) {
  const Random random(seed, Purpose::task);
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = random.uniform(0, 0, i);
  return values;
}

const std::vector<double> levels = {0.1, 0.5, 0.9};

void expect_gradient_of_differences(const HeadType& head, const std::vector<double>& z,
                                    const RowTarget<double>& target) {
  const int outputs = static_cast<int>(z.size());
  const auto loss = [&](std::span<const double> at) {
    return head.reference.loss(outputs, at.data(), target, 1.0, nullptr);
  };
  std::vector<double> wanted = central_differences(loss, z);
  for (double& value : wanted) value *= 2.5;
  std::vector<double> got(z.size());
  const double value = head.reference.loss(outputs, z.data(), target, 2.5, got.data());
  EXPECT_EQ(value, loss(z)) << "the weight belongs to the gradient, not to the loss";
  EXPECT_LT(relative_error(got, wanted, 1e-9), 1e-9) << head.name << " with " << outputs << " outputs";
}

TEST(Heads, GradientsAreThoseOfCentralDifferences) {
  for (const HeadType* head : all_heads()) {
    if (head->layers) continue;  // mixture_of_softmaxes_test.cpp
    for (const std::size_t classes : {1u, 2u, 5u, 33u}) {
      const auto each = static_cast<std::size_t>(head->outputs_per_target(levels.size()));
      const std::size_t outputs = classes * each + static_cast<std::size_t>(head->beside);
      const auto z = draw(outputs, 1.5, outputs);
      const auto values = draw_targets(outputs, outputs);
      const bool both = head->target == TargetKind::label_and_interval;
      if (!both) expect_gradient_of_differences(*head, z, {-1, values.data(), levels});
      if (!takes_label(head->target)) continue;
      const double* beside = both ? values.data() : nullptr;
      expect_gradient_of_differences(*head, z, {0, beside});
      expect_gradient_of_differences(*head, z, {static_cast<std::int32_t>(classes) - 1, beside});
    }
  }
}

TEST(Heads, LossesAreTheirDefinitions) {
  const auto z = draw(7, 1, 1);
  const auto y = draw_targets(7, 2);
  double exponentials = 0, cross = 0, squares = 0, likelihood = 0;
  for (const double x : z) exponentials += std::exp(x);
  for (std::size_t i = 0; i < 7; ++i) {
    cross -= y[i] * std::log(std::exp(z[i]) / exponentials);
    squares += (z[i] - y[i]) * (z[i] - y[i]);
    const double p = 1 / (1 + std::exp(-z[i]));
    likelihood -= y[i] * std::log(p) + (1 - y[i]) * std::log(1 - p);
  }
  const auto loss = [&](const char* name, RowTarget<double> target) {
    return find_head(name).reference.loss(7, z.data(), target, 1.0, nullptr);
  };
  EXPECT_NEAR(loss("softmax", {-1, y.data()}), cross, 1e-12);
  EXPECT_NEAR(loss("softmax", {3, nullptr}), -std::log(std::exp(z[3]) / exponentials), 1e-12);
  EXPECT_NEAR(loss("regression", {-1, y.data()}), squares / 7, 1e-12);
  EXPECT_NEAR(loss("bernoulli", {-1, y.data()}), likelihood, 1e-12);
}

TEST(Heads, PredictProbabilitiesOrMeans) {
  const auto z = draw(9, 2, 3);
  auto softmax = z, regression = z, bernoulli = z;
  find_head("softmax").reference.predict(9, softmax.data());
  find_head("regression").reference.predict(9, regression.data());
  find_head("bernoulli").reference.predict(9, bernoulli.data());
  EXPECT_EQ(regression, z);
  double sum = 0;
  for (std::size_t i = 0; i < 9; ++i) {
    sum += softmax[i];
    EXPECT_NEAR(std::log(softmax[i] / softmax[0]), z[i] - z[0], 1e-12);
    EXPECT_NEAR(std::log(bernoulli[i] / (1 - bernoulli[i])), z[i], 1e-12);
  }
  EXPECT_NEAR(sum, 1, 1e-14);
}

TEST(Softmax, AOneHotDistributionIsALabel) {
  const HeadKernels<double>& kernels = find_head("softmax").reference;
  for (const std::int32_t label : {0, 4, 10}) {
    const auto z = draw(11, 3, 5);
    std::vector<double> one_hot(11), soft(11), hard(11);
    one_hot[static_cast<std::size_t>(label)] = 1;
    const double soft_loss = kernels.loss(11, z.data(), {-1, one_hot.data()}, 0.75, soft.data());
    EXPECT_DOUBLE_EQ(soft_loss, kernels.loss(11, z.data(), {label, nullptr}, 0.75, hard.data()));
    EXPECT_LT(relative_error(soft, hard), 1e-15);
  }
}

TEST(Heads, StayExactForLargeOutputs) {
  const std::vector<double> z = {1000, -1000, 999};
  std::vector<double> d_z(3);
  EXPECT_NEAR(find_head("softmax").reference.loss(3, z.data(), {1, nullptr}, 1.0, d_z.data()),
              2000 + std::log1p(std::exp(-1.0)), 1e-9);
  EXPECT_NEAR(d_z[0], 1 / (1 + std::exp(-1.0)), 1e-12);
  EXPECT_EQ(d_z[1], -1);

  const std::vector<double> y = {1, 0, 0.5};
  EXPECT_NEAR(find_head("bernoulli").reference.loss(3, z.data(), {-1, y.data()}, 1.0, d_z.data()), 999 * 0.5, 1e-9);
  EXPECT_EQ(d_z, (std::vector<double>{0, 0, 0.5}));
  const double confident = 40, right = 1;
  EXPECT_NEAR(find_head("bernoulli").reference.loss(1, &confident, {-1, &right}, 1.0, nullptr), std::exp(-40.0), 1e-30);
}

TEST(Heads, QuantilesHaveThePinballLoss) {
  const std::vector<double> own = {0.2, 0.7}, z = {1, 5, 3, 4}, y = {2, 4.5};  // z: both targets at 0.2, then at 0.7
  std::vector<double> d_z(4);
  const double loss = find_head("quantile").reference.loss(4, z.data(), {-1, y.data(), own}, 3.0, d_z.data());
  // y - z: 1 and -0.5 at 0.2, -1 and 0.5 at 0.7.
  EXPECT_NEAR(loss, (0.2 * 1 + 0.8 * 0.5 + 0.3 * 1 + 0.7 * 0.5) / 4, 1e-12);
  const std::vector<double> wanted = {-0.2, 0.8, 0.3, -0.7};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(d_z[i], 3 * wanted[i] / 4, 1e-12);
  // The quantile of a sample is where the mean loss is lowest.
  const std::vector<double> sample = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, level = {0.7};
  const auto mean = [&](double q) {
    double sum = 0;
    for (const double x : sample) sum += find_head("quantile").reference.loss(1, &q, {-1, &x, level}, 1.0, nullptr);
    return sum;
  };
  for (double q = 0; q < 11; q += 0.25) EXPECT_GE(mean(q), mean(7.5) - 1e-9) << q;
  std::vector<double> same = z;
  find_head("quantile").reference.predict(4, same.data());
  EXPECT_EQ(same, z);
}

TEST(Heads, AGaussianHasItsLogDensity) {
  const double mean = 1.5, raw = -0.4, y = 0.3;
  const double deviation = 1e-3 + std::log1p(std::exp(raw));
  const std::vector<double> z = {mean, raw};
  const double density = std::exp(-0.5 * std::pow((y - mean) / deviation, 2)) / (deviation * std::sqrt(2 * M_PI));
  EXPECT_NEAR(find_head("gaussian").reference.loss(2, z.data(), {-1, &y}, 1.0, nullptr), -std::log(density), 1e-12);
  std::vector<double> predicted = z;
  find_head("gaussian").reference.predict(2, predicted.data());
  EXPECT_EQ(predicted[0], mean);
  EXPECT_NEAR(predicted[1], deviation, 1e-15);
  // Far out it neither overflows nor becomes 0.
  for (const double far : {-1e4, 1e4}) {
    std::vector<double> at = {0, far}, d_z(2);
    EXPECT_TRUE(std::isfinite(find_head("gaussian").reference.loss(2, at.data(), {-1, &y}, 1.0, d_z.data())));
    EXPECT_TRUE(std::isfinite(d_z[0]) && std::isfinite(d_z[1]));
    find_head("gaussian").reference.predict(2, at.data());
    EXPECT_NEAR(at[1], far < 0 ? 1e-3 : far, 1e-3 * 1.1);
  }
}

}  // namespace
}  // namespace throughtime

// The kernels of the mixture of softmaxes, one row at a time: against its definition, central differences, and each
// other.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "support/errors.h"
#include "support/numeric.h"
#include "support/targets.h"
#include "throughtime/index.h"
#include "throughtime/model.h"
#include "throughtime/random.h"

namespace throughtime {
namespace {

using testing::central_differences;
using testing::for_each_instruction_set;
using testing::relative_error;
using testing::to_double;

const HeadType& head() { return find_head("mixture_of_softmaxes"); }

/// A row: y is what enters `spread`, z what the output layer would make of its result. Strides leave gaps, which must
/// stay as they are.
template <class Real>
class Row {
 public:
  Row(int experts, int width, int outputs, double epsilon = 0)
      : layers_(head().layers(HeadConfig{.experts = experts, .latent = width, .epsilon = epsilon}, 1, 0)),
        outputs_(outputs) {
    prior_.resize(elements(experts));
    latent_.resize(elements(experts, width));
    x_.assign(elements(experts, width + gap), untouched);
    z_.assign(elements(experts, outputs + gap), untouched);
    scratch_.resize(LayeredKernels<Real>::scratch_per_branch * elements(experts));
  }

  LayeredRow<Real> view() {
    LayeredRow<Real> row;
    row.layers = &layers_;
    row.outputs = outputs_;
    row.y[0] = prior_.data();
    row.y[1] = latent_.data();
    row.x = x_.data();
    row.x_stride = elements(layers_.width + gap);
    row.z = z_.data();
    row.z_stride = elements(outputs_ + gap);
    row.scratch = scratch_.data();
    return row;
  }

  /// numbers: prior [E], then logits [E, outputs]. y is spread, z is set.
  void set(std::span<const double> numbers, const LayeredKernels<Real>& kernels) {
    for (std::size_t e = 0; e < prior_.size(); ++e) prior_[e] = static_cast<Real>(numbers[e]);
    kernels.spread(view());
    for (std::size_t e = 0; e < prior_.size(); ++e)
      for (std::size_t i = 0; i < elements(outputs_); ++i)
        z_[e * elements(outputs_ + gap) + i] = static_cast<Real>(numbers[prior_.size() + e * elements(outputs_) + i]);
  }

  /// What `loss` leaves of them, in the same order.
  std::vector<double> gradient() const {
    std::vector<double> all(prior_.begin(), prior_.end());
    for (std::size_t e = 0; e < prior_.size(); ++e)
      for (std::size_t i = 0; i < elements(outputs_); ++i) all.push_back(z_[e * elements(outputs_ + gap) + i]);
    return all;
  }

  bool gaps_are_intact() const {
    for (std::size_t e = 0; e < prior_.size(); ++e)
      for (std::size_t i = 0; i < gap; ++i)
        if (z_[e * elements(outputs_ + gap) + elements(outputs_) + i] != untouched) return false;
    return true;
  }

  std::vector<Real>& latent() { return latent_; }
  std::vector<Real>& x() { return x_; }

 private:
  static constexpr int gap = 3;
  static constexpr Real untouched = -12345;
  HeadLayers layers_;
  int outputs_;
  std::vector<Real> prior_, latent_, x_, z_;
  std::vector<double> scratch_;
};

std::vector<double> draw(std::size_t count, double scale, std::uint64_t seed) {
  const Random random(seed, Purpose::sampling);
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = scale * random.normal(0, 0, i);
  return values;
}

/// p of the definition, in long double without any care: for logits of moderate size.
std::vector<double> probabilities(std::span<const double> numbers, std::size_t experts) {
  const std::size_t outputs = numbers.size() / experts - 1;
  std::vector<double> p(outputs);
  long double prior = 0;
  for (std::size_t e = 0; e < experts; ++e) prior += std::exp(static_cast<long double>(numbers[e]));
  for (std::size_t e = 0; e < experts; ++e) {
    const auto z = numbers.subspan(experts + e * outputs, outputs);
    long double sum = 0;
    for (const double x : z) sum += std::exp(static_cast<long double>(x));
    for (std::size_t i = 0; i < outputs; ++i)
      p[i] += static_cast<double>(std::exp(static_cast<long double>(numbers[e])) / prior *
                                  std::exp(static_cast<long double>(z[i])) / sum);
  }
  return p;
}

struct Shape {
  int experts, outputs;
};
const std::vector<Shape> shapes = {{1, 1}, {1, 5}, {2, 2}, {3, 7}, {15, 33}, {4, 70}};

TEST(MixtureOfSoftmaxes, LossesAndPredictionsAreTheirDefinition) {
  for (const auto& [experts, outputs] : shapes)
    for (const double epsilon : {0.0, 1e-2}) {
      Row<double> row(experts, 2, outputs, epsilon);
      const LayeredKernels<double>& kernels = head().reference.layered;
      const auto numbers = draw(elements(experts, outputs + 1), 1.5, elements(outputs));
      const auto p = probabilities(numbers, elements(experts));
      const auto q = draw(elements(outputs), 1, 7);
      row.set(numbers, kernels);
      std::vector<double> predictions(elements(outputs));
      kernels.predict(row.view(), predictions.data());
      EXPECT_LT(relative_error(predictions, p), 1e-13);
      EXPECT_NEAR(std::accumulate(predictions.begin(), predictions.end(), 0.0), 1, 1e-13);
      double cross = 0;
      for (std::size_t i = 0; i < p.size(); ++i) cross -= q[i] * std::log(p[i] + epsilon);
      EXPECT_NEAR(kernels.loss(row.view(), {-1, q.data()}, 1, false, nullptr), cross, 1e-12 * (1 + std::abs(cross)));
      const auto best = std::ranges::max_element(p) - p.begin();
      for (const int label : {0, outputs - 1}) {
        row.set(numbers, kernels);
        std::int32_t likeliest = -1;
        EXPECT_NEAR(kernels.loss(row.view(), {label}, 1, false, &likeliest), -std::log(p[elements(label)] + epsilon),
                    1e-12);
        EXPECT_EQ(likeliest, best);
      }
    }
}

TEST(MixtureOfSoftmaxes, GradientsAreThoseOfCentralDifferences) {
  for (const auto& [experts, outputs] : shapes)
    for (const double epsilon : {0.0, 1e-2}) {
      Row<double> row(experts, 2, outputs, epsilon);
      const LayeredKernels<double>& kernels = head().reference.layered;
      const auto numbers = draw(elements(experts, outputs + 1), 1.5, elements(outputs));
      auto q = draw(elements(outputs), 1, 3);
      for (double& x : q) x = std::abs(x);  // its sum is not 1
      for (const std::int32_t label : {-1, 0, outputs - 1}) {
        const RowTarget<double> target{label, q.data()};
        const auto loss = [&](std::span<const double> at) {
          row.set(at, kernels);
          return kernels.loss(row.view(), target, 1, false, nullptr);
        };
        auto wanted = central_differences(loss, numbers);
        for (double& value : wanted) value *= 2.5;
        row.set(numbers, kernels);
        const double value = kernels.loss(row.view(), target, 2.5, true, nullptr);
        EXPECT_EQ(value, loss(numbers)) << "the weight belongs to the gradient, not to the loss";
        row.set(numbers, kernels);
        kernels.loss(row.view(), target, 2.5, true, nullptr);
        EXPECT_LT(relative_error(row.gradient(), wanted, 1e-9), 1e-9) << experts << " " << outputs << " " << label;
        EXPECT_TRUE(row.gaps_are_intact());
      }
    }
}

TEST(MixtureOfSoftmaxes, AOneHotDistributionIsALabel) {
  Row<double> row(4, 1, 11);
  const LayeredKernels<double>& kernels = head().reference.layered;
  const auto numbers = draw(4 * 12, 3, 5);
  for (const std::int32_t label : {0, 4, 10}) {
    std::vector<double> one_hot(11);
    one_hot[elements(label)] = 1;
    row.set(numbers, kernels);
    const double soft = kernels.loss(row.view(), {-1, one_hot.data()}, 0.75, true, nullptr);
    const auto gradient = row.gradient();
    row.set(numbers, kernels);
    EXPECT_NEAR(kernels.loss(row.view(), {label}, 0.75, true, nullptr), soft, 1e-13);
    EXPECT_LT(relative_error(gradient, row.gradient()), 1e-13);
  }
}

TEST(MixtureOfSoftmaxes, EqualExpertsAreOneSoftmax) {
  const auto logits = draw(9, 2, 1);
  const auto priors = draw(3, 1, 2);
  std::vector<double> numbers(priors);
  for (int e = 0; e < 3; ++e) numbers.insert(numbers.end(), logits.begin(), logits.end());
  Row<double> row(3, 1, 9);
  row.set(numbers, head().reference.layered);
  EXPECT_NEAR(head().reference.layered.loss(row.view(), {4}, 1, false, nullptr),
              find_head("softmax").reference.loss(9, logits.data(), {4}, 1.0, nullptr), 1e-13);
}

template <class Real>
void expect_exact_for_large_logits(const LayeredKernels<Real>& kernels, double tolerance) {
  // One expert is sure of output 0, the other of output 2, and neither thinks of output 1.
  Row<Real> row(2, 1, 3);
  const std::vector<double> numbers = {0, 0, 80, -80, -80, -80, -80, 80};
  std::vector<Real> p(3);
  row.set(numbers, kernels);
  kernels.predict(row.view(), p.data());
  EXPECT_NEAR(p[0], 0.5, tolerance);
  EXPECT_NEAR(p[2], 0.5, tolerance);
  const double seldom = 160;  // -log p of output 1, which no probability in single precision could tell
  EXPECT_NEAR(kernels.loss(row.view(), {1}, 1, true, nullptr), seldom, seldom * tolerance);
  const auto gradient = row.gradient();
  const std::vector<double> wanted = {0, 0, 0.5, -0.5, 0, 0, -0.5, 0.5};
  EXPECT_LT(testing::distance(gradient, wanted), tolerance);
  std::vector<Real> q = {0, 1, 0};
  row.set(numbers, kernels);
  EXPECT_NEAR(kernels.loss(row.view(), {-1, q.data()}, 1, true, nullptr), seldom, seldom * tolerance);
  EXPECT_LT(testing::distance(row.gradient(), wanted), tolerance);
}

TEST(MixtureOfSoftmaxes, StaysExactForLogitsOfEighty) {
  expect_exact_for_large_logits(head().reference.layered, 1e-12);
  for_each_instruction_set([](const char* name) {
    SCOPED_TRACE(name);
    expect_exact_for_large_logits(head().fast().layered, 2e-6);
  });
}

TEST(MixtureOfSoftmaxes, FastKernelsAgreeWithTheirTwins) {
  for_each_instruction_set([](const char* name) {
    SCOPED_TRACE(name);
    for (const auto& [experts, outputs] : std::vector<Shape>{{1, 1}, {1, 16}, {3, 17}, {5, 31}, {15, 1003}})
      for (const double scale : {1e-3, 2.0, 30.0})
        for (const double epsilon : {0.0, 1e-8}) {
          SCOPED_TRACE(std::to_string(experts) + " " + std::to_string(outputs) + " " + std::to_string(scale));
          const LayeredKernels<double>& slow = head().reference.layered;
          const LayeredKernels<float> fast = head().fast().layered;
          Row<double> a(experts, 1, outputs, epsilon);
          Row<float> b(experts, 1, outputs, epsilon);
          auto numbers = draw(elements(experts, outputs + 1), scale, elements(outputs));
          for (double& number : numbers) number = static_cast<float>(number);
          a.set(numbers, slow), b.set(numbers, fast);
          std::vector<double> p(elements(outputs));
          std::vector<float> fast_p(elements(outputs));
          slow.predict(a.view(), p.data()), fast.predict(b.view(), fast_p.data());
          EXPECT_LT(relative_error(to_double(fast_p), p), 3e-6);
          std::vector<double> q = p;
          std::ranges::reverse(q);
          const std::vector<float> fast_q(q.begin(), q.end());
          for (const std::int32_t label : {-1, 0, outputs - 1}) {
            a.set(numbers, slow), b.set(numbers, fast);
            std::int32_t best = -1, fast_best = -1;
            const double wanted = slow.loss(a.view(), {label, q.data()}, 0.5, true, label >= 0 ? &best : nullptr);
            EXPECT_NEAR(fast.loss(b.view(), {label, fast_q.data()}, 0.5f, true, label >= 0 ? &fast_best : nullptr),
                        wanted, 3e-6 * (1 + std::abs(wanted)));
            EXPECT_LT(testing::distance(b.gradient(), a.gradient()), 5e-6 * testing::norm(a.gradient()) + 5e-7);
            EXPECT_EQ(fast_best, best);
            EXPECT_TRUE(b.gaps_are_intact());
          }
        }
  });
}

template <class Real>
void expect_a_tanh_layer(const LayeredKernels<Real>& kernels, double tolerance) {
  for (const int width : {1, 5, 16, 19}) {
    Row<Real> row(3, width, 2);
    const auto inputs = draw(elements(3, width), 2, 4), cotangents = draw(elements(3, width), 1, 5);
    std::ranges::copy(inputs, row.latent().begin());
    kernels.spread(row.view());
    for (std::size_t e = 0; e < 3; ++e)
      for (std::size_t i = 0; i < elements(width); ++i) {
        Real& x = row.x()[e * row.view().x_stride + i];
        EXPECT_NEAR(x, std::tanh(inputs[e * elements(width) + i]), tolerance);
        x = static_cast<Real>(cotangents[e * elements(width) + i]);
      }
    kernels.collect(row.view());
    for (std::size_t i = 0; i < inputs.size(); ++i)
      EXPECT_NEAR(row.latent()[i], cotangents[i] * (1 - std::pow(std::tanh(inputs[i]), 2)), 3 * tolerance);
  }
}

TEST(MixtureOfSoftmaxes, ExpertsReadATanhLayer) {
  expect_a_tanh_layer(head().reference.layered, 1e-14);
  for_each_instruction_set([](const char*) { expect_a_tanh_layer(head().fast().layered, 1e-6); });
}

TEST(MixtureOfSoftmaxes, RefusesSettingsThatCannotBe) {
  EXPECT_REFUSED(head().layers({.experts = 0}, 4, 0), "[model] experts must be between 1 and 1024, got 0");
  EXPECT_REFUSED(head().layers({.latent = -1}, 4, 0), "[model] latent must be between 0 and 65536, got -1");
  EXPECT_REFUSED(head().layers({.epsilon = 1}, 4, 0), "mixture_epsilon must be at least 0 and below 1, got 1");
  EXPECT_EQ(head().layers({.experts = 2}, 4, 0).width, 4);
  EXPECT_EQ(head().layers({.experts = 2}, 4, 3).width, 3);
  EXPECT_EQ(head().layers({.experts = 2, .latent = 6}, 4, 3).width, 6);
}

}  // namespace
}  // namespace throughtime

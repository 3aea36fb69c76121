// The time of the next event under lambda(t) = exp(a + w t): against quadrature, series in long double, closed forms.
#include "heads/exponential_intensity.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

namespace throughtime {
namespace {

using Wide = long double;

const std::vector<double> exponents = {-2, -0.7, -1e-3, -1e-7, -1e-10, -1e-12, 0, 1e-12, 1e-10, 1e-7, 1e-3, 0.7, 2};

/// (exp(x) - 1) / x by its series, which has no cancellation worth mentioning for |x| < 10.
Wide growth(Wide x) {
  Wide sum = 0, term = 1;
  for (int n = 1; n < 120; ++n) {
    sum += term;
    term *= x / (n + 1);
  }
  return sum;
}

/// -log f = -a - w t + exp(a) t growth(w t).
Wide negative_log_density(Wide a, Wide w, Wide t) { return std::exp(a) * t * growth(w * t) - a - w * t; }

/// Simpson's rule.
double integral(const std::function<double(double)>& f, double from, double to, int parts = 20000) {
  const double step = (to - from) / parts;
  double sum = f(from) + f(to);
  for (int i = 1; i < parts; ++i) sum += (i % 2 == 1 ? 4 : 2) * f(from + step * i);
  return sum * step / 3;
}

double density(double a, double w, double t) { return std::exp(-interval_loss(a, w, t).loss); }

TEST(ExponentialIntensity, DensityIsExactAroundAndAtZeroGrowth) {
  for (const double w : exponents)
    for (const double a : {-3.0, 0.5, 7.0})
      for (const double t : {0.0, 1e-9, 5e-5, 1.24e-3, 0.3, 4.57}) {
        const auto wanted = static_cast<double>(negative_log_density(a, w, t));
        EXPECT_NEAR(interval_loss(a, w, t).loss, wanted, 1e-14 * (std::abs(wanted) + std::abs(a) + 1))
            << a << " " << w << " " << t;
      }
  EXPECT_DOUBLE_EQ(interval_loss(0.4, 0, 2).loss, 2 * std::exp(0.4) - 0.4);
}

TEST(ExponentialIntensity, SlopesAreThoseOfTheDensity) {
  const Wide step = 1e-5L;
  for (const double w : exponents)
    for (const double a : {-3.0, 0.5, 4.0})
      for (const double t : {1e-4, 0.3, 4.57}) {
        const IntervalLoss got = interval_loss(a, w, t);
        const auto d_a = static_cast<double>(
            (negative_log_density(a + step, w, t) - negative_log_density(a - step, w, t)) / (2 * step));
        const auto d_w = static_cast<double>(
            (negative_log_density(a, w + step, t) - negative_log_density(a, w - step, t)) / (2 * step));
        EXPECT_NEAR(got.d_a, d_a, 1e-8 * (std::abs(d_a) + 1)) << a << " " << w << " " << t;
        EXPECT_NEAR(got.d_w, d_w, 1e-8 * (std::abs(d_w) + t)) << a << " " << w << " " << t;
      }
}

TEST(ExponentialIntensity, SlopeHasNoSeamWhereTheSeriesEnds) {
  for (const double x : {0.5, -0.5}) {
    const double inside = interval_loss(0, x * (1 - 1e-13), 1).d_w, outside = interval_loss(0, x * (1 + 1e-13), 1).d_w;
    EXPECT_NEAR(inside, outside, 1e-12);
  }
}

/// Lambda(t).
double cumulative_intensity(double a, double w, double t) {
  return std::abs(w * t) < 1e-9 ? std::exp(a) * t : std::exp(a) * std::expm1(w * t) / w;
}

double event_probability(double a, double w) { return w < 0 ? -std::expm1(std::exp(a) / w) : 1; }

TEST(ExponentialIntensity, DensityIntegratesToTheProbabilityOfAnEvent) {
  for (const double a : {-1.0, 0.0, 1.5})
    for (const double w : {-2.0, -0.5, 0.0, 1e-12, 0.5, 2.0}) {
      const double far = w < 0 ? 40 / -w : 60 * std::exp(-a);
      const double wanted = w < 0 ? 1 - std::exp(std::exp(a) / w) : 1;
      EXPECT_NEAR(integral([&](double t) { return density(a, w, t); }, 0, far), wanted, 1e-7) << a << " " << w;
      // The survivors are exp(-Lambda).
      const double half = integral([&](double t) { return density(a, w, t); }, 0, 0.7);
      EXPECT_NEAR(1 - half, std::exp(-cumulative_intensity(a, w, 0.7)), 1e-9) << a << " " << w;
    }
}

TEST(ExponentialIntensity, MeanIsTheQuadratureOfTheDensity) {
  for (const double a : {-1.0, 0.0, 2.0})
    for (const double w : {-2.0, -0.5, 0.0, 1e-12, -1e-12, 0.5, 2.0}) {
      const double far = w < -0.1 ? 45 / -w : 70 * std::exp(-a);
      const double mean = integral([&](double t) { return t * density(a, w, t); }, 0, far) / event_probability(a, w);
      EXPECT_NEAR(expected_interval(a, w), mean, 1e-6 * mean) << a << " " << w;
    }
}

TEST(ExponentialIntensity, MeanHasTheClosedFormsOfExponentialIntegrals) {
  for (double a = -20; a <= 20; a += 2.5)
    for (const double w : {1e-6, 1e-2, 1.0, 1.7, 40.0}) {
      const double c = std::exp(a) / w;
      if (c > 40) continue;
      EXPECT_NEAR(expected_interval(a, w) * w, std::exp(c) * -std::expint(-c), 1e-10 * std::exp(c) * -std::expint(-c));
      Wide sum = 0, power = 1;  // integral of (exp(u) - 1) / u over (0, c)
      for (int n = 1; n < 300; ++n) {
        power *= static_cast<Wide>(c) / n;
        sum += power / n;
      }
      const auto given =
          static_cast<double>(std::exp(static_cast<Wide>(-c)) * sum / -std::expm1(static_cast<Wide>(-c)));
      EXPECT_NEAR(expected_interval(a, -w) * w, given, 1e-10 * given) << a << " " << -w;
    }
  EXPECT_NEAR(expected_interval(3, 0), std::exp(-3.0), 1e-15);
  EXPECT_NEAR(expected_interval(-60, -2), 0.5, 1e-12);  // hardly ever an event: its time is exponential with rate -w
}

TEST(ExponentialIntensity, TruncatedMeanIsTheTrapezoidRuleOfTheReferenceCode) {
  const double a = 1.2, w = -0.4, longest = 3;
  double sum = 0;
  for (int i = 0; i + 1 < 1000; ++i) {
    const double left = longest * i / 999, right = longest * (i + 1) / 999;
    sum += 0.5 * (right - left) * (left * density(a, w, left) + right * density(a, w, right));
  }
  EXPECT_NEAR(truncated_interval(a, w, longest), sum, 1e-12);
  EXPECT_LT(truncated_interval(a, w, longest), expected_interval(a, w));
}

}  // namespace
}  // namespace throughtime

#include "heads/exponential_intensity.h"

#include <array>
#include <cmath>
#include <numbers>

#include "heads/interval_loss-inl.h"

namespace throughtime {
namespace {

constexpr double tiny = HWY_NAMESPACE::IntervalFormula::tiny;

/// log(1 + x) / x.
double shrinkage(double x) { return std::abs(x) < tiny ? 1 - 0.5 * x : std::log1p(x) / x; }

/// A quadrature rule for the integral of exp(-y) g(y) over y > 0, g growing slowly and vanishing at 0: the
/// trapezoid rule after y = exp(s - exp(-s)), which is doubly exponential at both ends.
struct HalfLine {
  static constexpr int nodes = 118;
  std::array<double, nodes> y, weight;
  HalfLine() {
    constexpr double step = 1.0 / 16, first = -3.5;
    for (std::size_t i = 0; i < nodes; ++i) {
      const double s = first + step * static_cast<double>(i), e = std::exp(-s);
      y[i] = std::exp(s - e);
      weight[i] = step * y[i] * (1 + e) * std::exp(-y[i]);
    }
  }
};

/// One for the integral of g over (0, 1), g with a logarithmic singularity at 1: tanh-sinh. `rest` is 1 - s.
struct UnitInterval {
  static constexpr int nodes = 97;
  std::array<double, nodes> s, rest, weight;
  UnitInterval() {
    constexpr double step = 1.0 / 16, first = -3;
    for (std::size_t i = 0; i < nodes; ++i) {
      const double u = first + step * static_cast<double>(i), v = std::numbers::pi * std::sinh(u);
      s[i] = 1 / (1 + std::exp(-v));
      rest[i] = 1 / (1 + std::exp(v));
      weight[i] = step * std::numbers::pi * std::cosh(u) * s[i] * rest[i];
    }
  }
};

}  // namespace

IntervalLoss interval_loss(double a, double w, double interval) {
  return HWY_NAMESPACE::IntervalFormula::loss(a, w, interval);
}

// Lambda(T) is exponentially distributed: T = t(y) = log(1 + w y / lambda) / w with y of density exp(-y), where
// lambda = exp(a), up to y = c = -lambda / w if w < 0.
double expected_interval(double a, double w) {
  constexpr double far = 36;         // exp(-far) is below the last bit
  const double mean = std::exp(-a);  // of w = 0
  const double bend = w * mean, c = -1 / bend;
  if (bend < 0 && c < far) {
    static const UnitInterval rule;
    double sum = 0;  // of exp(-c s) (-log(1 - s)) over (0, 1)
    for (std::size_t i = 0; i < rule.nodes; ++i)
      sum -= rule.weight[i] * std::exp(-c * rule.s[i]) * std::log(rule.rest[i]);
    return -sum / w * (c < tiny ? 1 + 0.5 * c : c / -std::expm1(-c));
  }
  static const HalfLine rule;
  double sum = 0;
  for (std::size_t i = 0; i < rule.nodes; ++i)
    if (bend * rule.y[i] > -1) sum += rule.weight[i] * rule.y[i] * shrinkage(bend * rule.y[i]);
  return mean * sum;
}

double truncated_interval(double a, double w, double longest) {
  constexpr int points = 1000;
  const double step = longest / (points - 1);
  double sum = 0;
  for (int i = 1; i < points; ++i) {
    const double t = step * i;
    sum += (i + 1 < points ? 1.0 : 0.5) * t * std::exp(-interval_loss(a, w, t).loss);
  }
  return step * sum;
}

}  // namespace throughtime

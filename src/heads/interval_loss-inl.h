// Compiled for the machine of the build, for all instruction sets to share: the same bits in both twins of the head.
// Included once per instruction set: no #pragma once.
#if defined(THROUGHTIME_HEADS_INTERVAL_LOSS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef THROUGHTIME_HEADS_INTERVAL_LOSS_INL_H
#undef THROUGHTIME_HEADS_INTERVAL_LOSS_INL_H
#else
#define THROUGHTIME_HEADS_INTERVAL_LOSS_INL_H
#endif

#include <cmath>

#include "heads/exponential_intensity.h"
#include "throughtime/simd/formulas-inl.h"

THROUGHTIME_FORMULAS_BEGIN

/// -log f(interval) of exponential_intensity.h: three numbers per row, in double.
struct IntervalFormula {
  static constexpr double tiny =
      1e-8;  // below it 1 + x / 2 is exact; also keeps flushed denormals from being divided by

  /// (exp(x) - 1) / x.
  static THROUGHTIME_INLINE double growth(double x) { return std::abs(x) < tiny ? 1 + 0.5 * x : std::expm1(x) / x; }

  /// Its derivative (exp(x) - growth(x)) / x, near 0 the sum over n of x^n / (n! (n + 2)).
  static THROUGHTIME_INLINE double growth_slope(double x) {
    if (std::abs(x) > 0.5) return (std::exp(x) - growth(x)) / x;
    constexpr int terms = 14;  // 0.5^14 / 14! is far below the last bit
    double sum = 0;
    double power = 1;  // x^n / n!
    for (int n = 0; n < terms; ++n) {
      sum += power / (n + 2);
      power *= x / (n + 1);
    }
    return sum;
  }

  static THROUGHTIME_INLINE IntervalLoss loss(double a, double w, double interval) {
    const double x = w * interval, hazard = std::exp(a) * interval;
    const double cumulative = hazard * growth(x);
    return {.loss = cumulative - a - x, .d_a = cumulative - 1, .d_w = interval * (hazard * growth_slope(x) - 1)};
  }
};

THROUGHTIME_FORMULAS_END

#endif  // THROUGHTIME_HEADS_INTERVAL_LOSS_INL_H

// Included once per instruction set: no #pragma once.
#if defined(THROUGHTIME_HEADS_GAUSSIAN_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef THROUGHTIME_HEADS_GAUSSIAN_INL_H
#undef THROUGHTIME_HEADS_GAUSSIAN_INL_H
#else
#define THROUGHTIME_HEADS_GAUSSIAN_INL_H
#endif

#include <cmath>

#include "throughtime/simd/head_row-inl.h"

THROUGHTIME_FORMULAS_BEGIN

/// -log density of one target, from its mean and what its deviation is made of: deviation = least + log(1 + exp(raw)).
struct GaussianFormula {
  static constexpr double least = 1e-3;  // of a target of deviation 1: a density has no end at 0
  static constexpr double half_log_two_pi = 0.91893853320467274178;

  double loss, d_mean, d_raw;

  static THROUGHTIME_INLINE double deviation(double raw) {
    return least + (raw > 0 ? raw : 0.0) + std::log1p(std::exp(-std::abs(raw)));
  }

  static THROUGHTIME_INLINE GaussianFormula of(double mean, double raw, double target) {
    const double width = deviation(raw), r = (target - mean) / width;
    const double slope = raw > 0 ? 1 / (1 + std::exp(-raw)) : std::exp(raw) / (1 + std::exp(raw));
    return {half_log_two_pi + std::log(width) + 0.5 * r * r, -r / width, (1 - r * r) / width * slope};
  }
};

/// z = [means of all targets, then what their deviations are made of]. The mean over targets of -log density. A few
/// numbers per row: double for both twins.
struct Gaussian {
  static constexpr HeadShape shape = {.target = TargetKind::values, .band = HeadBand::deviation};

  template <class N, class Real = typename Access<N>::Real>
  static THROUGHTIME_INLINE double loss(int outputs, const Real* z, const RowTarget<Real>& target, Real weight,
                                        Real* d_z) {
    const std::size_t targets = elements(outputs) / 2;
    const double share = 1.0 / static_cast<double>(targets);
    double sum = 0;
    for (std::size_t i = 0; i < targets; ++i) {
      const auto one = GaussianFormula::of(static_cast<double>(z[i]), static_cast<double>(z[targets + i]),
                                           static_cast<double>(target.values[i]));
      sum += one.loss;
      if (!d_z) continue;
      d_z[i] = static_cast<Real>(one.d_mean * weight * share);
      d_z[targets + i] = static_cast<Real>(one.d_raw * weight * share);
    }
    return share * sum;
  }

  template <class N, class Real = typename Access<N>::Real>
  static THROUGHTIME_INLINE void predict(int outputs, Real* z) {
    const std::size_t targets = elements(outputs) / 2;
    for (std::size_t i = 0; i < targets; ++i)
      z[targets + i] = static_cast<Real>(GaussianFormula::deviation(static_cast<double>(z[targets + i])));
  }
};

THROUGHTIME_FORMULAS_END

#endif  // THROUGHTIME_HEADS_GAUSSIAN_INL_H

// Included once per instruction set: no #pragma once.
#if defined(THROUGHTIME_HEADS_QUANTILE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef THROUGHTIME_HEADS_QUANTILE_INL_H
#undef THROUGHTIME_HEADS_QUANTILE_INL_H
#else
#define THROUGHTIME_HEADS_QUANTILE_INL_H
#endif

#include <cmath>

#include "throughtime/simd/head_row-inl.h"

THROUGHTIME_FORMULAS_BEGIN

/// The pinball loss of one quantile: l (y - z) above it and (1 - l) (z - y) below it.
struct PinballFormula {
  double loss, d_z;

  static THROUGHTIME_INLINE PinballFormula of(double z, double target, double level) {
    const double above = target - z, slope = above < 0 ? level - 1 : level;
    return {slope * above, -slope};
  }
};

/// z = [quantiles of all targets at the first level, at the second, ...]. The mean over them of the pinball loss. A few
/// numbers per row: double for both twins.
struct Quantile {
  static constexpr HeadShape shape = {.target = TargetKind::values, .band = HeadBand::quantiles};

  template <class N, class Real = typename Access<N>::Real>
  static THROUGHTIME_INLINE double loss(int outputs, const Real* z, const RowTarget<Real>& target, Real weight,
                                        Real* d_z) {
    const std::size_t targets = elements(outputs) / target.levels.size();
    const double share = 1.0 / outputs;
    double sum = 0;
    for (std::size_t i = 0; i < elements(outputs); ++i) {
      const auto one = PinballFormula::of(static_cast<double>(z[i]), static_cast<double>(target.values[i % targets]),
                                          target.levels[i / targets]);
      sum += one.loss;
      if (d_z) d_z[i] = static_cast<Real>(one.d_z * weight * share);
    }
    return share * sum;
  }

  /// They are quantiles as they are.
  template <class N, class Real = typename Access<N>::Real>
  static THROUGHTIME_INLINE void predict(int, Real*) {}
};

THROUGHTIME_FORMULAS_END

#endif  // THROUGHTIME_HEADS_QUANTILE_INL_H

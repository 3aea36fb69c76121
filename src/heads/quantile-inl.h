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

/// z = [quantiles of all targets at the first level, at the second, ...]. The mean over them of l (y - z) above the
/// quantile and (1 - l) (z - y) below it. A few numbers per row: double for both twins.
struct Quantile {
  static constexpr HeadShape shape = {.target = TargetKind::values, .band = HeadBand::quantiles};

  template <class N, class Real = typename Access<N>::Real>
  static THROUGHTIME_INLINE double loss(int outputs, const Real* z, const RowTarget<Real>& target, Real weight,
                                        Real* d_z) {
    const std::size_t targets = elements(outputs) / target.levels.size();
    const double share = 1.0 / outputs;
    double sum = 0;
    for (std::size_t i = 0; i < elements(outputs); ++i) {
      const double level = target.levels[i / targets];
      const double above = static_cast<double>(target.values[i % targets]) - static_cast<double>(z[i]);
      const double slope = above < 0 ? level - 1 : level;
      sum += slope * above;
      if (d_z) d_z[i] = static_cast<Real>(-slope * weight * share);
    }
    return share * sum;
  }

  /// They are quantiles as they are.
  template <class N, class Real = typename Access<N>::Real>
  static THROUGHTIME_INLINE void predict(int, Real*) {}
};

THROUGHTIME_FORMULAS_END

#endif  // THROUGHTIME_HEADS_QUANTILE_INL_H

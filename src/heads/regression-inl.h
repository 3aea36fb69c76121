// Included once per instruction set: no #pragma once.
#if defined(THROUGHTIME_HEADS_REGRESSION_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef THROUGHTIME_HEADS_REGRESSION_INL_H
#undef THROUGHTIME_HEADS_REGRESSION_INL_H
#else
#define THROUGHTIME_HEADS_REGRESSION_INL_H
#endif

#include "throughtime/simd/head_row-inl.h"

THROUGHTIME_FORMULAS_BEGIN

/// The mean over outputs of (z - y)^2.
struct SquaredError {
  static constexpr TargetKind target = TargetKind::values;
  static THROUGHTIME_INLINE double share(int outputs) { return 1.0 / outputs; }

  template <class N>
  static THROUGHTIME_INLINE N loss(N z, N y) {
    return (z - y) * (z - y);
  }
  template <class N>
  static THROUGHTIME_INLINE N slope(N z, N y) {
    return N(2.0) * (z - y);
  }
  template <class N>
  static THROUGHTIME_INLINE N mean(N z) {
    return z;
  }
};

using Regression = Separable<SquaredError>;

THROUGHTIME_FORMULAS_END

#endif  // THROUGHTIME_HEADS_REGRESSION_INL_H

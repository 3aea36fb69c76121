// Included once per instruction set: no #pragma once.
#if defined(THROUGHTIME_HEADS_BERNOULLI_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef THROUGHTIME_HEADS_BERNOULLI_INL_H
#undef THROUGHTIME_HEADS_BERNOULLI_INL_H
#else
#define THROUGHTIME_HEADS_BERNOULLI_INL_H
#endif

#include "throughtime/simd/head_row-inl.h"

THROUGHTIME_FORMULAS_BEGIN

/// The sum over outputs of -y log p - (1 - y) log(1 - p) with p = sigmoid(z) and y in [0, 1].
struct NegativeLogLikelihood {
  static constexpr TargetKind target = TargetKind::probabilities;
  static THROUGHTIME_INLINE double share(int) { return 1.0; }

  template <class N>
  static THROUGHTIME_INLINE N loss(N z, N y) {
    return larger(N(0.0), z) - z * y + log_one_plus_exponential(-larger(z, -z));
  }
  template <class N>
  static THROUGHTIME_INLINE N slope(N z, N y) {
    return sigmoid(z) - y;
  }
  template <class N>
  static THROUGHTIME_INLINE N mean(N z) {
    return sigmoid(z);
  }
};

using Bernoulli = Separable<NegativeLogLikelihood>;

THROUGHTIME_FORMULAS_END

#endif  // THROUGHTIME_HEADS_BERNOULLI_INL_H

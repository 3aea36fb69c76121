// Included once per instruction set: no #pragma once.
#if defined(THROUGHTIME_OPTIMIZERS_DYNAMIC_REGULARISER_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef THROUGHTIME_OPTIMIZERS_DYNAMIC_REGULARISER_INL_H
#undef THROUGHTIME_OPTIMIZERS_DYNAMIC_REGULARISER_INL_H
#else
#define THROUGHTIME_OPTIMIZERS_DYNAMIC_REGULARISER_INL_H
#endif

#include "throughtime/simd/formulas-inl.h"

THROUGHTIME_FORMULAS_BEGIN

/// FPTT's terms for ONE weight; RegulariserKernels say what they are.
struct DynamicTerms {
  /// What is added to the gradient of the loss.
  template <class N>
  static THROUGHTIME_INLINE N gradient(N pull, N weight, N average, N multiplier) {
    return pull * (weight - average) - multiplier;
  }

  template <class N>
  static THROUGHTIME_INLINE void settle(N alpha, N averaging, N averaging_over_alpha, N weight, N& average,
                                        N& multiplier) {
    multiplier = multiplier - alpha * (weight - average);
    average = average + averaging * (weight - average) - averaging_over_alpha * multiplier;
  }
};

THROUGHTIME_FORMULAS_END

#endif  // THROUGHTIME_OPTIMIZERS_DYNAMIC_REGULARISER_INL_H

// Included once per instruction set: no #pragma once.
#if defined(THROUGHTIME_OPTIMIZERS_SGD_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef THROUGHTIME_OPTIMIZERS_SGD_INL_H
#undef THROUGHTIME_OPTIMIZERS_SGD_INL_H
#else
#define THROUGHTIME_OPTIMIZERS_SGD_INL_H
#endif

#include "optimizers/rule-inl.h"

THROUGHTIME_FORMULAS_BEGIN

/// W -= rate g.
struct Sgd {
  static constexpr int moments = 0;
  static constexpr double first_moment = 0;

  static UpdateCoefficients coefficients(const OptimizerConfig&, std::int64_t, double rate) { return {.rate = rate}; }

  template <class N>
  static THROUGHTIME_INLINE void step(const Coefficients<N>& k, N gradient, N& weight, N*) {
    weight -= k.rate * gradient;
  }
};

THROUGHTIME_FORMULAS_END

#endif  // THROUGHTIME_OPTIMIZERS_SGD_INL_H

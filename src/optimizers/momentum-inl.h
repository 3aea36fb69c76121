// Included once per instruction set: no #pragma once.
#if defined(THROUGHTIME_OPTIMIZERS_MOMENTUM_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef THROUGHTIME_OPTIMIZERS_MOMENTUM_INL_H
#undef THROUGHTIME_OPTIMIZERS_MOMENTUM_INL_H
#else
#define THROUGHTIME_OPTIMIZERS_MOMENTUM_INL_H
#endif

#include "optimizers/rule-inl.h"

THROUGHTIME_FORMULAS_BEGIN

/// Heavy ball: v = mu v + g;  W -= rate v.  a = mu.
struct Momentum {
  static constexpr int moments = 1;
  static constexpr double first_moment = 0;

  static UpdateCoefficients coefficients(const OptimizerConfig& config, std::int64_t, double rate) {
    return {.rate = rate, .a = config.momentum};
  }

  template <class N>
  static THROUGHTIME_INLINE void step(const Coefficients<N>& k, N gradient, N& weight, N* moment) {
    moment[0] = k.a * moment[0] + gradient;
    weight -= k.rate * moment[0];
  }
};

THROUGHTIME_FORMULAS_END

#endif  // THROUGHTIME_OPTIMIZERS_MOMENTUM_INL_H

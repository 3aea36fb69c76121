// Included once per instruction set: no #pragma once.
#if defined(THROUGHTIME_OPTIMIZERS_ANCHORED_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef THROUGHTIME_OPTIMIZERS_ANCHORED_INL_H
#undef THROUGHTIME_OPTIMIZERS_ANCHORED_INL_H
#else
#define THROUGHTIME_OPTIMIZERS_ANCHORED_INL_H
#endif

#include "optimizers/rule-inl.h"

THROUGHTIME_FORMULAS_BEGIN

/// W += min(rate S, 1) (A - W) - g / (S + epsilon): the step of dynamic evaluation. Moment 0 is S, the usual size of
/// each gradient, and moment 1 is A, the trained weights; whoever makes the optimizer writes both, and they stay. The
/// rate is that of the way back, lambda / mean(S); the step's own, eta, comes with the scale of the gradient.  a =
/// epsilon.
struct Anchored {
  static constexpr int moments = 2;
  static constexpr double first_moment = 1;  // until they are written
  static constexpr bool internal = true;

  static UpdateCoefficients coefficients(const OptimizerConfig& config, std::int64_t, double rate) {
    return {.rate = rate, .a = value_or(config.epsilon, 2e-5)};
  }

  template <class N>
  static THROUGHTIME_INLINE void step(const Coefficients<N>& k, N gradient, N& weight, N* moment) {
    const N way = smaller(N(1.0), k.rate * moment[0]);
    weight += way * (moment[1] - weight) - gradient / (moment[0] + k.a);
  }
};

THROUGHTIME_FORMULAS_END

#endif  // THROUGHTIME_OPTIMIZERS_ANCHORED_INL_H

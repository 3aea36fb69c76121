// Included once per instruction set: no #pragma once.
#if defined(THROUGHTIME_OPTIMIZERS_ADAGRAD_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef THROUGHTIME_OPTIMIZERS_ADAGRAD_INL_H
#undef THROUGHTIME_OPTIMIZERS_ADAGRAD_INL_H
#else
#define THROUGHTIME_OPTIMIZERS_ADAGRAD_INL_H
#endif

#include "optimizers/rule-inl.h"

THROUGHTIME_FORMULAS_BEGIN

/// s += g^2;  W -= rate g / (sqrt(s) + epsilon).  a = epsilon.
struct Adagrad {
  static constexpr int moments = 1;
  static constexpr double first_moment = 0;
  static constexpr bool scale_free = true;

  static UpdateCoefficients coefficients(const OptimizerConfig& config, std::int64_t, double rate) {
    return {.rate = rate, .a = value_or(config.epsilon, 1e-10)};
  }

  template <class N>
  static THROUGHTIME_INLINE void step(const Coefficients<N>& k, N gradient, N& weight, N* moment) {
    moment[0] += gradient * gradient;
    weight -= k.rate * gradient / (square_root(moment[0]) + k.a);
  }
};

THROUGHTIME_FORMULAS_END

#endif  // THROUGHTIME_OPTIMIZERS_ADAGRAD_INL_H

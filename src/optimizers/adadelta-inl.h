// Included once per instruction set: no #pragma once.
#if defined(THROUGHTIME_OPTIMIZERS_ADADELTA_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef THROUGHTIME_OPTIMIZERS_ADADELTA_INL_H
#undef THROUGHTIME_OPTIMIZERS_ADADELTA_INL_H
#else
#define THROUGHTIME_OPTIMIZERS_ADADELTA_INL_H
#endif

#include "optimizers/rule-inl.h"

THROUGHTIME_FORMULAS_BEGIN

/// m += (1 - decay)(g^2 - m);  d = g sqrt(u + epsilon) / sqrt(m + epsilon);  u += (1 - decay)(d^2 - u);  W -= rate d.
/// moment 0 is m, moment 1 is u; a = 1 - decay, b = epsilon.
struct Adadelta {
  static constexpr int moments = 2;
  static constexpr double first_moment = 0;
  static constexpr bool scale_free = true;

  static UpdateCoefficients coefficients(const OptimizerConfig& config, std::int64_t, double rate) {
    return {.rate = rate, .a = 1 - value_or(config.decay, 0.9), .b = value_or(config.epsilon, 1e-6)};
  }

  template <class N>
  static THROUGHTIME_INLINE void step(const Coefficients<N>& k, N gradient, N& weight, N* moment) {
    moment[0] += k.a * (gradient * gradient - moment[0]);
    const N change = gradient * square_root((moment[1] + k.b) / (moment[0] + k.b));
    moment[1] += k.a * (change * change - moment[1]);
    weight -= k.rate * change;
  }
};

THROUGHTIME_FORMULAS_END

#endif  // THROUGHTIME_OPTIMIZERS_ADADELTA_INL_H

// Included once per instruction set: no #pragma once.
#if defined(THROUGHTIME_OPTIMIZERS_RMSPROP_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef THROUGHTIME_OPTIMIZERS_RMSPROP_INL_H
#undef THROUGHTIME_OPTIMIZERS_RMSPROP_INL_H
#else
#define THROUGHTIME_OPTIMIZERS_RMSPROP_INL_H
#endif

#include "optimizers/rule-inl.h"

THROUGHTIME_FORMULAS_BEGIN

/// PyTorch's convention, m from 0: m += (1 - decay)(g^2 - m);  W -= rate g / (sqrt(m) + epsilon).
/// a = 1 - decay, b = epsilon.
struct RmsProp {
  static constexpr int moments = 1;
  static constexpr double first_moment = 0;
  static constexpr bool scale_free = true;

  static UpdateCoefficients coefficients(const OptimizerConfig& config, std::int64_t, double rate) {
    return {.rate = rate, .a = 1 - value_or(config.decay, 0.99), .b = value_or(config.epsilon, 1e-8)};
  }

  template <class N>
  static THROUGHTIME_INLINE void step(const Coefficients<N>& k, N gradient, N& weight, N* moment) {
    moment[0] += k.a * (gradient * gradient - moment[0]);
    weight -= k.rate * gradient / (square_root(moment[0]) + k.b);
  }
};

THROUGHTIME_FORMULAS_END

#endif  // THROUGHTIME_OPTIMIZERS_RMSPROP_INL_H

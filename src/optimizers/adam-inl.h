// Included once per instruction set: no #pragma once.
#if defined(THROUGHTIME_OPTIMIZERS_ADAM_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef THROUGHTIME_OPTIMIZERS_ADAM_INL_H
#undef THROUGHTIME_OPTIMIZERS_ADAM_INL_H
#else
#define THROUGHTIME_OPTIMIZERS_ADAM_INL_H
#endif

#include <cmath>

#include "optimizers/rule-inl.h"

THROUGHTIME_FORMULAS_BEGIN

/// m += (1 - beta1)(g - m);  v += (1 - beta2)(g^2 - v);  W -= rate m^ / (sqrt(v^) + epsilon) at update n, where
/// m^ = m / (1 - beta1^n), v^ = v / (1 - beta2^n). a = 1 - beta1, b = 1 - beta2, c = epsilon; the bias corrections are
/// folded into rate and c.
struct Adam {
  static constexpr int moments = 2;
  static constexpr double first_moment = 0;
  static constexpr bool scale_free = true;

  static UpdateCoefficients coefficients(const OptimizerConfig& config, std::int64_t step, double rate) {
    const double count = static_cast<double>(step);
    const double first = 1 - std::pow(config.beta1, count);
    const double second = std::sqrt(1 - std::pow(config.beta2, count));
    return {.rate = rate * second / first,
            .a = 1 - config.beta1,
            .b = 1 - config.beta2,
            .c = value_or(config.epsilon, 1e-8) * second};
  }

  template <class N>
  static THROUGHTIME_INLINE void step(const Coefficients<N>& k, N gradient, N& weight, N* moment) {
    moment[0] += k.a * (gradient - moment[0]);
    moment[1] += k.b * (gradient * gradient - moment[1]);
    weight -= k.rate * moment[0] / (square_root(moment[1]) + k.c);
  }
};

THROUGHTIME_FORMULAS_END

#endif  // THROUGHTIME_OPTIMIZERS_ADAM_INL_H

// Included once per instruction set: no #pragma once.
#if defined(THROUGHTIME_OPTIMIZERS_ASGD_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef THROUGHTIME_OPTIMIZERS_ASGD_INL_H
#undef THROUGHTIME_OPTIMIZERS_ASGD_INL_H
#else
#define THROUGHTIME_OPTIMIZERS_ASGD_INL_H
#endif

#include <algorithm>

#include "optimizers/rule-inl.h"

THROUGHTIME_FORMULAS_BEGIN

/// W -= rate g;  x += share (W - x), the running average of W.  a = share: 1 up to update `average_from` + 1, then 1/2,
/// 1/3, ...: moment 0 is the mean of the iterates after `average_from`. Train with W, evaluate with moment 0.
struct Asgd {
  static constexpr int moments = 1;
  static constexpr double first_moment = 0;
  static constexpr int average = 0;

  static UpdateCoefficients coefficients(const OptimizerConfig& config, std::int64_t step, double rate) {
    const std::int64_t averaged = std::max<std::int64_t>(1, step - config.average_from);
    return {.rate = rate, .a = 1.0 / static_cast<double>(averaged)};
  }

  template <class N>
  static THROUGHTIME_INLINE void step(const Coefficients<N>& k, N gradient, N& weight, N* moment) {
    weight -= k.rate * gradient;
    moment[0] += k.a * (weight - moment[0]);
  }
};

THROUGHTIME_FORMULAS_END

#endif  // THROUGHTIME_OPTIMIZERS_ASGD_INL_H

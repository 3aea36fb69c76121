// An update rule is a struct of formulas (throughtime/simd/formulas-inl.h) with
//   static constexpr int moments;
//   static constexpr double first_moment;                                                        of every moment
//   static constexpr int average;                optional: the moment that evaluations take for the weights
//   static constexpr bool scale_free;            optional: see OptimizerType
//   static constexpr bool internal;              optional: no configuration may name it
//   static UpdateCoefficients coefficients(const OptimizerConfig&, std::int64_t step, double rate);
//   template <class N> static void step(const Coefficients<N>& k, N gradient, N& weight, N* moment);
// the last on the numbers of ONE parameter: the gradient it sees is already clipped, scaled and holds the weight decay.
// `coefficients` are computed on the host, for update number `step` (1, 2, ...); the weight decay is filled in for all.
// Included once per instruction set: no #pragma once.
#if defined(THROUGHTIME_OPTIMIZERS_RULE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef THROUGHTIME_OPTIMIZERS_RULE_INL_H
#undef THROUGHTIME_OPTIMIZERS_RULE_INL_H
#else
#define THROUGHTIME_OPTIMIZERS_RULE_INL_H
#endif

#include "throughtime/optimizer.h"
#include "throughtime/simd/formulas-inl.h"

THROUGHTIME_FORMULAS_BEGIN

/// UpdateCoefficients on the number type of the pass.
template <class N>
struct Coefficients {
  explicit THROUGHTIME_INLINE Coefficients(const UpdateCoefficients& k)
      : rate(k.rate), a(k.a), b(k.b), c(k.c), d(k.d), e(k.e), weight_decay(k.weight_decay) {}
  N rate, a, b, c, d, e, weight_decay;
};

/// The setting, or the rule's own default where it was left at -1.
THROUGHTIME_INLINE double value_or(double setting, double own_default) { return setting == -1 ? own_default : setting; }

/// One update of one parameter: clamped to +- bound, scaled, with the weight decay, then the rule.
template <class Rule, class N>
THROUGHTIME_INLINE void update_one(const Coefficients<N>& k, N factor, N bound, N gradient, N& weight, N* moment) {
  const N clipped = factor * clamp(gradient, bound);
  Rule::template step<N>(k, clipped + k.weight_decay * weight, weight, moment);
}

THROUGHTIME_FORMULAS_END

#endif  // THROUGHTIME_OPTIMIZERS_RULE_INL_H

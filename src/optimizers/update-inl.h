// Turns the formula of an optimizer into passes over a vector. Included once per instruction set: no #pragma once.
//
// An optimizer is a struct in namespace throughtime::HWY_NAMESPACE with
//   static constexpr int moments;
//   template <class N> static void step(const Coefficients<N>& k, N gradient, N& weight, N* moment);
// on the numbers of ONE parameter. The gradient it sees is already clipped, scaled and holds the weight decay.
#if defined(THROUGHTIME_UPDATE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef THROUGHTIME_UPDATE_INL_H
#undef THROUGHTIME_UPDATE_INL_H
#else
#define THROUGHTIME_UPDATE_INL_H
#endif

#include <algorithm>
#include <limits>
#include <type_traits>

#include "throughtime/optimizer.h"
#include "throughtime/simd/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace throughtime::HWY_NAMESPACE {

/// UpdateCoefficients on the number type of the pass.
template <class N>
struct Coefficients {
  explicit Coefficients(const UpdateCoefficients& k)
      : rate(k.rate), a(k.a), b(k.b), c(k.c), d(k.d), e(k.e), weight_decay(k.weight_decay) {}
  N rate, a, b, c, d, e, weight_decay;
};

/// x held between -bound and bound. A NaN stays a NaN on every instruction set, which min and max do not promise.
template <PlainNumber N>
N clamp(N x, N bound) {
  return x > bound ? bound : x < -bound ? -bound : x;
}
HWY_INLINE Lanes clamp(Lanes x, Lanes bound) {
  const Lanes capped = hn::IfThenElse(hn::Gt(x.v, bound.v), bound.v, x.v);
  return hn::IfThenElse(hn::Lt(capped.v, (-bound).v), (-bound).v, capped.v);
}

/// One register (or one number) of parameters at `weights`, with moment k at moments[k][at].
template <class Rule, class N, class Real = typename Access<N>::Real>
HWY_INLINE void update_at(const Coefficients<N>& k, N factor, N bound, const Real* gradient, Real* weights,
                          Real* const* moments, std::size_t at) {
  N weight = Access<N>::load(weights + at);
  N moment[Rule::moments + 1];
  for (int m = 0; m < Rule::moments; ++m) moment[m] = Access<N>::load(moments[m] + at);
  const N clipped = factor * clamp(Access<N>::load(gradient + at), bound);
  Rule::template step<N>(k, clipped + k.weight_decay * weight, weight, moment);
  Access<N>::store(weight, weights + at);
  for (int m = 0; m < Rule::moments; ++m) Access<N>::store(moment[m], moments[m] + at);
}

/// The last numbers, fewer than a register; nothing beyond the end is touched.
template <class Rule>
HWY_INLINE void update_tail(const Coefficients<Lanes>& k, Lanes factor, Lanes bound, std::size_t count,
                            const float* gradient, float* weights, float* const* moments) {
  Lanes weight = load_part(weights, count, 0.0f);
  Lanes moment[Rule::moments + 1];
  for (int m = 0; m < Rule::moments; ++m) moment[m] = load_part(moments[m], count, 0.0f);
  const Lanes clipped = factor * clamp(load_part(gradient, count, 0.0f), bound);
  Rule::template step<Lanes>(k, clipped + k.weight_decay * weight, weight, moment);
  store_part(weight, weights, count);
  for (int m = 0; m < Rule::moments; ++m) store_part(moment[m], moments[m], count);
}

/// OptimizerType::reference (N = double) and OptimizerType::fast (N = Lanes).
template <class Rule, class N, class Real = typename Access<N>::Real>
void update_vector(const UpdateCoefficients& coefficients, std::size_t n, Real factor, Real clip_value,
                   const Real* gradient, Real* weights, Real* const* moments) {
  const Coefficients<N> k(coefficients);
  const N scale(factor);
  const N bound(clip_value > 0 ? clip_value : std::numeric_limits<Real>::infinity());
  Real* moment[Rule::moments + 1] = {};  // a copy, which the stores below cannot alias
  for (int m = 0; m < Rule::moments; ++m) moment[m] = moments[m];
  const std::size_t whole = n - n % Access<N>::count();
  for (std::size_t at = 0; at < whole; at += Access<N>::count())
    update_at<Rule, N>(k, scale, bound, gradient, weights, moment, at);
  if constexpr (std::is_same_v<N, Lanes>) {
    if (whole == n) return;
    for (int m = 0; m < Rule::moments; ++m) moment[m] += whole;
    update_tail<Rule>(k, scale, bound, n - whole, gradient + whole, weights + whole, moment);
  }
}

}  // namespace throughtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // THROUGHTIME_UPDATE_INL_H

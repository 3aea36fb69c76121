// Turns the formulas of an update rule (rule-inl.h) into passes over a vector, and these into an OptimizerType.
// Included once per instruction set: no #pragma once.
//
//   THROUGHTIME_REGISTER_OPTIMIZER(momentum, Momentum, "heavy ball: v = mu v + g, W -= rate v", "momentum")
// defines `OptimizerType throughtime::momentum_optimizer()`; behind the description come the fields of OptimizerConfig
// that the rule reads. The file begins as throughtime/simd/cell-inl.h says.
#if defined(THROUGHTIME_UPDATE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef THROUGHTIME_UPDATE_INL_H
#undef THROUGHTIME_UPDATE_INL_H
#else
#define THROUGHTIME_UPDATE_INL_H
#endif

#include <limits>
#include <type_traits>
#include <utility>

#include "optimizers/rule-inl.h"
#include "throughtime/optimizer.h"
#include "throughtime/simd/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace throughtime::HWY_NAMESPACE {

/// One register (or one number) of parameters at `weights`, with moment k at moments[k][at].
template <class Rule, class N, class Real = typename Access<N>::Real>
HWY_INLINE void update_at(const Coefficients<N>& k, N factor, N bound, const Real* gradient, Real* weights,
                          Real* const* moments, std::size_t at) {
  N weight = Access<N>::load(weights + at);
  N moment[Rule::moments + 1];
  for (int m = 0; m < Rule::moments; ++m) moment[m] = Access<N>::load(moments[m] + at);
  update_one<Rule, N>(k, factor, bound, Access<N>::load(gradient + at), weight, moment);
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
  update_one<Rule, Lanes>(k, factor, bound, load_part(gradient, count, 0.0f), weight, moment);
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

template <class Rule>
OptimizerType optimizer_type(const char* name, const char* description, OptimizerType::Fast (*fast)(),
                             std::vector<std::string> reads) {
  OptimizerType type;
  type.name = name;
  type.description = description;
  type.reads = std::move(reads);
  type.moments = Rule::moments;
  type.first_moment = Rule::first_moment;
  if constexpr (requires { Rule::average; }) type.average = Rule::average;
  if constexpr (requires { Rule::internal; }) type.internal = Rule::internal;
  if constexpr (requires { Rule::scale_free; }) type.scale_free = Rule::scale_free;
  type.coefficients = [](const OptimizerConfig& config, std::int64_t step, double rate) {
    UpdateCoefficients k = Rule::coefficients(config, step, rate);
    k.weight_decay = config.weight_decay;
    return k;
  };
  type.reference = update_vector<Rule, double>;
  type.fast = fast;
  return type;
}

}  // namespace throughtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#define THROUGHTIME_OPTIMIZER_PASS(name, Rule)                             \
  HWY_BEFORE_NAMESPACE();                                                  \
  namespace throughtime::HWY_NAMESPACE {                                   \
  OptimizerType::Fast name##_pass() { return update_vector<Rule, Lanes>; } \
  }                                                                        \
  HWY_AFTER_NAMESPACE();

#undef THROUGHTIME_REGISTER_OPTIMIZER
#if HWY_ONCE
#define THROUGHTIME_REGISTER_OPTIMIZER(name, Rule, description, ...)                            \
  THROUGHTIME_OPTIMIZER_PASS(name, Rule)                                                        \
  namespace throughtime {                                                                       \
  HWY_EXPORT(name##_pass);                                                                      \
  OptimizerType name##_optimizer() {                                                            \
    return HWY_NAMESPACE::optimizer_type<HWY_NAMESPACE::Rule>(                                  \
        #name, description, [] { return HWY_DYNAMIC_DISPATCH(name##_pass)(); }, {__VA_ARGS__}); \
  }                                                                                             \
  }
#else
#define THROUGHTIME_REGISTER_OPTIMIZER(name, Rule, description, ...) THROUGHTIME_OPTIMIZER_PASS(name, Rule)
#endif

#endif  // THROUGHTIME_UPDATE_INL_H

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heads/bernoulli.cpp"
#include <hwy/foreach_target.h>

#include "heads/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace throughtime::HWY_NAMESPACE {

/// log(1 + exp(x)) for x <= 0.
inline double log_one_plus_exponential(double x) { return std::log1p(std::exp(x)); }

/// With e = exp(x) and s = e / (2 + e) <= 1/3, log(1 + e) = 2 artanh(s) = s p(s^2): right to the last bits for the
/// smallest e too. p is a Chebyshev fit of degree 4 (relative error 4.1e-9).
HWY_INLINE Lanes log_one_plus_exponential(Lanes x) {
  const Lanes e = exponential(x);
  const Lanes s = e / (e + Lanes(2.0));
  const Lanes t = s * s;
  Lanes p(0.281577785);
  p = multiply_add(p, t, Lanes(0.279651577));
  p = multiply_add(p, t, Lanes(0.400245952));
  p = multiply_add(p, t, Lanes(0.666663216));
  p = multiply_add(p, t, Lanes(2.00000001));
  return s * p;
}

/// The sum over outputs of -y log p - (1 - y) log(1 - p) with p = sigmoid(z) and y in [0, 1].
struct NegativeLogLikelihood {
  static double share(int) { return 1.0; }

  template <class N>
  static HWY_INLINE N loss(N z, N y) {
    return larger(N(0.0), z) - z * y + log_one_plus_exponential(-larger(z, -z));
  }
  template <class N>
  static HWY_INLINE N slope(N z, N y) {
    return sigmoid(z) - y;
  }
  template <class N>
  static HWY_INLINE N mean(N z) {
    return sigmoid(z);
  }
};

HeadKernels<float> bernoulli_kernels() { return separable_kernels<NegativeLogLikelihood, Lanes>(); }

}  // namespace throughtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace throughtime {

HWY_EXPORT(bernoulli_kernels);

HeadType bernoulli_head() {
  HeadType head;
  head.name = "bernoulli";
  head.description = "independent yes or no per output, from logits, sum over outputs";
  head.target = TargetKind::probabilities;
  head.reference = HWY_NAMESPACE::separable_kernels<HWY_NAMESPACE::NegativeLogLikelihood, double>();
  head.fast = [] { return HWY_DYNAMIC_DISPATCH(bernoulli_kernels)(); };
  return head;
}

}  // namespace throughtime
#endif

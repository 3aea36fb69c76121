#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heads/regression.cpp"
#include <hwy/foreach_target.h>

#include "heads/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace throughtime::HWY_NAMESPACE {

/// The mean over outputs of (z - y)^2.
struct SquaredError {
  static double share(int outputs) { return 1.0 / outputs; }

  template <class N>
  static HWY_INLINE N loss(N z, N y) {
    return (z - y) * (z - y);
  }
  template <class N>
  static HWY_INLINE N slope(N z, N y) {
    return N(2.0) * (z - y);
  }
  template <class N>
  static HWY_INLINE N mean(N z) {
    return z;
  }
};

HeadKernels<float> regression_kernels() { return separable_kernels<SquaredError, Lanes>(); }

}  // namespace throughtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace throughtime {

HWY_EXPORT(regression_kernels);

HeadType regression_head() {
  HeadType head;
  head.name = "regression";
  head.description = "squared error, mean over outputs";
  head.target = TargetKind::values;
  head.reference = HWY_NAMESPACE::separable_kernels<HWY_NAMESPACE::SquaredError, double>();
  head.fast = [] { return HWY_DYNAMIC_DISPATCH(regression_kernels)(); };
  return head;
}

}  // namespace throughtime
#endif

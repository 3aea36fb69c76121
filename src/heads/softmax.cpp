#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heads/softmax.cpp"
#include <hwy/foreach_target.h>

#include "heads/softmax-inl.h"

HWY_BEFORE_NAMESPACE();
namespace throughtime::HWY_NAMESPACE {

HeadKernels<float> softmax_kernels() { return {softmax_loss<Lanes>, softmax_predict<Lanes>}; }

}  // namespace throughtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace throughtime {

HWY_EXPORT(softmax_kernels);

HeadType softmax_head() {
  HeadType head;
  head.name = "softmax";
  head.description = "cross-entropy with a label or a distribution over the classes";
  head.target = TargetKind::label_or_distribution;
  head.reference = {HWY_NAMESPACE::softmax_loss<double>, HWY_NAMESPACE::softmax_predict<double>};
  head.fast = [] { return HWY_DYNAMIC_DISPATCH(softmax_kernels)(); };
  return head;
}

}  // namespace throughtime
#endif

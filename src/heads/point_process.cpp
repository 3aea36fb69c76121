#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heads/point_process.cpp"
#include <hwy/foreach_target.h>

#include "heads/exponential_intensity.h"
#include "heads/softmax-inl.h"

HWY_BEFORE_NAMESPACE();
namespace throughtime::HWY_NAMESPACE {

/// RMTPP (Du et al. 2016): z = [logits of the marks, a, w]. The loss of the next event is the cross-entropy of its mark
/// - log f(interval), with the intensity exp(a + w t). The time's part is three numbers per row: double for both twins.
template <class N, class Real = typename Access<N>::Real>
double point_process_loss(int outputs, const Real* z, const RowTarget<Real>& target, Real weight, Real* d_z) {
  const int marks = outputs - 2;
  const IntervalLoss time = interval_loss(z[marks], z[marks + 1], target.values[0]);
  const double mark = softmax_loss<N>(marks, z, RowTarget<Real>{target.label, nullptr}, weight, d_z);
  if (d_z) {
    d_z[marks] = static_cast<Real>(weight * time.d_a);
    d_z[marks + 1] = static_cast<Real>(weight * time.d_w);
  }
  return mark + time.loss;
}

/// Probabilities of the marks; a and w stay as they are.
template <class N, class Real = typename Access<N>::Real>
void point_process_predict(int outputs, Real* z) {
  softmax_predict<N>(outputs - 2, z);
}

HeadKernels<float> point_process_kernels() { return {point_process_loss<Lanes>, point_process_predict<Lanes>}; }

}  // namespace throughtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace throughtime {

HWY_EXPORT(point_process_kernels);

HeadType point_process_head() {
  HeadType head;
  head.name = "point_process";
  head.description = "mark and time of the next event: softmax, and the intensity exp(a + w t) with one trained w";
  head.target = TargetKind::label_and_interval;
  head.beside = 2;
  head.constants = 1;
  head.reference = {HWY_NAMESPACE::point_process_loss<double>, HWY_NAMESPACE::point_process_predict<double>};
  head.fast = [] { return HWY_DYNAMIC_DISPATCH(point_process_kernels)(); };
  return head;
}

}  // namespace throughtime
#endif

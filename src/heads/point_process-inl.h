// Included once per instruction set: no #pragma once.
#if defined(THROUGHTIME_HEADS_POINT_PROCESS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef THROUGHTIME_HEADS_POINT_PROCESS_INL_H
#undef THROUGHTIME_HEADS_POINT_PROCESS_INL_H
#else
#define THROUGHTIME_HEADS_POINT_PROCESS_INL_H
#endif

#include "heads/exponential_intensity.h"
#include "heads/softmax-inl.h"

THROUGHTIME_FORMULAS_BEGIN

/// RMTPP (Du et al. 2016): z = [logits of the marks, a, w]. The loss of the next event is the cross-entropy of its mark
/// - log f(interval), with the intensity exp(a + w t). The time's part is three numbers per row: double for both twins.
struct PointProcess {
  static constexpr HeadShape shape = {.target = TargetKind::label_and_interval, .beside = 2, .constants = 1};

  template <class N, class Real = typename Access<N>::Real>
  static THROUGHTIME_INLINE double loss(int outputs, const Real* z, const RowTarget<Real>& target, Real weight,
                                        Real* d_z) {
    const int marks = outputs - 2;
    const IntervalLoss time = interval_loss(z[marks], z[marks + 1], target.values[0]);
    const double mark = Softmax::loss<N>(marks, z, RowTarget<Real>{target.label, nullptr}, weight, d_z);
    if (d_z) {
      d_z[marks] = static_cast<Real>(weight * time.d_a);
      d_z[marks + 1] = static_cast<Real>(weight * time.d_w);
    }
    return mark + time.loss;
  }

  /// Probabilities of the marks; a and w stay as they are.
  template <class N, class Real = typename Access<N>::Real>
  static THROUGHTIME_INLINE void predict(int outputs, Real* z) {
    Softmax::predict<N>(outputs - 2, z);
  }
};

THROUGHTIME_FORMULAS_END

#endif  // THROUGHTIME_HEADS_POINT_PROCESS_INL_H

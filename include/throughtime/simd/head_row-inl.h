// Walks one row of any length, a register of floats or one double at a time, so that a loss is written once for both.
// Included once per instruction set: no #pragma once.
#if defined(THROUGHTIME_HEAD_ROW_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef THROUGHTIME_HEAD_ROW_INL_H
#undef THROUGHTIME_HEAD_ROW_INL_H
#else
#define THROUGHTIME_HEAD_ROW_INL_H
#endif

#include "throughtime/head.h"
#include "throughtime/index.h"
#include "throughtime/simd/formulas-inl.h"

THROUGHTIME_FORMULAS_BEGIN

/// A sum that stays accurate over long rows: short runs in N, their totals in double.
template <class N>
class RunningSum {
 public:
  THROUGHTIME_INLINE RunningSum()
      : run_(N(0.0)) {}  // spelled out: an implied one is not compiled for the instruction set
  THROUGHTIME_INLINE void add(N x) {
    run_ += x;
    if (++length_ == 16) flush();
  }
  THROUGHTIME_INLINE double total() {
    flush();
    return total_;
  }

 private:
  THROUGHTIME_INLINE void flush() {
    total_ += sum_of(run_);
    run_ = N(0.0);
    length_ = 0;
  }

  N run_;
  int length_ = 0;
  double total_ = 0;
};

/// The head of a loss that is a sum over outputs, each with a target of its own. `Loss` has
///   static constexpr TargetKind target;
///   static double share(int outputs);              the factor in front of the sum
///   template <class N> static N loss(N z, N y);
///   template <class N> static N slope(N z, N y);   dloss/dz
///   template <class N> static N mean(N z);         the prediction
template <class Loss>
struct Separable {
  static constexpr HeadShape shape = {.target = Loss::target};

  template <class N, class Real = typename Access<N>::Real>
  static THROUGHTIME_INLINE double loss(int outputs, const Real* z, const RowTarget<Real>& target, Real weight,
                                        Real* d_z) {
    const std::size_t count = elements(outputs);
    const double share = Loss::share(outputs);
    const N scale(weight * share);
    RunningSum<N> sum;
    for (std::size_t at = 0; at < count; at += Access<N>::count()) {
      const std::size_t left = count - at;
      const N x = load_part(z + at, left, Real(0)), y = load_part(target.values + at, left, Real(0));
      sum.add(keep_part(Loss::loss(x, y), left));
      if (d_z) store_part(scale * Loss::slope(x, y), d_z + at, left);
    }
    return share * sum.total();
  }

  template <class N, class Real = typename Access<N>::Real>
  static THROUGHTIME_INLINE void predict(int outputs, Real* z) {
    const std::size_t count = elements(outputs);
    for (std::size_t at = 0; at < count; at += Access<N>::count())
      store_part(Loss::mean(load_part(z + at, count - at, Real(0))), z + at, count - at);
  }
};

THROUGHTIME_FORMULAS_END

#endif  // THROUGHTIME_HEAD_ROW_INL_H

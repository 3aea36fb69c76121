// Walks one row of any length, a register of floats or one double at a time, so that a loss is written once for both.
// Included once per instruction set: no #pragma once.
#if defined(THROUGHTIME_HEADS_ROW_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef THROUGHTIME_HEADS_ROW_INL_H
#undef THROUGHTIME_HEADS_ROW_INL_H
#else
#define THROUGHTIME_HEADS_ROW_INL_H
#endif

#include "throughtime/head.h"
#include "throughtime/simd/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace throughtime::HWY_NAMESPACE {

inline double load_part(const double* from, std::size_t, double) { return *from; }
inline void store_part(double x, double* to, std::size_t) { *to = x; }
inline double keep_part(double x, std::size_t) { return x; }
inline double sum_of(double x) { return x; }
inline double largest_of(double x) { return x; }
inline double exponential(double x) { return std::exp(x); }

/// A sum that stays accurate over long rows: short runs in N, their totals in double.
template <class N>
class RunningSum {
 public:
  HWY_INLINE RunningSum() : run_(N(0.0)) {}  // spelled out: an implied one is not compiled for the instruction set
  HWY_INLINE void add(N x) {
    run_ += x;
    if (++length_ == 16) flush();
  }
  HWY_INLINE double total() {
    flush();
    return total_;
  }

 private:
  HWY_INLINE void flush() {
    total_ += sum_of(run_);
    run_ = N(0.0);
    length_ = 0;
  }

  N run_;
  int length_ = 0;
  double total_ = 0;
};

/// A loss that is a sum over outputs: Loss::loss(z, y), Loss::slope(z, y) = dloss/dz, Loss::mean(z) the prediction,
/// and Loss::share(outputs) the factor in front of the sum.
template <class Loss, class N, class Real = typename Access<N>::Real>
double separable_loss(int outputs, const Real* z, const RowTarget<Real>& target, Real weight, Real* d_z) {
  const std::size_t count = static_cast<std::size_t>(outputs);
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

template <class Loss, class N, class Real = typename Access<N>::Real>
void separable_predict(int outputs, Real* z) {
  const std::size_t count = static_cast<std::size_t>(outputs);
  for (std::size_t at = 0; at < count; at += Access<N>::count())
    store_part(Loss::mean(load_part(z + at, count - at, Real(0))), z + at, count - at);
}

template <class Loss, class N>
HeadKernels<typename Access<N>::Real> separable_kernels() {
  return {separable_loss<Loss, N>, separable_predict<Loss, N>};
}

}  // namespace throughtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // THROUGHTIME_HEADS_ROW_INL_H

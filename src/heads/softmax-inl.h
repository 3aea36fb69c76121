// The softmax of one row and its cross-entropy, for the heads that have one.
// Included once per instruction set: no #pragma once.
#if defined(THROUGHTIME_HEADS_SOFTMAX_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef THROUGHTIME_HEADS_SOFTMAX_INL_H
#undef THROUGHTIME_HEADS_SOFTMAX_INL_H
#else
#define THROUGHTIME_HEADS_SOFTMAX_INL_H
#endif

#include "throughtime/index.h"
#include "throughtime/simd/head_row-inl.h"

THROUGHTIME_FORMULAS_BEGIN

template <class N, class Real = typename Access<N>::Real>
THROUGHTIME_INLINE Real largest_entry(std::size_t count, const Real* z) {
  N largest(static_cast<double>(z[0]));
  for (std::size_t at = 0; at < count; at += Access<N>::count())
    largest = larger(largest, load_part(z + at, count - at, z[0]));
  return largest_of(largest);
}

/// Sums over a row of outputs, all relative to its largest entry m, so that nothing overflows or cancels.
struct RowSums {
  double exponentials = 0;  // sum of exp(z - m)
  double mass = 1;          // sum of q
  double distance = 0;      // sum of q (m - z)
};

/// Where `exponentials` [count] is not null it receives exp(z - m); it may alias z.
template <class N, class Real = typename Access<N>::Real>
THROUGHTIME_INLINE RowSums sum_row(std::size_t count, const Real* z, const RowTarget<Real>& target,
                                   Real* exponentials) {
  const Real top = largest_entry<N>(count, z);
  const N m(static_cast<double>(top));
  RowSums sums;
  if (target.label >= 0) sums.distance = static_cast<double>(top) - static_cast<double>(z[target.label]);
  RunningSum<N> total, mass, distance;
  for (std::size_t at = 0; at < count; at += Access<N>::count()) {
    const std::size_t left = count - at;
    const N shifted = load_part(z + at, left, top) - m;
    const N e = exponential(shifted);
    total.add(keep_part(e, left));
    if (target.label < 0 && target.values) {
      const N q = load_part(target.values + at, left, Real(0));
      mass.add(q);
      distance.add(q * -shifted);
    }
    if (exponentials) store_part(e, exponentials + at, left);
  }
  sums.exponentials = total.total();
  if (target.label < 0) sums.mass = mass.total(), sums.distance = distance.total();
  return sums;
}

struct Softmax {
  static constexpr HeadShape shape = {.target = TargetKind::label_or_distribution};

  /// -sum q log p = sum(q) log(sum exp(z)) - sum q z; a label is a q of one 1.
  template <class N, class Real = typename Access<N>::Real>
  static THROUGHTIME_INLINE double loss(int outputs, const Real* z, const RowTarget<Real>& target, Real weight,
                                        Real* d_z) {
    const std::size_t count = elements(outputs);
    const RowSums sums = sum_row<N>(count, z, target, d_z);
    if (d_z) {
      const N scale(weight * sums.mass / sums.exponentials), w(static_cast<double>(weight));
      for (std::size_t at = 0; at < count; at += Access<N>::count()) {
        const std::size_t left = count - at;
        N d = load_part(d_z + at, left, Real(0)) * scale;
        if (target.label < 0) d -= w * load_part(target.values + at, left, Real(0));
        store_part(d, d_z + at, left);
      }
      if (target.label >= 0) d_z[target.label] -= weight;
    }
    return sums.mass * std::log(sums.exponentials) + sums.distance;
  }

  template <class N, class Real = typename Access<N>::Real>
  static THROUGHTIME_INLINE void predict(int outputs, Real* z) {
    const std::size_t count = elements(outputs);
    const N scale(1.0 / sum_row<N>(count, z, RowTarget<Real>(), z).exponentials);
    for (std::size_t at = 0; at < count; at += Access<N>::count())
      store_part(load_part(z + at, count - at, Real(0)) * scale, z + at, count - at);
  }
};

THROUGHTIME_FORMULAS_END

#endif  // THROUGHTIME_HEADS_SOFTMAX_INL_H

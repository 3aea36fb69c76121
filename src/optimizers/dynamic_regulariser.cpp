#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimizers/dynamic_regulariser.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "optimizers/dynamic_regulariser.h"
#include "throughtime/simd/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace throughtime::HWY_NAMESPACE {

constexpr std::size_t kBlock = 1024;  // numbers whose squares are summed before they go into a double

inline double total_of(double x) { return x; }
HWY_INLINE double total_of(Lanes x) { return sum_of(x); }

// The last register of a part may be short; plain numbers never are.
inline double load_some(const double* from, std::size_t) { return *from; }
inline void store_some(double value, double* to, std::size_t) { *to = value; }
HWY_INLINE Lanes load_some(const float* from, std::size_t left) { return load_part(from, left, 0.0f); }
HWY_INLINE void store_some(Lanes value, float* to, std::size_t left) { store_part(value, to, left); }

template <class N, class Real = typename Access<N>::Real>
typename RegulariserKernels<Real>::Squares add_terms(std::size_t n, Real scale, Real pull, const Real* weights,
                                                     const Real* average, const Real* multiplier, Real* gradient) {
  const N factor(scale), strength(pull);
  typename RegulariserKernels<Real>::Squares squares;
  for (std::size_t begin = 0; begin < n; begin += kBlock) {
    N total(0.0), loss(0.0), regulariser(0.0);
    const std::size_t end = std::min(n, begin + kBlock);
    for (std::size_t i = begin; i < end; i += Access<N>::count()) {
      const N g = factor * load_some(gradient + i, end - i);
      const N term = strength * (load_some(weights + i, end - i) - load_some(average + i, end - i)) -
                     load_some(multiplier + i, end - i);
      const N sum = g + term;
      store_some(sum, gradient + i, end - i);
      loss += g * g;
      regulariser += term * term;
      total += sum * sum;
    }
    squares.total += total_of(total);
    squares.loss += total_of(loss);
    squares.regulariser += total_of(regulariser);
  }
  return squares;
}

template <class N, class Real = typename Access<N>::Real>
double settle(std::size_t n, Real alpha, Real averaging, const Real* weights, Real* average, Real* multiplier) {
  const N a(alpha), b(averaging), b_over_alpha(averaging / alpha);
  double squares = 0;
  for (std::size_t begin = 0; begin < n; begin += kBlock) {
    N distance(0.0);
    const std::size_t end = std::min(n, begin + kBlock);
    for (std::size_t i = begin; i < end; i += Access<N>::count()) {
      const N weight = load_some(weights + i, end - i), before = load_some(average + i, end - i);
      const N lambda = load_some(multiplier + i, end - i) - a * (weight - before);
      const N after = before + b * (weight - before) - b_over_alpha * lambda;
      store_some(lambda, multiplier + i, end - i);
      store_some(after, average + i, end - i);
      distance += (weight - after) * (weight - after);
    }
    squares += total_of(distance);
  }
  return squares;
}

RegulariserKernels<float> regulariser_kernels() { return {add_terms<Lanes>, settle<Lanes>}; }

}  // namespace throughtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace throughtime {

HWY_EXPORT(regulariser_kernels);

RegulariserKernels<double> reference_regulariser() {
  return {HWY_NAMESPACE::add_terms<double>, HWY_NAMESPACE::settle<double>};
}
RegulariserKernels<float> fast_regulariser() { return HWY_DYNAMIC_DISPATCH(regulariser_kernels)(); }

}  // namespace throughtime
#endif

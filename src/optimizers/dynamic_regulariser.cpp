#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimizers/dynamic_regulariser.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "optimizers/dynamic_regulariser-inl.h"
#include "optimizers/dynamic_regulariser.h"
#include "throughtime/simd/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace throughtime::HWY_NAMESPACE {

constexpr std::size_t kBlock = 1024;  // numbers whose squares are summed before they go into a double

template <class N, class Real = typename Access<N>::Real>
typename RegulariserKernels<Real>::Squares add_terms(std::size_t n, Real scale, Real pull, const Real* weights,
                                                     const Real* average, const Real* multiplier, Real* gradient) {
  const N factor(scale), strength(pull);
  typename RegulariserKernels<Real>::Squares squares;
  for (std::size_t begin = 0; begin < n; begin += kBlock) {
    N total(0.0), loss(0.0), regulariser(0.0);
    const std::size_t end = std::min(n, begin + kBlock);
    for (std::size_t i = begin; i < end; i += Access<N>::count()) {
      const N g = factor * load_part(gradient + i, end - i, Real(0));
      const N term =
          DynamicTerms::gradient(strength, load_part(weights + i, end - i, Real(0)),
                                 load_part(average + i, end - i, Real(0)), load_part(multiplier + i, end - i, Real(0)));
      const N sum = g + term;
      store_part(sum, gradient + i, end - i);
      loss += g * g;
      regulariser += term * term;
      total += sum * sum;
    }
    squares.total += sum_of(total);
    squares.loss += sum_of(loss);
    squares.regulariser += sum_of(regulariser);
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
      const N weight = load_part(weights + i, end - i, Real(0));
      N mean = load_part(average + i, end - i, Real(0)), lambda = load_part(multiplier + i, end - i, Real(0));
      DynamicTerms::settle(a, b, b_over_alpha, weight, mean, lambda);
      store_part(lambda, multiplier + i, end - i);
      store_part(mean, average + i, end - i);
      distance += (weight - mean) * (weight - mean);
    }
    squares += sum_of(distance);
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

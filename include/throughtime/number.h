#pragma once

#include <cmath>
#include <type_traits>

namespace throughtime {

// The functions that a formula (simd/formulas-inl.h) may use on its number type N, for plain numbers. The same names
// exist for SIMD lanes in simd/lanes-inl.h, so that a formula is written once. Arithmetic operators work on all of
// them; a constant is written N(0.5).

template <class N>
concept PlainNumber = std::is_floating_point_v<N>;

template <PlainNumber N>
N sigmoid(N x) {
  return N(1) / (N(1) + std::exp(-x));
}
template <PlainNumber N>
N tanh(N x) {
  return std::tanh(x);
}
template <PlainNumber N>
N exponential(N x) {
  return std::exp(x);
}
/// log(1 + exp(x)) for x <= 0.
template <PlainNumber N>
N log_one_plus_exponential(N x) {
  return std::log1p(std::exp(x));
}
template <PlainNumber N>
N square_root(N x) {
  return std::sqrt(x);
}
// Where b is a NaN, so is the larger and the smaller of a and b.
template <PlainNumber N>
N larger(N a, N b) {
  return a > b ? a : b;
}
template <PlainNumber N>
N smaller(N a, N b) {
  return a < b ? a : b;
}
/// x held between -bound and bound. A NaN stays a NaN.
template <PlainNumber N>
N clamp(N x, N bound) {
  return x > bound ? bound : x < -bound ? -bound : x;
}
/// 1 where x > 0, else 0.
template <PlainNumber N>
N step_function(N x) {
  return x > N(0) ? N(1) : N(0);
}

}  // namespace throughtime

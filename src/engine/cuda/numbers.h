// The numbers of a device, for formulas that are compiled there (throughtime/simd/formulas-inl.h): one float at a time.
// A file of kernels says `#define THROUGHTIME_NUMBERS "engine/cuda/numbers.h"` before it includes formulas. The same
// bodies compile for the host, where tests run them as plain loops.
#pragma once

#include <cmath>
#include <cstddef>

#if defined(__CUDACC__)
#define THROUGHTIME_INLINE __host__ __device__ __forceinline__
#else
#define THROUGHTIME_INLINE inline
#endif
#define THROUGHTIME_FORMULAS_BEGIN namespace throughtime::cuda {
#define THROUGHTIME_FORMULAS_END }

THROUGHTIME_FORMULAS_BEGIN

constexpr float log2_of_e = 1.4426950408889634f;   // nearest float, and
constexpr float log2_of_e_rest = 1.925962989e-8f;  // what it leaves out

/// 2^x, to two units in the last place, on the unit for special functions. Results below 2^-126 are zero.
THROUGHTIME_INLINE float power_of_two(float x) {
#if defined(__CUDA_ARCH__)
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
#else
  return std::exp2(x);
#endif
}
/// 1 / x, to one unit in the last place; infinite where |x| is below 2^-126.
THROUGHTIME_INLINE float reciprocal(float x) {
#if defined(__CUDA_ARCH__)
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
#else
  return 1.0f / x;
#endif
}
/// exp(x), to three units in the last place: the rounding of x log2(e), which 2^x would magnify, is made good to first
/// order. Beyond the range of float (where that term may be a NaN) it does not matter.
THROUGHTIME_INLINE float exponential(float x) {
#if defined(__CUDA_ARCH__)
  const float exponent = x * log2_of_e;
  const float rest = fmaf(x, log2_of_e_rest, fmaf(x, log2_of_e, -exponent));
  const float result = power_of_two(exponent);
  return fabsf(exponent) < 200.0f ? fmaf(result, rest * 0.693147181f, result) : result;
#else
  return std::exp(x);
#endif
}
/// Error below 1e-7. (Here the rounding of the exponent does no harm: it grows with |x|, the slope falls faster.)
THROUGHTIME_INLINE float sigmoid(float x) { return reciprocal(1.0f + power_of_two(-log2_of_e * x)); }
/// 1 - 2 / (exp(2x) + 1); near zero, where that cancels, an odd polynomial. Relative error below 4e-7 everywhere.
THROUGHTIME_INLINE float tanh(float x) {
#if defined(__CUDA_ARCH__)
  const float square = x * x;
  float series = fmaf(1.57394409e-2f, square, -5.23025580e-2f);
  series = fmaf(series, square, 1.33152664e-1f);
  series = fmaf(series, square, -3.33327144e-1f);
  series = fmaf(series * square, x, x);
  const float quotient = fmaf(-2.0f, reciprocal(1.0f + power_of_two(2.0f * log2_of_e * x)), 1.0f);
  return fabsf(x) < 0.55f ? series : quotient;
#else
  return std::tanh(x);
#endif
}
/// log(1 + exp(x)) for x <= 0.
THROUGHTIME_INLINE float log_one_plus_exponential(float x) { return std::log1p(exponential(x)); }
THROUGHTIME_INLINE float square_root(float x) { return std::sqrt(x); }
// Where b is a NaN, so is the larger and the smaller of a and b.
THROUGHTIME_INLINE float larger(float a, float b) { return a > b ? a : b; }
THROUGHTIME_INLINE float smaller(float a, float b) { return a < b ? a : b; }
/// x held between -bound and bound. A NaN stays a NaN.
THROUGHTIME_INLINE float clamp(float x, float bound) { return x > bound ? bound : x < -bound ? -bound : x; }
/// 1 where x > 0, else 0.
THROUGHTIME_INLINE float step_function(float x) { return x > 0.0f ? 1.0f : 0.0f; }

THROUGHTIME_FORMULAS_END

// Included once per instruction set: no #pragma once.
#if defined(THROUGHTIME_LANES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef THROUGHTIME_LANES_INL_H
#undef THROUGHTIME_LANES_INL_H
#else
#define THROUGHTIME_LANES_INL_H
#endif

#include <hwy/highway.h>

#include "throughtime/number.h"

// What formulas are written in (simd/formulas-inl.h): the namespace of the instruction set at work.
#define THROUGHTIME_FORMULAS_BEGIN \
  HWY_BEFORE_NAMESPACE();          \
  namespace throughtime::HWY_NAMESPACE {
#define THROUGHTIME_FORMULAS_END \
  }                              \
  HWY_AFTER_NAMESPACE();
#define THROUGHTIME_INLINE HWY_INLINE

HWY_BEFORE_NAMESPACE();
namespace throughtime::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using throughtime::clamp;
using throughtime::exponential;
using throughtime::larger;
using throughtime::log_one_plus_exponential;
using throughtime::sigmoid;
using throughtime::smaller;
using throughtime::square_root;
using throughtime::step_function;
using throughtime::tanh;

/// As many floats as a register of this instruction set holds, with the operators of a number.
struct Lanes {
  using Tag = hn::ScalableTag<float>;
  using Vector = hn::Vec<Tag>;
  Vector v;

  Lanes() = default;
  HWY_INLINE Lanes(Vector vector) : v(vector) {}
  HWY_INLINE explicit Lanes(double constant) : v(hn::Set(Tag(), static_cast<float>(constant))) {}

  static HWY_INLINE std::size_t count() { return hn::Lanes(Tag()); }
  static HWY_INLINE Lanes load(const float* from) { return hn::LoadU(Tag(), from); }
  HWY_INLINE void store(float* to) const { hn::StoreU(v, Tag(), to); }
};

HWY_INLINE Lanes operator+(Lanes a, Lanes b) { return hn::Add(a.v, b.v); }
HWY_INLINE Lanes operator-(Lanes a, Lanes b) { return hn::Sub(a.v, b.v); }
HWY_INLINE Lanes operator*(Lanes a, Lanes b) { return hn::Mul(a.v, b.v); }
HWY_INLINE Lanes operator/(Lanes a, Lanes b) { return hn::Div(a.v, b.v); }
HWY_INLINE Lanes operator-(Lanes a) { return hn::Neg(a.v); }
HWY_INLINE Lanes& operator+=(Lanes& a, Lanes b) { return a = a + b; }
HWY_INLINE Lanes& operator-=(Lanes& a, Lanes b) { return a = a - b; }
HWY_INLINE Lanes& operator*=(Lanes& a, Lanes b) { return a = a * b; }

HWY_INLINE Lanes multiply_add(Lanes a, Lanes b, Lanes c) { return hn::MulAdd(a.v, b.v, c.v); }
HWY_INLINE Lanes square_root(Lanes x) { return hn::Sqrt(x.v); }
// Where b is a NaN the result is a NaN: x86's max and min return their second operand then, NEON's propagate it.
#if HWY_TARGET == HWY_SCALAR
HWY_INLINE Lanes larger(Lanes a, Lanes b) { return hn::IfThenElse(hn::Gt(a.v, b.v), a.v, b.v); }
HWY_INLINE Lanes smaller(Lanes a, Lanes b) { return hn::IfThenElse(hn::Lt(a.v, b.v), a.v, b.v); }
#else
HWY_INLINE Lanes larger(Lanes a, Lanes b) { return hn::Max(a.v, b.v); }
HWY_INLINE Lanes smaller(Lanes a, Lanes b) { return hn::Min(a.v, b.v); }
#endif
/// min and max do not promise that a NaN stays a NaN on every instruction set.
HWY_INLINE Lanes clamp(Lanes x, Lanes bound) {
  const Lanes capped = hn::IfThenElse(hn::Gt(x.v, bound.v), bound.v, x.v);
  return hn::IfThenElse(hn::Lt(capped.v, (-bound).v), (-bound).v, capped.v);
}
HWY_INLINE Lanes step_function(Lanes x) {
  return hn::IfThenElseZero(hn::Gt(x.v, hn::Zero(Lanes::Tag())), hn::Set(Lanes::Tag(), 1.0f));
}

/// exp(x) = power * (1 + rest) with power = 2^n: x = n ln 2 + r, rest = exp(r) - 1 = r q(r), |r| <= ln 2 / 2.
/// q is a Chebyshev fit of degree 5 (relative error 1.3e-8). |x| must stay below 87. It is `times` the given number, 1
/// or 2: twice a number is exact, and the sum with n does not wait for it.
struct ExpParts {
  Lanes power, rest;
};
template <int times = 1>
HWY_INLINE ExpParts exp_parts(Lanes number) {
  const Lanes::Tag d;
  const hn::RebindToSigned<Lanes::Tag> di;
  // Beside 1.5 * 2^23 a number keeps no fraction, and n is the last bits of the sum.
  const Lanes beside(12582912.0);
  const Lanes sum = multiply_add(number, Lanes(times * 1.44269504), beside);
  const Lanes x = times == 2 ? number + number : number;
  const Lanes whole = sum - beside;
  Lanes r = hn::NegMulAdd(whole.v, hn::Set(d, 0.693145752f), x.v);  // ln 2, high bits
  r = hn::NegMulAdd(whole.v, hn::Set(d, 1.42860677e-6f), r.v);      // and the rest of it
  // In pairs: a step of a net waits for this chain.
  const Lanes square = r * r;
  const Lanes low = multiply_add(Lanes(0.500000005), r, Lanes(1.00000001));
  const Lanes middle = multiply_add(Lanes(0.0416663522), r, Lanes(0.166665049));
  const Lanes high = multiply_add(Lanes(0.00139411633), r, Lanes(0.00836918688));
  const Lanes q = multiply_add(multiply_add(high, square, middle), square, low);
  const auto bits = hn::ShiftLeft<23>(hn::Add(hn::BitCast(di, sum.v), hn::Set(di, 127)));
  return {Lanes(hn::BitCast(d, bits)), r * q};
}

/// A NaN stays a NaN.
HWY_INLINE Lanes clamp_between(Lanes x, double low, double high) { return smaller(Lanes(high), larger(Lanes(low), x)); }

/// exp(x), zero below -87 and capped at exp(87). A NaN stays a NaN.
HWY_INLINE Lanes exponential(Lanes x) {
  const ExpParts e = exp_parts(clamp_between(x, -87.0, 87.0));
  const Lanes value = multiply_add(e.power, e.rest, e.power);
  const Lanes flushed = hn::IfThenZeroElse(hn::Lt(x.v, hn::Set(Lanes::Tag(), -87.0f)), value.v);
  return hn::IfThenElse(hn::IsNaN(x.v), x.v, flushed.v);
}

/// With e = exp(x) and s = e / (2 + e) <= 1/3, log(1 + e) = 2 artanh(s) = s p(s^2): right to the last bits for the
/// smallest e too. p is a Chebyshev fit of degree 4 (relative error 4.1e-9).
HWY_INLINE Lanes log_one_plus_exponential(Lanes x) {
  const Lanes e = exponential(x);
  const Lanes s = e / (e + Lanes(2.0));
  const Lanes t = s * s;
  Lanes p(0.281577785);
  p = multiply_add(p, t, Lanes(0.279651577));
  p = multiply_add(p, t, Lanes(0.400245952));
  p = multiply_add(p, t, Lanes(0.666663216));
  p = multiply_add(p, t, Lanes(2.00000001));
  return s * p;
}

HWY_INLINE float sum_of(Lanes x) { return hn::GetLane(hn::SumOfLanes(Lanes::Tag(), x.v)); }
HWY_INLINE float largest_of(Lanes x) { return hn::GetLane(hn::MaxOfLanes(Lanes::Tag(), x.v)); }

// The last register of a row may hold fewer than count() numbers; `left` is how many remain. No number behind the
// row is touched: masked where the instructions allow it, else through a copy.
HWY_INLINE Lanes load_part(const float* from, std::size_t left, float fill) {
  if (left >= Lanes::count()) return Lanes::load(from);
#if HWY_MEM_OPS_MIGHT_FAULT
  float padded[hn::MaxLanes(Lanes::Tag())];
  for (std::size_t lane = 0; lane < Lanes::count(); ++lane) padded[lane] = lane < left ? from[lane] : fill;
  return Lanes::load(padded);
#else
  const Lanes::Tag d;
  const auto first = hn::FirstN(d, left);
  return hn::IfThenElse(first, hn::MaskedLoad(first, d, from), hn::Set(d, fill));
#endif
}
HWY_INLINE void store_part(Lanes x, float* to, std::size_t left) {
  if (left >= Lanes::count()) return x.store(to);
#if HWY_MEM_OPS_MIGHT_FAULT
  float padded[hn::MaxLanes(Lanes::Tag())];
  x.store(padded);
  for (std::size_t lane = 0; lane < left; ++lane) to[lane] = padded[lane];
#else
  hn::BlendedStore(x.v, hn::FirstN(Lanes::Tag(), left), Lanes::Tag(), to);
#endif
}
/// Zero behind the first `left` lanes.
HWY_INLINE Lanes keep_part(Lanes x, std::size_t left) {
  if (left >= Lanes::count()) return x;
  return hn::IfThenElseZero(hn::FirstN(Lanes::Tag(), left), x.v);
}

// The same for a double at a time.
inline double sum_of(double x) { return x; }
inline double largest_of(double x) { return x; }
inline double load_part(const double* from, std::size_t, double) { return *from; }
inline void store_part(double x, double* to, std::size_t) { *to = x; }
inline double keep_part(double x, std::size_t) { return x; }

HWY_INLINE Lanes sigmoid(Lanes x) {
  const ExpParts e = exp_parts(clamp_between(-x, -87.0, 87.0));
  return Lanes(1.0) / (Lanes(1.0) + multiply_add(e.power, e.rest, e.power));
}

/// With m = exp(2x) - 1, tanh(x) = m / (m + 2): no cancellation near zero.
HWY_INLINE Lanes tanh(Lanes x) {
  const ExpParts e = exp_parts<2>(clamp_between(x, -10.0, 10.0));
  const Lanes m = multiply_add(e.power, e.rest, e.power - Lanes(1.0));
  return m / (m + Lanes(2.0));
}

/// How a loop over memory moves numbers of type N: plain doubles one at a time, lanes a register at a time.
template <class N>
struct Access {
  using Real = N;
  static std::size_t count() { return 1; }
  static N load(const N* from) { return *from; }
  static void store(N value, N* to) { *to = value; }
};
template <>
struct Access<Lanes> {
  using Real = float;
  static HWY_INLINE std::size_t count() { return Lanes::count(); }
  static HWY_INLINE Lanes load(const float* from) { return Lanes::load(from); }
  static HWY_INLINE void store(Lanes value, float* to) { value.store(to); }
};

}  // namespace throughtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // THROUGHTIME_LANES_INL_H

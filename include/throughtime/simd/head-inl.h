// Turns the formulas of a head into a HeadType. Included once per instruction set: no #pragma once.
//
// A head is a struct of formulas (simd/formulas-inl.h) with
//   static constexpr HeadShape shape;
//   template <class N> static double loss(int outputs, const Real* z, const RowTarget<Real>&, Real weight, Real* d_z);
//   template <class N> static void predict(int outputs, Real* z);
// on one row, as HeadKernels say; Real is float where N is a register of floats, else N itself. head_row-inl.h has what
// walks along a row, and `Separable`, which makes a head of a loss for ONE output.
//
// A head with layers of its own has instead, likewise on one row (HeadLayers, LayeredKernels in head.h),
//   static constexpr auto layers = a function that says which layers;
//   template <class N> static void spread(const LayeredRow<Real>&);
//   template <class N> static void predict(const LayeredRow<Real>&, Real* predictions);
//   template <class N> static double loss(const LayeredRow<Real>&, const RowTarget<Real>&, Real weight, bool back,
//                                         std::int32_t* likeliest);
//   template <class N> static void collect(const LayeredRow<Real>&);
//
//   THROUGHTIME_REGISTER_HEAD(regression, Regression, "squared error, mean over outputs")
// defines `HeadType throughtime::regression_head()`, in a file that begins as simd/cell-inl.h says.
#if defined(THROUGHTIME_HEAD_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef THROUGHTIME_HEAD_INL_H
#undef THROUGHTIME_HEAD_INL_H
#else
#define THROUGHTIME_HEAD_INL_H
#endif

#include "throughtime/head.h"
#include "throughtime/simd/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace throughtime::HWY_NAMESPACE {

/// Whether a head has layers of its own.
template <class Head>
concept Layered = requires {
  Head::layers;
};

template <class Head, class N>
HeadKernels<typename Access<N>::Real> head_kernels() {
  if constexpr (Layered<Head>)
    return {.layered = {Head::template spread<N>, Head::template predict<N>, Head::template loss<N>,
                        Head::template collect<N>}};
  else
    return {Head::template loss<N>, Head::template predict<N>};
}

template <class Head>
HeadType head_type(const char* name, const char* description, HeadKernels<float> (*fast)()) {
  HeadType head;
  head.name = name;
  head.description = description;
  head.target = Head::shape.target;
  head.beside = Head::shape.beside;
  head.constants = Head::shape.constants;
  head.band = Head::shape.band;
  head.reference = head_kernels<Head, double>();
  head.fast = fast;
  if constexpr (Layered<Head>) head.layers = Head::layers;
  return head;
}

}  // namespace throughtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#define THROUGHTIME_HEAD_KERNELS(name, Head)                                  \
  HWY_BEFORE_NAMESPACE();                                                     \
  namespace throughtime::HWY_NAMESPACE {                                      \
  HeadKernels<float> name##_kernels() { return head_kernels<Head, Lanes>(); } \
  }                                                                           \
  HWY_AFTER_NAMESPACE();

#undef THROUGHTIME_REGISTER_HEAD
#if HWY_ONCE
#define THROUGHTIME_REGISTER_HEAD(name, Head, description)                                                       \
  THROUGHTIME_HEAD_KERNELS(name, Head)                                                                           \
  namespace throughtime {                                                                                        \
  HWY_EXPORT(name##_kernels);                                                                                    \
  HeadType name##_head() {                                                                                       \
    return HWY_NAMESPACE::head_type<HWY_NAMESPACE::Head>(#name, description,                                     \
                                                         [] { return HWY_DYNAMIC_DISPATCH(name##_kernels)(); }); \
  }                                                                                                              \
  }
#else
#define THROUGHTIME_REGISTER_HEAD(name, Head, description) THROUGHTIME_HEAD_KERNELS(name, Head)
#endif

#endif  // THROUGHTIME_HEAD_INL_H

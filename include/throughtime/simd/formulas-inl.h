// What a file of formulas includes: cells, losses, update rules, as structs for the numbers of ONE unit, output or
// parameter. No include guard: the file it names has one for each instruction set.
//
//   THROUGHTIME_FORMULAS_BEGIN
//   struct Sgd {
//     template <class N>
//     static THROUGHTIME_INLINE void step(const Coefficients<N>& k, N gradient, N& weight, N*) {
//       weight -= k.rate * gradient;
//     }
//   };
//   THROUGHTIME_FORMULAS_END
//
// A formula uses the operators of its number type N and the functions of throughtime/number.h, called without a
// namespace. So it compiles for double and for a register of floats, once per instruction set (simd/lanes-inl.h), and
// for a device: there THROUGHTIME_NUMBERS names a header of the CUDA engine, which declares these functions for float
// in a namespace of its own and says
//
//   #define THROUGHTIME_FORMULAS_BEGIN namespace throughtime::cuda {
//   #define THROUGHTIME_FORMULAS_END }
//   #define THROUGHTIME_INLINE __host__ __device__ __forceinline__
#ifndef THROUGHTIME_NUMBERS
#define THROUGHTIME_NUMBERS "throughtime/simd/lanes-inl.h"
#endif

#include THROUGHTIME_NUMBERS

#pragma once

#include <cstddef>

#include "core/array.h"

namespace throughtime::cpu {

using Array = AlignedArray<float>;

/// Widest panel of columns that a product handles at once, and the unit to which widths are padded.
inline constexpr int kPanel = 64;
inline constexpr int kPad = 16;

inline std::size_t padded(std::size_t width) { return (width + kPad - 1) / kPad * kPad; }

/// One term of a product: A [rows, depth] times B [depth, columns]. Element (r, k) of A is at a[r * a_stride + k],
/// or, where A is used transposed, at a[k * a_stride + r]; row k of B is at b + k * b_stride.
struct Term {
  const float* a = nullptr;
  std::size_t a_stride = 0;
  const float* b = nullptr;
  std::size_t b_stride = 0;
  int depth = 0;
};

/// C [rows, columns] = start + sum of terms; columns is a multiple of kPad, at most kPanel. The start is C itself
/// (accumulate), a bias row, or zero. The order of the sum over depth depends on the shape alone.
struct Product {
  int rows = 0;
  int columns = 0;
  int terms = 0;
  Term term[2];
  float* c = nullptr;
  std::size_t c_stride = 0;
  const float* bias = nullptr;
  bool accumulate = false;
};

/// The products of one instruction set.
struct ProductKernels {
  void (*multiply)(const Product&) = nullptr;             // A as it is
  void (*multiply_transposed)(const Product&) = nullptr;  // A transposed (weight gradients), one term
  void (*add_rows)(int rows, std::size_t columns, const float* a, std::size_t a_stride, float* sum) = nullptr;
  /// to[k * to_stride + r] = from[r * from_stride + k] for r < rows, k < depth.
  void (*transpose)(const float* from, std::size_t from_stride, int rows, int depth, float* to,
                    std::size_t to_stride) = nullptr;
  double (*sum_of_squares)(std::size_t n, const float* x) = nullptr;
  /// to [rows, columns] = or += from; nothing behind the columns is touched.
  void (*copy_rows)(bool add, std::size_t rows, std::size_t columns, const float* from, std::size_t from_stride,
                    float* to, std::size_t to_stride) = nullptr;
};

ProductKernels product_kernels();

}  // namespace throughtime::cpu

#pragma once

#include <cstddef>

namespace throughtime::cpu {

// Sums over rows that lie side by side (kAcross): a matrix [n, kAcross] has a register of rows for each of n numbers.
// Weights and gradients are where the flat vectors have them. The order of a sum depends on the shape alone.

/// gradient [rows, columns] = or += the sum over spans and lanes of d[row] * x[column], and of d[row] alone in `bias`.
struct AcrossGradient {
  int spans = 0, rows = 0, columns = 0;
  const float* d = nullptr;  // [rows, kAcross] of each span
  std::size_t d_span = 0;
  const float* x = nullptr;  // [columns, kAcross] of each span
  std::size_t x_span = 0;
  float* gradient = nullptr;
  float* bias = nullptr;     // [rows]; null: there is none
  float* another = nullptr;  // that receives the same; null: there is none
  bool add = false;
};

struct AcrossProducts {
  void (*gradient)(const AcrossGradient&) = nullptr;
  /// out [rows, kAcross] = bias + W x, with W [rows, columns] and x [columns, kAcross].
  void (*multiply)(int rows, int columns, const float* weights, const float* bias, const float* x,
                   float* out) = nullptr;
  /// out [columns, kAcross] = W^T d, with W [rows, columns] and d [rows, kAcross].
  void (*send_back)(int rows, int columns, const float* weights, const float* d, float* out) = nullptr;
};

AcrossProducts across_products();

}  // namespace throughtime::cpu

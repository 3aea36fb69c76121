#pragma once

#include <cstddef>

#include "throughtime/index.h"

namespace throughtime::reference {

/// y [rows] = W [rows, columns] x + bias; a null bias is zero.
inline void affine(int rows, int columns, const double* weights, const double* x, const double* bias, double* y) {
  for (int r = 0; r < rows; ++r) {
    double sum = bias ? bias[r] : 0.0;
    for (int c = 0; c < columns; ++c) sum += weights[elements(r, columns) + c] * x[c];
    y[r] = sum;
  }
}

/// d_x [columns] += W^T d_y.
inline void add_transposed(int rows, int columns, const double* weights, const double* d_y, double* d_x) {
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) d_x[c] += weights[elements(r, columns) + c] * d_y[r];
}

/// d_W [rows, columns] += d_y x^T.
inline void add_outer(int rows, int columns, const double* d_y, const double* x, double* d_weights) {
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) d_weights[elements(r, columns) + c] += d_y[r] * x[c];
}

/// y [n] += x.
inline void add(int n, const double* x, double* y) {
  for (int i = 0; i < n; ++i) y[i] += x[i];
}

}  // namespace throughtime::reference

#pragma once

#include "engine/cuda/products.h"

namespace throughtime::cuda {

constexpr int most_thin_rows = 16;

/// Whether a product has so few rows that it costs no more than reading its weights: kernels of ours then take less
/// time than cuBLAS, which cuts it for many rows.
bool is_thin(int rows, int inputs, int outputs);

/// The products of products.h for at most most_thin_rows rows.
void issue_thin(const Context&, const LinearForward&);
void issue_thin(const Context&, const LinearBackward&);

}  // namespace throughtime::cuda

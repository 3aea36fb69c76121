#include <algorithm>
#include <cstring>

#include "engine/cpu/passes.h"
#include "throughtime/index.h"

namespace throughtime::cpu {

namespace {

// Depth of a block of B [depth, kPanel] that stays in the second-level cache while all rows pass over it, and the
// height of a block of the weight gradient, whose columns of d stay there.
constexpr int kDepthBlock = 512;
constexpr int kHeightBlock = 192;

/// c [rows, width] = start + a [rows, depth] times `depth` rows of a panel.
void multiply_panel(const ProductKernels& products, int rows, const float* a, std::size_t a_stride, const float* panel,
                    int width, int depth, const float* bias, bool accumulate, float* c, std::size_t c_stride) {
  Product product;
  product.rows = rows;
  product.columns = width;
  product.terms = 1;
  product.term[0] = {a, a_stride, panel, elements(width), depth};
  product.c = c;
  product.c_stride = c_stride;
  product.bias = bias;
  product.accumulate = accumulate;
  products.multiply(product);
}

}  // namespace

void multiply_panels(const ProductKernels& products, int rows, const float* a, std::size_t a_stride,
                     const ForwardPanels& panels, const float* bias, float* c, std::size_t c_stride) {
  for (int from = 0; from < panels.depth(); from += kDepthBlock)
    for (int p = 0; p < panels.panels(); ++p)
      multiply_panel(products, rows, a + from, a_stride, panels.panel(p) + elements(from) * panels.columns(p),
                     panels.columns(p), std::min(kDepthBlock, panels.depth() - from), bias + panels.column(p), from > 0,
                     c + panels.column(p), c_stride);
}

void multiply_panels(const ProductKernels& products, int rows, const float* a, std::size_t a_stride,
                     const BackwardPanels& panels, float* c, std::size_t c_stride, bool accumulate) {
  for (int from = 0; from < panels.depth(); from += kDepthBlock)
    for (int p = 0; p < panels.panels(); ++p)
      multiply_panel(products, rows, a + from, a_stride, panels.panel(p) + elements(from) * panels.columns(p),
                     panels.columns(p), std::min(kDepthBlock, panels.depth() - from), nullptr, accumulate || from > 0,
                     c + elements(p, kPanel), c_stride);
}

void add_weight_gradient(const ProductKernels& products, int rows, const float* d, std::size_t d_stride, int outputs,
                         const float* x, std::size_t x_stride, std::size_t inputs_padded, float* weights,
                         bool accumulate) {
  for (int from = 0; from < outputs; from += kHeightBlock)
    for (std::size_t column = 0; column < inputs_padded; column += kPanel) {
      Product product;
      product.rows = std::min(kHeightBlock, outputs - from);
      product.columns = static_cast<int>(std::min<std::size_t>(kPanel, inputs_padded - column));
      product.terms = 1;
      product.term[0] = {d + from, d_stride, x + column, x_stride, rows};
      product.c = weights + elements(from, inputs_padded) + column;
      product.c_stride = inputs_padded;
      product.accumulate = accumulate;
      products.multiply_transposed(product);
    }
}

void add_linear_gradient(const ProductKernels& products, int rows, const PackedLinear& linear, const float* d,
                         std::size_t d_stride, const float* x, std::size_t x_stride, LinearGradient& sums,
                         bool accumulate) {
  if (!accumulate) std::memset(sums.bias.data(), 0, sums.bias.bytes());
  add_weight_gradient(products, rows, d, d_stride, linear.outputs, x, x_stride, padded(linear.inputs),
                      sums.weights.data(), accumulate);
  products.add_rows(rows, sums.bias.size(), d, d_stride, sums.bias.data());
}

}  // namespace throughtime::cpu

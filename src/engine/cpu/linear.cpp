#include <algorithm>
#include <tuple>

#include "engine/cpu/passes.h"
#include "throughtime/index.h"

namespace throughtime::cpu {

namespace {

// Depth of a block of B [depth, kPanel] that stays in the second-level cache while all rows pass over it, and the
// height of a block of the weight gradient, whose columns of d stay there.
constexpr int kDepthBlock = 512;
constexpr int kHeightBlock = 192;

/// c [rows, width] = start + a [rows, depth] times `depth` rows of a panel, which are `stride` apart.
void multiply_panel(const ProductKernels& products, int rows, const float* a, std::size_t a_stride, const float* panel,
                    int width, int stride, int depth, const float* bias, bool accumulate, float* c,
                    std::size_t c_stride) {
  Product product;
  product.rows = rows;
  product.columns = width;
  product.terms = 1;
  product.term[0] = {a, a_stride, panel, elements(stride), depth};
  product.c = c;
  product.c_stride = c_stride;
  product.bias = bias;
  product.accumulate = accumulate;
  products.multiply(product);
}

}  // namespace

void multiply_panels(const ProductKernels& products, int rows, const float* a, std::size_t a_stride,
                     const ForwardPanels& panels, const float* bias, float* c, std::size_t c_stride, int first,
                     int last) {
  for (int from = 0; from < panels.depth(); from += kDepthBlock)
    for (int p = first; p < last; ++p)
      multiply_panel(products, rows, a + from, a_stride, panels.panel(p) + elements(from) * panels.columns(p),
                     panels.columns(p), panels.columns(p), std::min(kDepthBlock, panels.depth() - from),
                     bias + panels.column(p), from > 0, c + panels.column(p), c_stride);
}

void multiply_columns(const ProductKernels& products, int rows, const float* a, std::size_t a_stride,
                      const BackwardPanels& panels, float* c, std::size_t c_stride, bool accumulate, int first,
                      int last) {
  for (int from = 0; from < panels.depth(); from += kDepthBlock)
    for (int column = first; column < last;) {
      const int p = column / kPanel, skipped = column % kPanel, stride = panels.columns(p);
      const int width = std::min(stride - skipped, last - column);
      multiply_panel(products, rows, a + from, a_stride, panels.panel(p) + elements(from) * stride + skipped, width,
                     stride, std::min(kDepthBlock, panels.depth() - from), nullptr, accumulate || from > 0, c + column,
                     c_stride);
      column += width;
    }
}

void multiply_panels(const ProductKernels& products, int rows, const float* a, std::size_t a_stride,
                     const BackwardPanels& panels, float* c, std::size_t c_stride, bool accumulate) {
  multiply_columns(products, rows, a, a_stride, panels, c, c_stride, accumulate, 0, panels.all_columns());
}

void add_weight_gradient(Part part, const ProductKernels& products, int rows, const float* d, std::size_t d_stride,
                         int outputs, const float* x, std::size_t x_stride, std::size_t inputs_padded, float* weights,
                         bool accumulate) {
  int first = 0, last = outputs;
  std::size_t left = 0, right = inputs_padded;
  if (part.count > 1 && outputs >= kPad * part.count) {
    std::tie(first, last) = part.of(outputs, kPad);
  } else if (part.count > 1) {
    const auto [begin, end] = part.of(static_cast<int>(inputs_padded), kPad);
    left = elements(begin), right = elements(end);
  }
  for (int from = first; from < last; from += kHeightBlock)
    for (std::size_t column = left; column < right; column += kPanel) {
      Product product;
      product.rows = std::min(kHeightBlock, last - from);
      product.columns = static_cast<int>(std::min<std::size_t>(kPanel, right - column));
      product.terms = 1;
      product.term[0] = {d + from, d_stride, x + column, x_stride, rows};
      product.c = weights + elements(from, inputs_padded) + column;
      product.c_stride = inputs_padded;
      product.accumulate = accumulate;
      products.multiply_transposed(product);
    }
}

void add_bias_gradient(Part part, const ProductKernels& products, int rows, const float* d, std::size_t d_stride,
                       Array& sums, bool accumulate) {
  const auto [begin, end] = part.of(static_cast<int>(sums.size()), kPad);
  if (!accumulate) std::fill(sums.data() + begin, sums.data() + end, 0.0f);
  products.add_rows(rows, elements(end - begin), d + begin, d_stride, sums.data() + begin);
}

void add_linear_gradient(Part part, const ProductKernels& products, int rows, const PackedLinear& linear,
                         const float* d, std::size_t d_stride, const float* x, std::size_t x_stride,
                         LinearGradient& sums, bool accumulate) {
  add_weight_gradient(part, products, rows, d, d_stride, linear.outputs, x, x_stride, padded(linear.inputs),
                      sums.weights.data(), accumulate);
  add_bias_gradient(part, products, rows, d, d_stride, sums.bias, accumulate);
}

}  // namespace throughtime::cpu

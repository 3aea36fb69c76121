#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/cpu/few_rows/across_products.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "engine/cpu/few_rows/across_products.h"
#include "throughtime/index.h"
#include "throughtime/simd/across_steps-inl.h"

HWY_BEFORE_NAMESPACE();
namespace throughtime::cpu::HWY_NAMESPACE {
using throughtime::HWY_NAMESPACE::at_least_one;
using throughtime::HWY_NAMESPACE::in_all_lanes;
using throughtime::HWY_NAMESPACE::Lanes;
using throughtime::HWY_NAMESPACE::multiply_add;
using throughtime::HWY_NAMESPACE::send_all_across;
using throughtime::HWY_NAMESPACE::sum_of;

HWY_INLINE void put(float value, float* to, bool add) { *to = add ? *to + value : value; }

/// `rows` rows from `row` on of `columns` columns, and with the first of these the bias.
template <int rows, int columns>
HWY_NOINLINE void across_tile(const AcrossGradient& call, int row, int column) {
  Lanes sum[rows][at_least_one(columns)], bias[rows];
  for (int r = 0; r < rows; ++r) {
    bias[r] = Lanes(0.0);
    for (int c = 0; c < columns; ++c) sum[r][c] = Lanes(0.0);
  }
  const float* d = call.d + elements(row) * kAcross;
  const float* x = call.x + elements(column) * kAcross;
  for (int span = 0; span < call.spans; ++span, d += call.d_span, x += call.x_span)
    for (std::size_t lane = 0; lane < kAcross; lane += Lanes::count()) {
      Lanes right[at_least_one(columns)];
      for (int c = 0; c < columns; ++c) right[c] = Lanes::load(x + c * kAcross + lane);
      for (int r = 0; r < rows; ++r) {
        const Lanes left = Lanes::load(d + r * kAcross + lane);
        bias[r] += left;
        for (int c = 0; c < columns; ++c) sum[r][c] = multiply_add(left, right[c], sum[r][c]);
      }
    }
  for (int r = 0; r < rows; ++r) {
    float* to = call.gradient + elements(row + r, call.columns) + elements(column);
    for (int c = 0; c < columns; ++c) put(sum_of(sum[r][c]), to + c, call.add);
    if (column > 0 || !call.bias) continue;
    const float total = sum_of(bias[r]);
    put(total, call.bias + row + r, call.add);
    if (call.another) put(total, call.another + row + r, call.add);
  }
}

template <int rows>
void across_strip(const AcrossGradient& call, int row) {
  int column = 0;
  if (call.columns == 0) across_tile<rows, 0>(call, row, 0);
  for (; column + 4 <= call.columns; column += 4) across_tile<rows, 4>(call, row, column);
  if (column + 2 <= call.columns) across_tile<rows, 2>(call, row, column), column += 2;
  if (column < call.columns) across_tile<rows, 1>(call, row, column);
}

void across_gradient(const AcrossGradient& given) {
  const AcrossGradient call = given;
  int row = 0;
  for (; row + 4 <= call.rows; row += 4) across_strip<4>(call, row);
  if (row + 2 <= call.rows) across_strip<2>(call, row), row += 2;
  if (row < call.rows) across_strip<1>(call, row);
}

void across_multiply(int rows, int columns, const float* weights, const float* bias, const float* x, float* out) {
  for (int row = 0; row < rows; ++row, out += kAcross, weights += columns)
    for (std::size_t lane = 0; lane < kAcross; lane += Lanes::count()) {
      Lanes sum = in_all_lanes(bias[row]);
      for (int column = 0; column < columns; ++column)
        sum = multiply_add(in_all_lanes(weights[column]), Lanes::load(x + column * kAcross + lane), sum);
      sum.store(out + lane);
    }
}

void across_send_back(int rows, int columns, const float* weights, const float* d, float* out) {
  std::fill_n(out, elements(columns) * kAcross, 0.0f);
  for (std::size_t lane = 0; lane < kAcross; lane += Lanes::count())
    send_all_across(rows, columns, weights, d + lane, out + lane);
}

AcrossProducts make_across_products() { return {across_gradient, across_multiply, across_send_back}; }

}  // namespace throughtime::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace throughtime::cpu {

HWY_EXPORT(make_across_products);

AcrossProducts across_products() { return HWY_DYNAMIC_DISPATCH(make_across_products)(); }

}  // namespace throughtime::cpu
#endif

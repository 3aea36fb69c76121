#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/cpu/few_rows/row_products.cpp"
#include <hwy/foreach_target.h>

#include "engine/cpu/few_rows/row_products.h"
#include "engine/cpu/products.h"
#include "throughtime/index.h"
#include "throughtime/simd/pointwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace throughtime::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using throughtime::HWY_NAMESPACE::at_least_one;
using throughtime::HWY_NAMESPACE::Lanes;
using throughtime::HWY_NAMESPACE::load_part;
using throughtime::HWY_NAMESPACE::multiply_add;
using throughtime::HWY_NAMESPACE::store_part;
using throughtime::HWY_NAMESPACE::sum_of;

HWY_INLINE Lanes spread(float value) { return hn::Set(Lanes::Tag(), value); }

void outputs(int outputs, int hidden, const float* h, const float* weights, const float* bias, float* z) {
  const std::size_t width = elements(hidden);
  for (int output = 0; output < outputs; ++output, weights += width) {
    Lanes sum(0.0);
    for (std::size_t at = 0; at < width; at += Lanes::count())
      sum = multiply_add(Lanes::load(h + at), load_part(weights + at, width - at, 0.0f), sum);
    z[output] = bias[output] + sum_of(sum);
  }
}

/// One sum over the outputs alone would wait for each addition: four over every fourth one run side by side.
void send_back(int outputs, int hidden, const float* d_z, const float* weights, float* d_h) {
  constexpr int chains = 4;
  const std::size_t width = elements(hidden), all = padded(width);
  for (std::size_t at = 0; at < all; at += Lanes::count()) {
    const std::size_t left = at < width ? width - at : 0;
    Lanes part[chains] = {Lanes(0.0), Lanes(0.0), Lanes(0.0), Lanes(0.0)};
    const float* from = weights + at;
    for (int output = 0; output < outputs && left > 0; ++output, from += width)
      part[output % chains] = multiply_add(spread(d_z[output]), load_part(from, left, 0.0f), part[output % chains]);
    ((part[0] + part[1]) + (part[2] + part[3])).store(d_h + at);
  }
}

// ---------------------------------------------------------------- gradients of weights

// Rows of a tile: two registers of columns each, with room for what is multiplied.
#if HWY_TARGET <= HWY_AVX3 || HWY_TARGET == HWY_NEON
constexpr int kTileRows = 8;
#else
constexpr int kTileRows = 4;
#endif

/// `rows` rows from `row` on of `vectors` registers of columns, all of them full but perhaps the last.
template <int rows, int vectors>
HWY_INLINE void gradient_tile(const RowWeightGradient& call, int row, std::size_t column, std::size_t left) {
  const std::size_t lanes = Lanes::count(), width = elements(call.columns);
  float* to = call.gradient + elements(row) * width + column;
  Lanes sum[rows][vectors];
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < vectors; ++v)
      sum[r][v] = call.add ? load_part(to + r * width + v * lanes, left - v * lanes, 0.0f) : Lanes(0.0);
  const float* d = call.d + row;
  const float* x = call.x + column;
  for (int step = 0; step < call.steps; ++step, d += call.d_stride, x += call.x_stride) {
    Lanes right[vectors];
    for (int v = 0; v < vectors; ++v) right[v] = Lanes::load(x + v * lanes);
    for (int r = 0; r < rows; ++r) {
      const Lanes cotangent = spread(d[r]);
      for (int v = 0; v < vectors; ++v) sum[r][v] = multiply_add(cotangent, right[v], sum[r][v]);
    }
  }
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < vectors; ++v) store_part(sum[r][v], to + r * width + v * lanes, left - v * lanes);
}

template <int vectors>
HWY_NOINLINE void gradient_strip(const RowWeightGradient& call, std::size_t column, std::size_t left) {
  int row = 0;
  for (; row + kTileRows <= call.rows; row += kTileRows) gradient_tile<kTileRows, vectors>(call, row, column, left);
  for (; row + 2 <= call.rows; row += 2) gradient_tile<2, vectors>(call, row, column, left);
  if (row < call.rows) gradient_tile<1, vectors>(call, row, column, left);
}

/// Group by group, or all at once where no padding lies between groups.
void weight_gradient(const RowWeightGradient& given) {
  RowWeightGradient call = given;
  if (call.block == elements(call.rows)) call.rows *= call.groups, call.groups = 1;
  const std::size_t lanes = Lanes::count(), width = elements(call.columns);
  for (; call.groups > 0; --call.groups, call.d += call.block, call.gradient += elements(call.rows) * width) {
    std::size_t column = 0;
    for (; column + lanes < width; column += 2 * lanes) gradient_strip<2>(call, column, width - column);
    if (column < width) gradient_strip<1>(call, column, width - column);
  }
}

// ---------------------------------------------------------------- gradients of gates

/// Writes a register of numbers that belong into every `stride`-th place.
HWY_INLINE void scatter(Lanes values, float* to, std::size_t stride, std::size_t left, bool add) {
  HWY_ALIGN float numbers[hn::MaxLanes(Lanes::Tag())];
  values.store(numbers);
  const std::size_t count = left < Lanes::count() ? left : Lanes::count();
  for (std::size_t i = 0; i < count; ++i) to[i * stride] = (add ? to[i * stride] : 0.0f) + numbers[i];
}

HWY_INLINE void put(Lanes values, float* to, std::size_t left, bool add) {
  store_part(add ? load_part(to, left, 0.0f) + values : values, to, left);
}

/// Columns of the weights of a register of gates.
template <int inputs>
HWY_INLINE void put_columns(const RowGateGradient& call, const Lanes* sum, float* to, std::size_t left) {
  const std::size_t width = elements(call.inputs);
  if (inputs == 1 && width == 1) return put(sum[0], to, left, call.add);
  if constexpr (inputs == 2) {
    if (width == 2 && left >= Lanes::count() && !call.add)
      return hn::StoreInterleaved2(sum[0].v, sum[1].v, Lanes::Tag(), to);
  }
  for (int i = 0; i < inputs; ++i) scatter(sum[i], to + i, width, left, call.add);
}

// Registers of gates whose sums run side by side: one sum alone would wait for each addition.
constexpr int kGateVectors = 4;

/// Gates in registers: those of a group, padding included, lie behind those of the group before.
struct GateRegisters {
  int of_group = 0, all = 0;

  explicit GateRegisters(const RowGateGradient& call) {
    const int lanes = static_cast<int>(Lanes::count());
    of_group = call.groups > 1 ? static_cast<int>(call.block) / lanes : (call.rows + lanes - 1) / lanes;
    all = call.groups * of_group;
  }
};

/// `vectors` registers of gates from `begin` on: `inputs` columns of the weights from `first` on, and the bias with the
/// first.
template <int inputs, int vectors>
HWY_INLINE void gates(const RowGateGradient& call, GateRegisters registers, int begin, int first, bool with_bias) {
  const std::size_t lanes = Lanes::count();
  const float* d = call.d + begin * lanes;
  const float* x = call.x + first;
  Lanes bias[vectors], sum[vectors][at_least_one(inputs)];
  for (int v = 0; v < vectors; ++v) {
    bias[v] = Lanes(0.0);
    for (int i = 0; i < inputs; ++i) sum[v][i] = Lanes(0.0);
  }
  for (int step = 0; step < call.steps; ++step, d += call.d_stride) {
    Lanes input[at_least_one(inputs)];
    for (int i = 0; i < inputs; ++i) input[i] = spread(x[i]);
    for (int v = 0; v < vectors; ++v) {
      const Lanes cotangent = Lanes::load(d + v * lanes);
      bias[v] += cotangent;
      for (int i = 0; i < inputs; ++i) sum[v][i] = multiply_add(input[i], cotangent, sum[v][i]);
    }
    if constexpr (inputs > 0) x += call.x_stride;
  }
  int group = call.groups > 1 ? begin / registers.of_group : 0;  // a division takes long beside a small net
  int at = (begin - group * registers.of_group) * static_cast<int>(lanes);
  for (int v = 0; v < vectors; ++v, at += static_cast<int>(lanes)) {
    if (at == registers.of_group * static_cast<int>(lanes)) at = 0, ++group;
    if (at >= call.rows) continue;  // padding
    const std::size_t place = elements(group, call.rows) + elements(at), left = elements(call.rows - at);
    if (with_bias && call.bias) put(bias[v], call.bias + place, left, call.add);
    if (with_bias && call.another) put(bias[v], call.another + place, left, call.add);
    if constexpr (inputs > 0)
      put_columns<inputs>(call, sum[v], call.weights + place * elements(call.inputs) + first, left);
  }
}

/// All columns of the weights, and the bias with the first of them.
template <int vectors>
HWY_NOINLINE void gate_strip(const RowGateGradient& call, GateRegisters registers, int begin) {
  int first = 0;
  if (call.inputs == 0) gates<0, vectors>(call, registers, begin, 0, true);
  for (; first + 4 <= call.inputs; first += 4) gates<4, vectors>(call, registers, begin, first, first == 0);
  if (call.inputs - first >= 2) gates<2, vectors>(call, registers, begin, first, first == 0), first += 2;
  if (call.inputs > first) gates<1, vectors>(call, registers, begin, first, first == 0);
}

void gate_gradient(const RowGateGradient& given) {
  const RowGateGradient call = given;
  const GateRegisters registers(call);
  int begin = 0;
  for (; begin + kGateVectors <= registers.all; begin += kGateVectors) gate_strip<kGateVectors>(call, registers, begin);
  for (; begin < registers.all; ++begin) gate_strip<1>(call, registers, begin);
}

RowProducts make_row_products() { return {outputs, send_back, weight_gradient, gate_gradient}; }

}  // namespace throughtime::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace throughtime::cpu {

HWY_EXPORT(make_row_products);

RowProducts row_products() { return HWY_DYNAMIC_DISPATCH(make_row_products)(); }

}  // namespace throughtime::cpu
#endif

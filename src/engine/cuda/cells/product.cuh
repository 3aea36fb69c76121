// The products of the persistent recurrence: which weights a thread holds in its registers (division.cuh), and what it
// multiplies them with.
#pragma once

#include <cstddef>

#include "engine/cuda/cells/division.cuh"
#include "engine/cuda/cells/exchange.cuh"

namespace throughtime::cuda {

#if defined(__CUDACC__)

/// `count` (1, 2, 4 or 8) neighbouring numbers of a row of weights, zeros from `valid` on. At once where `wide` says
/// so.
template <int count>
__device__ __forceinline__ void load_neighbours(const float* from, int valid, bool wide, float* to) {
  if constexpr (count == 8) {
    load_neighbours<4>(from, valid, wide, to);
    load_neighbours<4>(from + 4, valid - 4, wide, to + 4);
  } else if (wide && valid >= count) {
    if constexpr (count == 4) {
      const float4 four = __ldg(reinterpret_cast<const float4*>(from));
      to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
    } else if constexpr (count == 2) {
      const float2 two = __ldg(reinterpret_cast<const float2*>(from));
      to[0] = two.x, to[1] = two.y;
    } else {
      to[0] = __ldg(from);
    }
  } else {
#pragma unroll
    for (int i = 0; i < count; ++i) to[i] = i < valid ? __ldg(from + i) : 0.0f;
  }
}
/// Whether rows of that many weights begin at addresses for wide loads.
__device__ __forceinline__ bool wide_rows(const float* weights, int hidden) {
  return hidden % 4 == 0 && reinterpret_cast<std::size_t>(weights) % 16 == 0;
}

/// A forward thread has all gates of `units` units; the `lanes` neighbouring threads that share them have every
/// lanes-th group of 4 columns each, `depth` columns.
template <int gates, class Division>
struct FrontLayout {
  static constexpr int most_lanes = Division::width / 4 < 16 ? Division::width / 4 : 16;
  static constexpr int wanted = Division::outputs / gates < 1 ? 1 : Division::outputs / (gates == 3 ? 4 : gates);
  static constexpr int most_units = most_lanes * Division::units / Division::threads;
  static constexpr int units = wanted < most_units ? wanted : most_units;
  static constexpr int lanes = Division::threads * units / Division::units, depth = Division::width / lanes;
  static_assert(units >= 1 && lanes >= 1 && depth % 4 == 0);
  using Weights = float[units][gates][depth];
};

template <int gates, class Division>
__device__ __forceinline__ void load_weights(const float* weights, int hidden, int first_unit, int lane,
                                             typename FrontLayout<gates, Division>::Weights& held) {
  using Layout = FrontLayout<gates, Division>;
  const bool wide = wide_rows(weights, hidden);
#pragma unroll
  for (int i = 0; i < Layout::units * gates; ++i)
#pragma unroll
    for (int q = 0; q < Layout::depth / 4; ++q) {
      const int unit = first_unit + i / gates, gate = i % gates, column = (q * Layout::lanes + lane) * 4;
      const float* from = weights + (static_cast<std::size_t>(gate) * hidden + unit) * hidden + column;
      load_neighbours<4>(from, unit < hidden ? hidden - column : 0, wide, held[i / gates][gate] + q * 4);
    }
}

/// Side by side sums of one product: enough of them that no addition waits for the one before.
constexpr int chains_for(int outputs) { return outputs >= 3 ? 1 : outputs == 2 ? 2 : 4; }
template <int chains>
__device__ __forceinline__ float add_up(const float (&part)[chains]) {
  if constexpr (chains == 4)
    return (part[0] + part[1]) + (part[2] + part[3]);
  else if constexpr (chains == 2)
    return part[0] + part[1];
  else
    return part[0];
}

/// sums [row, gate][unit] of `rows` rows: this thread's part of the products, added up over the lanes of its units.
/// `state`: h of the first of these rows, [rows][width]; `sums`: of the first of these rows and units.
template <int rows, int gates, class Division>
__device__ __forceinline__ void multiply(const typename FrontLayout<gates, Division>::Weights& weights,
                                         const float* state, int lane, float* sums, int sums_stride) {
  using Layout = FrontLayout<gates, Division>;
  constexpr int lanes = Layout::lanes, outputs = Layout::units * gates, count = rows * outputs;
  constexpr int chains = chains_for(outputs);
  float part[rows][outputs][chains] = {};
#pragma unroll
  for (int q = 0; q < Layout::depth / 4; ++q)
#pragma unroll
    for (int row = 0; row < rows; ++row) {
      const float4 h = *reinterpret_cast<const float4*>(state + row * Division::width + (q * lanes + lane) * 4);
      const float columns[4] = {h.x, h.y, h.z, h.w};
#pragma unroll
      for (int e = 0; e < 4; ++e)
#pragma unroll
        for (int i = 0; i < outputs; ++i)
          part[row][i][e % chains] =
              fmaf(weights[i / gates][i % gates][q * 4 + e], columns[e], part[row][i][e % chains]);
    }
  float values[count];
#pragma unroll
  for (int i = 0; i < count; ++i) values[i] = add_up<chains>(part[i / outputs][i % outputs]);
  sum_over_lanes<count, lanes>(values, lane);
  constexpr int splits = most_splits(count, lanes);
  if (lane < splits)
#pragma unroll
    for (int i = 0; i < count / splits; ++i) {
      const int index = i * splits + lane, row = index / outputs, unit = index % outputs / gates, gate = index % gates;
      sums[(row * gates + gate) * sums_stride + unit] = values[i];
    }
}

/// How a backward thread reads the cotangents of gates: `vector` numbers at once, of `vector_units` units. Vector i of
/// lane p is that of the units (i * back_lanes + p) * vector_units ...: neighbouring lanes read neighbouring numbers.
template <int gates, class Division>
struct BackLayout {
  static constexpr int gate_stride = gates == 3 ? 4 : gates;
  static constexpr int most_units = gate_stride >= 4 ? 1 : 4 / gate_stride;
  static constexpr int vector_units = Division::back_units < most_units ? Division::back_units : most_units;
  static constexpr int vector = vector_units * gate_stride;
  static constexpr int vectors = Division::back_units / vector_units;
  static constexpr int numbers = vectors * vector;  // of them a fourth unused where there are three gates
};
template <int count>
__device__ __forceinline__ void load_vector(const float* from, float* to) {
  if constexpr (count == 4) {
    const float4 four = *reinterpret_cast<const float4*>(from);
    to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
  } else if constexpr (count == 2) {
    const float2 two = *reinterpret_cast<const float2*>(from);
    to[0] = two.x, to[1] = two.y;
  } else {
    to[0] = *from;
  }
}

/// The part of the recurrent weights that a thread holds: columns [first_column, + columns) of its units' gate rows.
template <int gates, class Division>
__device__ __forceinline__ void load_weights_back(
    const float* weights, int hidden, int first_unit, int first_column, int lane,
    float (&held)[BackLayout<gates, Division>::numbers][Division::columns]) {
  using Layout = BackLayout<gates, Division>;
  const bool wide = wide_rows(weights, hidden);
#pragma unroll
  for (int i = 0; i < Layout::numbers; ++i) {
    const int gate = i % Layout::gate_stride, within = i % Layout::vector / Layout::gate_stride;
    const int unit = first_unit + (i / Layout::vector * Division::back_lanes + lane) * Layout::vector_units + within;
    const float* from = weights + (static_cast<std::size_t>(gate) * hidden + unit) * hidden + first_column;
    load_neighbours<Division::columns>(from, gate < gates && unit < hidden ? hidden - first_column : 0, wide, held[i]);
  }
}

/// values [row, column] of `rows` rows: this thread's part of the products, added up over its neighbours as
/// sum_over_lanes says. `d_gates`: [rows][units][gate_stride].
template <int rows, int gates, class Division>
__device__ __forceinline__ void multiply_back(
    const float (&weights)[BackLayout<gates, Division>::numbers][Division::columns], const float* d_gates, int lane,
    float (&values)[rows * Division::columns]) {
  using Layout = BackLayout<gates, Division>;
  constexpr int columns = Division::columns, chains = chains_for(columns);
  float part[rows][columns][chains] = {};
#pragma unroll
  for (int i = 0; i < Layout::vectors; ++i)
#pragma unroll
    for (int row = 0; row < rows; ++row) {
      float d[Layout::vector];
      load_vector<Layout::vector>(
          d_gates + row * Division::units * Layout::gate_stride + (i * Division::back_lanes + lane) * Layout::vector,
          d);
#pragma unroll
      for (int e = 0; e < Layout::vector; ++e)
        if (e % Layout::gate_stride < gates)
#pragma unroll
          for (int column = 0; column < columns; ++column)
            part[row][column][e % chains] =
                fmaf(weights[i * Layout::vector + e][column], d[e], part[row][column][e % chains]);
    }
#pragma unroll
  for (int i = 0; i < rows * columns; ++i) values[i] = add_up<chains>(part[i / columns][i % columns]);
  sum_over_lanes<rows * columns, Division::back_lanes>(values, lane);
}

#endif  // __CUDACC__

}  // namespace throughtime::cuda

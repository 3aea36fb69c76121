// Products of one row with a matrix, as parts of a cell's step. Included once per instruction set: no #pragma once.
//
// One sum over k alone would wait for each addition: several sums over every n-th k run side by side instead. How many
// depends on the shape alone, and so does the order in which they are added up.
#if defined(THROUGHTIME_ROW_PRODUCT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef THROUGHTIME_ROW_PRODUCT_INL_H
#undef THROUGHTIME_ROW_PRODUCT_INL_H
#else
#define THROUGHTIME_ROW_PRODUCT_INL_H
#endif

#include "throughtime/simd/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace throughtime::HWY_NAMESPACE {

// Sums that live in registers: 16 where there are 32 registers, 8 where there are 16.
#if HWY_TARGET <= HWY_AVX3 || HWY_TARGET == HWY_NEON
constexpr int kRowSums = 16;
#else
constexpr int kRowSums = 8;
#endif
constexpr int row_chains(int vectors) { return vectors * 4 <= kRowSums ? 4 : vectors * 2 <= kRowSums ? 2 : 1; }

/// Sums over every n-th k of `vectors` registers of columns.
template <int vectors>
using RowParts = Lanes::Vector[row_chains(vectors)][vectors];

/// The first of them begins with `first` [vectors blocks], the others with zero.
template <int vectors>
HWY_INLINE void start_parts(const float* first, std::size_t block, RowParts<vectors>& part) {
  const Lanes::Tag d;
  for (int v = 0; v < vectors; ++v) part[0][v] = hn::LoadU(d, first + v * block);
  for (int chain = 1; chain < row_chains(vectors); ++chain)
    for (int v = 0; v < vectors; ++v) part[chain][v] = hn::Zero(d);
}

/// The same, beginning with registers.
template <int vectors>
HWY_INLINE void start_parts(const Lanes* first, RowParts<vectors>& part) {
  for (int v = 0; v < vectors; ++v) part[0][v] = first[v].v;
  for (int chain = 1; chain < row_chains(vectors); ++chain)
    for (int v = 0; v < vectors; ++v) part[chain][v] = hn::Zero(Lanes::Tag());
}

/// Number k of a row in all lanes. The row is in memory, or in a register: then nobody waits for a store to arrive.
HWY_INLINE Lanes::Vector spread_number(const float* x, int k) { return hn::Set(Lanes::Tag(), x[k]); }
HWY_INLINE Lanes::Vector spread_number(Lanes x, int k) {
  const hn::RebindToSigned<Lanes::Tag> d;
  return hn::TableLookupLanes(x.v, hn::IndicesFromVec(Lanes::Tag(), hn::Set(d, k)));
}

/// part += x W; block v of row k of W is at w[k * stride + v * block].
template <int vectors, class Row>
HWY_INLINE void add_to_parts(int depth, Row x, const float* w, std::size_t stride, std::size_t block,
                             RowParts<vectors>& part) {
  constexpr int chains = row_chains(vectors);
  const Lanes::Tag d;
  int k = 0;
  for (; k + chains <= depth; k += chains, w += chains * stride)
    for (int chain = 0; chain < chains; ++chain) {
      const Lanes::Vector left = spread_number(x, k + chain);
      for (int v = 0; v < vectors; ++v)
        part[chain][v] = hn::MulAdd(left, hn::LoadU(d, w + chain * stride + v * block), part[chain][v]);
    }
  for (; k < depth; ++k, w += stride) {
    const Lanes::Vector left = spread_number(x, k);
    for (int v = 0; v < vectors; ++v) part[0][v] = hn::MulAdd(left, hn::LoadU(d, w + v * block), part[0][v]);
  }
}

template <int vectors>
HWY_INLINE void add_up_parts(const RowParts<vectors>& part, Lanes* sums) {
  constexpr int chains = row_chains(vectors);
  for (int v = 0; v < vectors; ++v) {
    if constexpr (chains == 4)
      sums[v] = hn::Add(hn::Add(part[0][v], part[1][v]), hn::Add(part[2][v], part[3][v]));
    else if constexpr (chains == 2)
      sums[v] = hn::Add(part[0][v], part[1][v]);
    else
      sums[v] = part[0][v];
  }
}

/// sums [vectors registers] += the rows of `groups` groups of W, [groups * padded][columns], weighted by d; of each
/// group the first `rows` count.
template <int groups, int vectors>
HWY_INLINE void add_row_block(int rows, std::size_t padded, const float* d, const float* w, std::size_t columns,
                              float* sums) {
  const std::size_t lanes = Lanes::count();
  RowParts<vectors> part;
  start_parts<vectors>(sums, lanes, part);
  for (int group = 0; group < groups; ++group)
    add_to_parts<vectors>(rows, d + group * padded, w + group * padded * columns, columns, lanes, part);
  Lanes total[vectors];
  add_up_parts<vectors>(part, total);
  for (int v = 0; v < vectors; ++v) total[v].store(sums + v * lanes);
}

/// The same for all columns of W.
template <int groups>
HWY_INLINE void add_row_product(int rows, std::size_t padded, const float* d, const float* w, std::size_t columns,
                                float* sums) {
  const std::size_t lanes = Lanes::count();
  std::size_t column = 0;
  for (; column + 2 * lanes <= columns; column += 2 * lanes)
    add_row_block<groups, 2>(rows, padded, d, w + column, columns, sums + column);
  if (column < columns) add_row_block<groups, 1>(rows, padded, d, w + column, columns, sums + column);
}

}  // namespace throughtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // THROUGHTIME_ROW_PRODUCT_INL_H

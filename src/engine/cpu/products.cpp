#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/cpu/products.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "engine/cpu/products.h"
#include "throughtime/simd/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace throughtime::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using Tag = hn::ScalableTag<float>;
using Vector = hn::Vec<Tag>;

// A tile of rows x vectors of C lives in registers: 24 accumulators of 32 registers, 12 of 16.
#if HWY_TARGET <= HWY_AVX3 || HWY_TARGET == HWY_NEON
constexpr int kAccumulators = 24;
constexpr int kMostVectors = 4;
#else
constexpr int kAccumulators = 12;
constexpr int kMostVectors = 2;
#endif
constexpr int most_rows(int vectors) { return kAccumulators / vectors < 12 ? kAccumulators / vectors : 12; }

template <int rows, int vectors>
HWY_INLINE void start_tile(const Product& p, int row, int column, Vector (&sum)[rows][vectors]) {
  const Tag d;
  const std::size_t lanes = hn::Lanes(d);
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < vectors; ++v) {
      const std::size_t at = column + v * lanes;
      if (p.accumulate)
        sum[r][v] = hn::LoadU(d, p.c + (row + r) * p.c_stride + at);
      else
        sum[r][v] = p.bias ? hn::LoadU(d, p.bias + at) : hn::Zero(d);
    }
}

template <int rows, int vectors>
HWY_INLINE void store_tile(const Product& p, int row, int column, const Vector (&sum)[rows][vectors]) {
  const Tag d;
  const std::size_t lanes = hn::Lanes(d);
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < vectors; ++v) hn::StoreU(sum[r][v], d, p.c + (row + r) * p.c_stride + column + v * lanes);
}

template <int rows, int vectors, bool transposed>
HWY_NOINLINE void tile(const Product& p, int row, int column) {
  const Tag d;
  const std::size_t lanes = hn::Lanes(d);
  Vector sum[rows][vectors];
  start_tile<rows, vectors>(p, row, column, sum);
  for (int t = 0; t < p.terms; ++t) {
    const Term& term = p.term[t];
    const float* b = term.b + column;
    const float* a = transposed ? term.a + row : term.a + row * term.a_stride;
    for (int k = 0; k < term.depth; ++k, b += term.b_stride) {
      Vector right[vectors];
      for (int v = 0; v < vectors; ++v) right[v] = hn::LoadU(d, b + v * lanes);
      for (int r = 0; r < rows; ++r) {
        const Vector left = hn::Set(d, transposed ? a[r] : a[r * term.a_stride + k]);
        for (int v = 0; v < vectors; ++v) sum[r][v] = hn::MulAdd(left, right[v], sum[r][v]);
      }
      if (transposed) a += term.a_stride;
    }
  }
  store_tile<rows, vectors>(p, row, column, sum);
}

/// One row alone would wait for each addition: four sums over every fourth k run side by side instead.
template <int vectors>
HWY_NOINLINE void single_row(const Product& p, int row, int column) {
  constexpr int chains = 4;
  const Tag d;
  const std::size_t lanes = hn::Lanes(d);
  Vector sum[1][vectors], part[chains][vectors];
  start_tile<1, vectors>(p, row, column, sum);
  for (auto& chain : part)
    for (int v = 0; v < vectors; ++v) chain[v] = hn::Zero(d);
  for (int t = 0; t < p.terms; ++t) {
    const Term& term = p.term[t];
    const float* a = term.a + row * term.a_stride;
    const float* b = term.b + column;
    int k = 0;
    for (; k + chains <= term.depth; k += chains)
      for (int chain = 0; chain < chains; ++chain) {
        const Vector left = hn::Set(d, a[k + chain]);
        const float* at = b + (k + chain) * term.b_stride;
        for (int v = 0; v < vectors; ++v)
          part[chain][v] = hn::MulAdd(left, hn::LoadU(d, at + v * lanes), part[chain][v]);
      }
    for (; k < term.depth; ++k) {
      const Vector left = hn::Set(d, a[k]);
      for (int v = 0; v < vectors; ++v)
        part[0][v] = hn::MulAdd(left, hn::LoadU(d, b + k * term.b_stride + v * lanes), part[0][v]);
    }
  }
  for (int v = 0; v < vectors; ++v)
    sum[0][v] = hn::Add(sum[0][v], hn::Add(hn::Add(part[0][v], part[1][v]), hn::Add(part[2][v], part[3][v])));
  store_tile<1, vectors>(p, row, column, sum);
}

/// A product of one row: no tiles to choose.
void row_alone(const Product& p) {
  const int lanes = static_cast<int>(hn::Lanes(Tag()));
  int column = 0;
  if constexpr (kMostVectors >= 4)
    for (; column + 4 * lanes <= p.columns; column += 4 * lanes) single_row<4>(p, 0, column);
  if constexpr (kMostVectors >= 4)
    for (; column + 3 * lanes <= p.columns; column += 3 * lanes) single_row<3>(p, 0, column);
  for (; column + 2 * lanes <= p.columns; column += 2 * lanes) single_row<2>(p, 0, column);
  for (; column < p.columns; column += lanes) single_row<1>(p, 0, column);
}

template <int rows, int vectors, bool transposed>
void tile_of(int count, const Product& p, int row, int column) {
  if (count == rows) {
    if constexpr (rows == 1 && !transposed)
      single_row<vectors>(p, row, column);
    else
      tile<rows, vectors, transposed>(p, row, column);
  } else if constexpr (rows > 1) {
    tile_of<rows - 1, vectors, transposed>(count, p, row, column);
  }
}

/// Rows in tiles of nearly equal height, so that no short one is left over.
template <int vectors, bool transposed>
void strip(const Product& p, int column) {
  constexpr int most = most_rows(vectors);
  const int tiles = (p.rows + most - 1) / most;
  int row = 0;
  for (int t = 0; t < tiles; ++t) {
    const int count = (p.rows - row + tiles - t - 1) / (tiles - t);
    tile_of<most, vectors, transposed>(count, p, row, column);
    row += count;
  }
}

/// Registers of columns that a strip has at most. Five to sixteen rows fill high tiles of two registers, where wide
/// ones would leave them in tiles of three to six rows with more to load for each sum.
template <bool transposed>
int widest_strip(int rows) {
  return !transposed && rows > 4 && rows <= 16 ? 2 : kMostVectors;
}

template <bool transposed>
void run(const Product& p) {
  const int lanes = static_cast<int>(hn::Lanes(Tag()));
  const int widest = widest_strip<transposed>(p.rows);
  int column = 0;
  while (column < p.columns) {
    const int vectors = std::min((p.columns - column) / lanes, widest);
    if constexpr (kMostVectors >= 4) {
      if (vectors == 4) strip<4, transposed>(p, column);
      if (vectors == 3) strip<3, transposed>(p, column);
    }
    if (vectors == 2) strip<2, transposed>(p, column);
    if (vectors == 1) strip<1, transposed>(p, column);
    column += vectors * lanes;
  }
}

void multiply(const Product& p) {
  if (p.rows == 1)
    row_alone(p);
  else
    run<false>(p);
}
void multiply_transposed(const Product& p) { run<true>(p); }

/// sum [columns] += the rows of a; columns is a multiple of kPad.
void add_rows(int rows, std::size_t columns, const float* a, std::size_t a_stride, float* sum) {
  const Tag d;
  const std::size_t lanes = hn::Lanes(d);
  constexpr std::size_t beside = 4;  // sums side by side: one alone would wait for each addition
  std::size_t column = 0;
  for (; column + beside * lanes <= columns; column += beside * lanes) {
    Vector total[beside];
    for (std::size_t k = 0; k < beside; ++k) total[k] = hn::LoadU(d, sum + column + k * lanes);
    for (int row = 0; row < rows; ++row)
      for (std::size_t k = 0; k < beside; ++k)
        total[k] = hn::Add(total[k], hn::LoadU(d, a + row * a_stride + column + k * lanes));
    for (std::size_t k = 0; k < beside; ++k) hn::StoreU(total[k], d, sum + column + k * lanes);
  }
  for (; column < columns; column += lanes) {
    Vector total = hn::LoadU(d, sum + column);
    for (int row = 0; row < rows; ++row) total = hn::Add(total, hn::LoadU(d, a + row * a_stride + column));
    hn::StoreU(total, d, sum + column);
  }
}

#if HWY_TARGET != HWY_SCALAR
/// Four numbers from each of the rows 0, 4, 8, ... into a register.
template <class D>
HWY_INLINE hn::Vec<D> load_fours(D d, const float* from, std::size_t stride) {
  if constexpr (hn::MaxLanes(D()) == 4) {
    return hn::LoadU(d, from);
  } else {
    const hn::Half<D> half;
    const std::size_t rows = hn::MaxLanes(half);
    return hn::Combine(d, load_fours(half, from + rows * stride, stride), load_fours(half, from, stride));
  }
}

/// As many rows as D has lanes, four numbers of each, turned in registers.
template <class D>
HWY_INLINE void transpose_fours(D d, const float* from, std::size_t from_stride, float* to, std::size_t to_stride) {
  const hn::RepartitionToWide<D> wide;
  const auto a = load_fours(d, from, from_stride), b = load_fours(d, from + from_stride, from_stride);
  const auto c = load_fours(d, from + 2 * from_stride, from_stride),
             e = load_fours(d, from + 3 * from_stride, from_stride);
  const auto ab_low = hn::BitCast(wide, hn::InterleaveLower(d, a, b)),
             ab_high = hn::BitCast(wide, hn::InterleaveUpper(d, a, b));
  const auto ce_low = hn::BitCast(wide, hn::InterleaveLower(d, c, e)),
             ce_high = hn::BitCast(wide, hn::InterleaveUpper(d, c, e));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(wide, ab_low, ce_low)), d, to);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(wide, ab_low, ce_low)), d, to + to_stride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(wide, ab_high, ce_high)), d, to + 2 * to_stride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(wide, ab_high, ce_high)), d, to + 3 * to_stride);
}
#endif

/// Rows of one or two numbers that lie side by side; returns how many rows that was.
int transpose_narrow(const float* from, int rows, int depth, float* to, std::size_t to_stride) {
  const Tag d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  if (depth == 1) {
    std::copy_n(from, rows, to);
    return rows;
  }
  int row = 0;
  for (; row + lanes <= rows; row += lanes) {
    Vector first, second;
    hn::LoadInterleaved2(d, from + 2 * row, first, second);
    hn::StoreU(first, d, to + row);
    hn::StoreU(second, d, to + to_stride + row);
  }
  return row;
}

void transpose(const float* from, std::size_t from_stride, int rows, int depth, float* to, std::size_t to_stride) {
  if (depth <= 2 && from_stride == static_cast<std::size_t>(depth)) {
    const int done = transpose_narrow(from, rows, depth, to, to_stride);
    from += done * from_stride, to += done, rows -= done;
  }
  int whole_rows = 0, whole_depth = 0;
#if HWY_TARGET != HWY_SCALAR
  constexpr int lanes = static_cast<int>(hn::MaxLanes(Tag()));
  whole_rows = rows / 4 * 4;
  whole_depth = depth / 4 * 4;
  int row = 0;
  for (; row + lanes <= whole_rows; row += lanes)
    for (int k = 0; k < whole_depth; k += 4)
      transpose_fours(Tag(), from + row * from_stride + k, from_stride, to + k * to_stride + row, to_stride);
  for (; row < whole_rows; row += 4)
    for (int k = 0; k < whole_depth; k += 4)
      transpose_fours(hn::FixedTag<float, 4>(), from + row * from_stride + k, from_stride, to + k * to_stride + row,
                      to_stride);
#endif
  if (whole_rows == rows && whole_depth == depth) return;
  for (int k = 0; k < depth; ++k)
    for (int r = k < whole_depth ? whole_rows : 0; r < rows; ++r) to[k * to_stride + r] = from[r * from_stride + k];
}

/// Four sums side by side, in double beyond blocks of 64 registers, so that the norm of a long vector keeps its digits.
double sum_of_squares(std::size_t n, const float* x) {
  const Tag d;
  const std::size_t lanes = hn::Lanes(d);
  double total = 0;
  std::size_t i = 0;
  while (i + 4 * lanes <= n) {
    Vector part[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
    const std::size_t end = std::min(n / (4 * lanes) * 4 * lanes, i + 64 * lanes);
    for (; i < end; i += 4 * lanes)
      for (int k = 0; k < 4; ++k) {
        const Vector value = hn::LoadU(d, x + i + k * lanes);
        part[k] = hn::MulAdd(value, value, part[k]);
      }
    total += hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(part[0], part[1]), hn::Add(part[2], part[3]))));
  }
  for (; i < n; ++i) total += static_cast<double>(x[i]) * x[i];
  return total;
}

void copy_rows(bool add, std::size_t rows, std::size_t columns, const float* from, std::size_t from_stride, float* to,
               std::size_t to_stride) {
  using throughtime::HWY_NAMESPACE::Lanes;
  for (std::size_t row = 0; row < rows; ++row, from += from_stride, to += to_stride)
    for (std::size_t column = 0; column < columns; column += Lanes::count()) {
      const std::size_t left = columns - column;
      Lanes value = throughtime::HWY_NAMESPACE::load_part(from + column, left, 0.0f);
      if (add) value += throughtime::HWY_NAMESPACE::load_part(to + column, left, 0.0f);
      throughtime::HWY_NAMESPACE::store_part(value, to + column, left);
    }
}

ProductKernels make_product_kernels() {
  return {multiply, multiply_transposed, add_rows, transpose, sum_of_squares, copy_rows};
}

}  // namespace throughtime::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace throughtime::cpu {

HWY_EXPORT(make_product_kernels);

ProductKernels product_kernels() { return HWY_DYNAMIC_DISPATCH(make_product_kernels)(); }

}  // namespace throughtime::cpu
#endif

// Products and the small kernels beside them against plain loops, for every instruction set of this machine.
#include "engine/cpu/products.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/random_problem.h"
#include "support/targets.h"

namespace throughtime::cpu {
namespace {

using testing::for_each_instruction_set;

/// Numbers in float at an odd place of a larger array.
std::vector<float> numbers(std::size_t size, std::uint64_t seed) {
  const auto drawn = testing::random_numbers(size, seed);
  return {drawn.begin(), drawn.end()};
}

struct Case {
  int rows, columns, depth, second_depth;
  bool bias, accumulate, transposed;
};

void expect_right(const ProductKernels& kernels, const Case& c) {
  SCOPED_TRACE(fmt::format("rows {} columns {} depth {}+{} bias {} accumulate {} transposed {}", c.rows, c.columns,
                           c.depth, c.second_depth, c.bias, c.accumulate, c.transposed));
  constexpr std::size_t offset = 3;
  const std::size_t stride = std::max(c.rows, c.depth + c.second_depth) + 5, b_stride = c.columns + 1,
                    c_stride = c.columns + 7;
  const std::size_t height = std::max(c.rows, c.depth + c.second_depth) + 1;
  const auto a = numbers(offset + height * stride, 1), a2 = numbers(offset + height * stride, 2);
  const auto b = numbers(offset + height * b_stride, 3), b2 = numbers(offset + height * b_stride, 4);
  const auto bias = numbers(offset + c.columns, 5);
  auto out = numbers(offset + c.rows * c_stride, 6);
  const auto before = out;

  Product p;
  p.rows = c.rows;
  p.columns = c.columns;
  p.terms = c.second_depth > 0 ? 2 : 1;
  p.term[0] = {a.data() + offset, stride, b.data() + offset, b_stride, c.depth};
  p.term[1] = {a2.data() + offset, stride, b2.data() + offset, b_stride, c.second_depth};
  p.c = out.data() + offset;
  p.c_stride = c_stride;
  p.bias = c.bias ? bias.data() + offset : nullptr;
  p.accumulate = c.accumulate;
  (c.transposed ? kernels.multiply_transposed : kernels.multiply)(p);

  for (int r = 0; r < c.rows; ++r)
    for (std::size_t n = 0; n < c_stride && offset + r * c_stride + n < out.size(); ++n) {
      const std::size_t at = offset + r * c_stride + n;
      if (n >= static_cast<std::size_t>(c.columns)) {
        ASSERT_EQ(out[at], before[at]) << "wrote beside the columns";
        continue;
      }
      double wanted = c.accumulate ? before[at] : c.bias ? bias[offset + n] : 0.0;
      for (int t = 0; t < p.terms; ++t)
        for (int k = 0; k < p.term[t].depth; ++k) {
          const Term& term = p.term[t];
          const double left = c.transposed ? term.a[k * stride + r] : term.a[r * stride + k];
          wanted += left * term.b[k * b_stride + n];
        }
      ASSERT_NEAR(out[at], wanted, 1e-5) << r << ", " << n;
    }
}

TEST(Products, EqualPlainLoopsForEveryShape) {
  for_each_instruction_set([&](const char* name) {
    SCOPED_TRACE(name);
    const ProductKernels kernels = product_kernels();
    for (int rows = 1; rows <= 26; ++rows)
      for (const int columns : {16, 32, 48, 64, 80, 192})
        for (const int depth : {0, 1, 3, 4, 17}) {
          expect_right(kernels, {rows, columns, depth, 0, rows % 2 == 0, false, false});
          expect_right(kernels, {rows, columns, depth, 5, true, false, false});
          expect_right(kernels, {rows, columns, depth, 0, false, true, false});
          expect_right(kernels, {rows, columns, depth, 0, false, rows % 2 == 0, true});
        }
  });
}

TEST(Products, TransposeTurnsAnyShape) {
  for_each_instruction_set([&](const char* name) {
    SCOPED_TRACE(name);
    for (const int rows : {1, 3, 4, 7, 16})
      for (const int depth : {1, 4, 5, 18}) {
        const std::size_t from_stride = depth + 3, to_stride = rows + 2;
        const auto from = numbers(rows * from_stride + 1, 1);
        std::vector<float> to(depth * to_stride + 1, -1.0f);
        product_kernels().transpose(from.data() + 1, from_stride, rows, depth, to.data() + 1, to_stride);
        for (int k = 0; k < depth; ++k)
          for (std::size_t r = 0; r < to_stride && 1 + k * to_stride + r < to.size(); ++r)
            ASSERT_EQ(to[1 + k * to_stride + r],
                      r < static_cast<std::size_t>(rows) ? from[1 + r * from_stride + k] : -1.0f);
      }
  });
}

TEST(Products, AddRowsAddsToWhatIsThere) {
  for_each_instruction_set([&](const char* name) {
    SCOPED_TRACE(name);
    const auto a = numbers(5 * 40 + 1, 1);
    auto sum = numbers(33, 2);
    const auto before = sum;
    product_kernels().add_rows(5, 32, a.data() + 1, 40, sum.data() + 1);
    for (int i = 0; i < 32; ++i) {
      double wanted = before[1 + i];
      for (int row = 0; row < 5; ++row) wanted += a[1 + row * 40 + i];
      ASSERT_NEAR(sum[1 + i], wanted, 1e-6);
    }
  });
}

TEST(Products, SumOfSquaresKeepsItsDigitsOverAMillionNumbers) {
  for_each_instruction_set([&](const char* name) {
    SCOPED_TRACE(name);
    for (const std::size_t size : {0, 1, 15, 16, 17, 1000, 1048577}) {
      const std::vector<float> x(size + 1, 0.1f);
      const double wanted = static_cast<double>(size) * 0.1f * 0.1f;
      ASSERT_NEAR(product_kernels().sum_of_squares(size, x.data() + 1), wanted, 1e-6 * wanted);
    }
  });
}

}  // namespace
}  // namespace throughtime::cpu

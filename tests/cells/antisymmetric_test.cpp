#include <gtest/gtest.h>

#include "support/numeric.h"
#include "support/random_problem.h"
#include "throughtime/cell.h"

namespace throughtime::testing {
namespace {

constexpr int hidden = 5;
constexpr std::size_t triangle = 10;
const CellOptions options{.step = 0.1, .diffusion = 0.25};

std::vector<double> effective_of(const std::vector<double>& raw) {
  std::vector<double> effective(hidden * hidden);
  find_cell("antisymmetric").reference_map.apply(options, hidden, raw.data(), effective.data());
  return effective;
}

TEST(AntisymmetricMap, HasTheSymmetricPartMinusGamma) {
  // A + A^T = -2 gamma I: every eigenvalue of A then has the real part -gamma.
  const auto a = effective_of(random_numbers(triangle, 1));
  for (int i = 0; i < hidden; ++i)
    for (int j = 0; j < hidden; ++j)
      EXPECT_EQ(a[i * hidden + j] + a[j * hidden + i], i == j ? -2 * options.diffusion : 0.0);
}

TEST(AntisymmetricMap, KeepsTheUpperTriangleRowByRow) {
  std::vector<double> raw(triangle);
  for (std::size_t i = 0; i < triangle; ++i) raw[i] = static_cast<double>(i + 1);
  const auto a = effective_of(raw);
  EXPECT_EQ(a[0 * hidden + 1], 1);
  EXPECT_EQ(a[0 * hidden + 4], 4);
  EXPECT_EQ(a[1 * hidden + 2], 5);
  EXPECT_EQ(a[3 * hidden + 4], 10);
  EXPECT_EQ(a[4 * hidden + 3], -10);
}

TEST(AntisymmetricMap, AdjointMatchesTheMap) {
  // <d, map(x) - map(0)> = <adjoint(d), x> for all d and x.
  const auto x = random_numbers(triangle, 2), d = random_numbers(hidden * hidden, 3);
  const auto at_x = effective_of(x), at_zero = effective_of(std::vector<double>(triangle));
  std::vector<double> adjoint(triangle);
  find_cell("antisymmetric").reference_map.adjoint(options, hidden, d.data(), adjoint.data());
  double left = 0, right = 0;
  for (std::size_t i = 0; i < d.size(); ++i) left += d[i] * (at_x[i] - at_zero[i]);
  for (std::size_t i = 0; i < triangle; ++i) right += adjoint[i] * x[i];
  EXPECT_NEAR(left, right, 1e-12);
}

TEST(AntisymmetricMap, AdjointAdds) {
  const auto d = random_numbers(hidden * hidden, 4);
  std::vector<double> once(triangle), twice(triangle);
  const auto& map = find_cell("antisymmetric").reference_map;
  map.adjoint(options, hidden, d.data(), once.data());
  for (int i = 0; i < 2; ++i) map.adjoint(options, hidden, d.data(), twice.data());
  for (std::size_t i = 0; i < triangle; ++i) EXPECT_DOUBLE_EQ(twice[i], 2 * once[i]);
}

}  // namespace
}  // namespace throughtime::testing

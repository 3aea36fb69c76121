// The float kernels of every cell against their double twins, for every instruction set of this machine.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/numeric.h"
#include "support/random_problem.h"
#include "support/targets.h"
#include "throughtime/cell.h"

namespace throughtime::testing {
namespace {

/// The arrays of one pointwise step for one number type, laid out with odd distances so that a swapped stride shows.
template <class Real>
struct Step {
  Step(const CellShape& shape, int rows, int units, std::size_t offset)
      : shape(shape),
        rows(rows),
        units(units),
        row_stride(units + 3),
        plane(rows * row_stride + 5),
        gate_stride(std::max(shape.input_rows, shape.recurrent_rows) * (units + 1) + 2),
        offset(offset) {
    for (auto* array : {&state, &next, &d_next, &d_state}) array->resize(offset + shape.states * plane);
    saved.resize(offset + (shape.saved + 1) * plane);
    d_gated.resize(offset + plane);
    for (auto* array : {&input, &recurrent, &d_input, &d_recurrent}) array->resize(offset + rows * gate_stride + units);
  }

  void fill(std::uint64_t seed, double range) {
    for (auto* array : {&state, &d_next, &d_gated, &input, &recurrent}) {
      const auto values = random_numbers(array->size(), ++seed, range);
      // Through float, so that both twins start from the same numbers.
      for (std::size_t i = 0; i < values.size(); ++i) (*array)[i] = static_cast<float>(values[i]);
    }
    // A joint cell's twins see the sum only.
    if (shape.joint) std::fill(recurrent.begin(), recurrent.end(), Real(0));
  }

  PointwiseForward<Real> forward() {
    PointwiseForward<Real> call;
    call.rows = rows;
    call.units = units;
    call.options = &options;
    call.input = input.data() + offset;
    call.recurrent = shape.joint ? nullptr : recurrent.data() + offset;
    call.input_stride = call.recurrent_stride = gate_stride;
    call.input_block = call.recurrent_block = units + 1;
    call.state = state.data() + offset;
    call.next = next.data() + offset;
    call.saved = saved.data() + offset;
    call.state_plane = call.next_plane = call.saved_plane = plane;
    call.row_stride = row_stride;
    return call;
  }

  PointwiseBackward<Real> backward() {
    PointwiseBackward<Real> call;
    call.rows = rows;
    call.units = units;
    call.options = &options;
    call.saved = saved.data() + offset;
    call.state = state.data() + offset;
    call.next = next.data() + offset;
    call.saved_plane = call.state_plane = call.next_plane = call.d_plane = plane;
    call.row_stride = row_stride;
    call.d_next = d_next.data() + offset;
    call.d_state = d_state.data() + offset;
    call.d_gated = d_gated.data() + offset;
    call.d_input = d_input.data() + offset;
    call.d_recurrent = shape.joint ? nullptr : d_recurrent.data() + offset;
    call.d_input_stride = call.d_recurrent_stride = gate_stride;
    call.d_block = units + 1;
    return call;
  }

  void run(const CellKernels<Real>& kernels) {
    if (shape.late_rows > 0) kernels.forward_early(forward());
    kernels.forward(forward());
    kernels.backward(backward());
    if (shape.late_rows > 0) kernels.backward_early(backward());
  }

  CellShape shape;
  CellOptions options{.step = 0.3, .diffusion = 0.1};
  int rows, units;
  std::size_t row_stride, plane, gate_stride, offset;
  std::vector<Real> state, next, saved, input, recurrent, d_next, d_state, d_gated, d_input, d_recurrent;
};

void expect_close(const char* what, const std::vector<float>& got, const std::vector<double>& wanted) {
  // Terms such as 1 - g^2 cancel: errors are measured against the largest number of the array.
  ASSERT_EQ(got.size(), wanted.size());
  double largest = 1;
  for (const double value : wanted) largest = std::max(largest, std::abs(value));
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], wanted[i], 2e-6 * largest) << what << " at " << i;
}

class CellTwins : public ::testing::TestWithParam<std::string> {};

TEST_P(CellTwins, AgreeForEveryWidthAndMisalignment) {
  const CellType& cell = find_cell(GetParam());
  for_each_instruction_set([&](const char* name) {
    const CellKernels<float> fast = cell.fast();
    for (const int units : {16, 32, 48, 80})
      for (const std::size_t offset : {0, 1, 3, 7})
        for (const double range : {0.5, 4.0, 60.0}) {
          SCOPED_TRACE(fmt::format("{} {} units {} offset {} range {}", GetParam(), name, units, offset, range));
          Step<float> a(cell.shape, 3, units, offset);
          Step<double> b(cell.shape, 3, units, offset);
          a.fill(units, range);
          b.fill(units, range);
          a.run(fast);
          b.run(cell.reference);
          expect_close("next", a.next, b.next);
          expect_close("saved", a.saved, b.saved);
          expect_close("d_state", a.d_state, b.d_state);
          expect_close("d_input", a.d_input, b.d_input);
          if (!cell.shape.joint) expect_close("d_recurrent", a.d_recurrent, b.d_recurrent);
        }
  });
}

TEST_P(CellTwins, LetNoNumberThatIsNoneDisappear) {
  const CellType& cell = find_cell(GetParam());
  for_each_instruction_set([&](const char* name) {
    Step<float> step(cell.shape, 1, 16, 0);
    step.fill(1, 1.0);
    for (float& value : step.input) value = std::numeric_limits<float>::quiet_NaN();
    step.run(cell.fast());
    for (int unit = 0; unit < 16; ++unit) EXPECT_TRUE(std::isnan(step.next[unit])) << GetParam() << " " << name;
  });
}

INSTANTIATE_TEST_SUITE_P(Cells, CellTwins, ::testing::ValuesIn(cell_names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace throughtime::testing

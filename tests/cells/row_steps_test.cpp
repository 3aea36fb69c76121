// Steps of a single row, products included, against the double kernels and plain sums, for every instruction set.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "support/random_problem.h"
#include "support/targets.h"
#include "throughtime/cell.h"

namespace throughtime::testing {
namespace {

constexpr std::size_t pad = 16, panel = 64;

std::size_t padded(std::size_t width) { return (width + pad - 1) / pad * pad; }

/// One layer's weights as plain matrices of doubles that are floats: [rows * H, D], [rows * H, H] and biases.
struct Layer {
  Layer(const CellShape& shape, int inputs, int hidden, std::uint64_t seed)
      : shape(shape), inputs(static_cast<std::size_t>(inputs)), hidden(static_cast<std::size_t>(hidden)) {
    const auto fill = [&](std::vector<double>& list, std::size_t size) {
      for (const double value : random_numbers(size, ++seed, 0.4)) list.push_back(static_cast<float>(value));
    };
    fill(input_weights, shape.input_rows * this->hidden * this->inputs);
    fill(recurrent_weights, shape.recurrent_rows * this->hidden * this->hidden);
    fill(input_bias, shape.input_rows * this->hidden);
    fill(recurrent_bias, shape.recurrent_rows * this->hidden);
  }

  std::size_t panel_units(int rows) const {
    return std::min(padded(hidden), std::max(pad, panel / static_cast<std::size_t>(rows) / pad * pad));
  }

  /// [panel][depth][rows * units] as the engine packs it; zero in the padding.
  std::vector<float> packed(const std::vector<double>& weights, int rows, std::size_t depth, std::size_t units) const {
    const std::size_t all = padded(hidden), gates = static_cast<std::size_t>(rows);
    std::vector<float> to(gates * all * depth, 0.0f);
    for (std::size_t g = 0; g < gates; ++g)
      for (std::size_t u = 0; u < hidden; ++u)
        for (std::size_t k = 0; k < depth; ++k) {
          const std::size_t first = u / units * units, here = std::min(units, all - first);
          to[first * gates * depth + k * gates * here + g * here + u - first] =
              static_cast<float>(weights[(g * hidden + u) * depth + k]);
        }
    return to;
  }

  /// [panel of columns][rows * Hp][its columns]
  std::vector<float> packed_back() const {
    const std::size_t all = padded(hidden), depth = static_cast<std::size_t>(shape.recurrent_rows) * all;
    std::vector<float> to(depth * all, 0.0f);
    for (std::size_t g = 0; g < static_cast<std::size_t>(shape.recurrent_rows); ++g)
      for (std::size_t u = 0; u < hidden; ++u)
        for (std::size_t k = 0; k < hidden; ++k) {
          const std::size_t first = k / panel * panel, here = std::min(panel, all - first);
          to[first * depth + (g * all + u) * here + k - first] =
              static_cast<float>(recurrent_weights[(g * hidden + u) * hidden + k]);
        }
    return to;
  }

  CellShape shape;
  std::size_t inputs, hidden;
  std::vector<double> input_weights, recurrent_weights, input_bias, recurrent_bias;
};

/// States, saved numbers and gate cotangents of some steps; [.][Hp] with the padding unused.
template <class Real>
struct Steps {
  Steps(const Layer& layer, std::size_t steps)
      : all(padded(layer.hidden)),
        states(layer.shape.states * (steps + 1) * all),
        saved((layer.shape.saved + 1) * steps * all),
        cotangent(layer.shape.states * all),
        d_input(steps * layer.shape.input_rows * all),
        d_recurrent(steps * layer.shape.recurrent_rows * all) {}
  std::size_t all;
  std::vector<Real> states, saved, cotangent, d_input, d_recurrent;
};

const CellOptions options;

void run_slow(const CellType& cell, const Layer& layer, const std::vector<float>& x, std::size_t steps,
              Steps<double>& run) {
  const std::size_t all = run.all, hidden = layer.hidden;
  const CellShape& shape = cell.shape;
  std::vector<double> input(shape.input_rows * all), recurrent(shape.recurrent_rows * all);
  const auto sums = [&](const std::vector<double>& weights, const std::vector<double>& bias, std::size_t depth,
                        auto value, std::vector<double>& to, bool add) {
    for (std::size_t g = 0; g < bias.size() / hidden; ++g)
      for (std::size_t u = 0; u < hidden; ++u) {
        double sum = bias[g * hidden + u];
        for (std::size_t k = 0; k < depth; ++k) sum += weights[(g * hidden + u) * depth + k] * value(k);
        to[g * all + u] = (add ? to[g * all + u] : 0.0) + sum;
      }
  };
  const std::size_t state_plane = (steps + 1) * all, saved_plane = steps * all;
  for (std::size_t l = 0; l < steps; ++l) {
    double* state = run.states.data() + l * all;
    sums(
        layer.input_weights, layer.input_bias, layer.inputs, [&](std::size_t k) { return x[l * pad + k]; }, input,
        false);
    sums(
        layer.recurrent_weights, layer.recurrent_bias, hidden, [&](std::size_t k) { return state[k]; },
        shape.joint ? input : recurrent, shape.joint);
    PointwiseForward<double> call;
    call.rows = 1;
    call.units = static_cast<int>(hidden);
    call.options = &options;
    call.input = input.data();
    call.recurrent = shape.joint ? nullptr : recurrent.data();
    call.input_block = call.recurrent_block = all;
    call.state = state;
    call.next = state + all;
    call.saved = run.saved.data() + l * all;
    call.state_plane = call.next_plane = state_plane;
    call.saved_plane = saved_plane;
    cell.reference.forward(call);
  }
  for (std::size_t l = steps; l-- > 0;) {
    PointwiseBackward<double> call;
    call.rows = 1;
    call.units = static_cast<int>(hidden);
    call.options = &options;
    call.saved = run.saved.data() + l * all;
    call.state = run.states.data() + l * all;
    call.next = call.state + all;
    call.saved_plane = saved_plane;
    call.state_plane = call.next_plane = state_plane;
    call.d_next = call.d_state = run.cotangent.data();
    call.d_plane = call.d_block = all;
    call.d_input = run.d_input.data() + l * shape.input_rows * all;
    call.d_recurrent = shape.joint ? nullptr : run.d_recurrent.data() + l * shape.recurrent_rows * all;
    cell.reference.backward(call);
    const double* d_gates = shape.joint ? call.d_input : call.d_recurrent;
    for (std::size_t g = 0; g < static_cast<std::size_t>(shape.recurrent_rows); ++g)
      for (std::size_t u = 0; u < hidden; ++u)
        for (std::size_t k = 0; k < hidden; ++k)
          run.cotangent[k] += d_gates[g * all + u] * layer.recurrent_weights[(g * hidden + u) * hidden + k];
  }
}

void run_fast(const RowKernels& kernels, const Layer& layer, const std::vector<float>& x, std::size_t steps,
              Steps<float>& run) {
  const CellShape& shape = layer.shape;
  const std::size_t units = layer.panel_units(std::max(shape.input_rows, shape.recurrent_rows));
  std::vector<double> bias = layer.input_bias;
  for (std::size_t i = 0; i < bias.size() && shape.joint; ++i) bias[i] += layer.recurrent_bias[i];
  const auto input_weights = layer.packed(layer.input_weights, shape.input_rows, layer.inputs, units);
  const auto recurrent_weights = layer.packed(layer.recurrent_weights, shape.recurrent_rows, layer.hidden, units);
  const auto input_bias = layer.packed(bias, shape.input_rows, 1, units);
  const auto recurrent_bias = layer.packed(layer.recurrent_bias, shape.recurrent_rows, 1, units);
  const auto back = layer.packed_back();

  RowForward forward;
  forward.steps = static_cast<int>(steps);
  forward.inputs = static_cast<int>(layer.inputs);
  forward.hidden = static_cast<int>(layer.hidden);
  forward.units = static_cast<int>(run.all);
  forward.panel_units = static_cast<int>(units);
  forward.options = &options;
  forward.input = x.data();
  forward.input_stride = pad;
  forward.input_weights = input_weights.data();
  forward.recurrent_weights = recurrent_weights.data();
  forward.input_bias = input_bias.data();
  forward.recurrent_bias = recurrent_bias.data();
  forward.states = run.states.data();
  forward.saved = run.saved.data();
  forward.state_plane = (steps + 1) * run.all;
  forward.saved_plane = steps * run.all;
  forward.saved_step = run.all;
  kernels.forward(forward);

  RowBackward backward;
  backward.steps = forward.steps;
  backward.hidden = forward.hidden;
  backward.units = forward.units;
  backward.panel_columns = static_cast<int>(panel);
  backward.options = &options;
  backward.weights = back.data();
  backward.states = run.states.data();
  backward.saved = run.saved.data();
  backward.state_plane = forward.state_plane;
  backward.saved_plane = forward.saved_plane;
  backward.saved_step = run.all;
  backward.cotangent = run.cotangent.data();
  backward.d_input = run.d_input.data();
  backward.d_recurrent = run.d_recurrent.data();
  backward.d_input_stride = shape.input_rows * run.all;
  backward.d_recurrent_stride = shape.recurrent_rows * run.all;
  kernels.backward(backward);
}

/// Every block of Hp numbers in its first H.
void expect_close(const char* what, std::size_t hidden, std::size_t all, const std::vector<float>& got,
                  const std::vector<double>& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  double largest = 1;
  for (const double value : wanted) largest = std::max(largest, std::abs(value));
  for (std::size_t i = 0; i < got.size(); ++i)
    if (i % all < hidden) {
      ASSERT_NEAR(got[i], wanted[i], 5e-6 * largest) << what << " at " << i;
    }
}

class RowStepsOf : public ::testing::TestWithParam<std::string> {};

TEST_P(RowStepsOf, AgreeWithPlainSumsForEveryWidth) {
  const CellType& cell = find_cell(GetParam());
  constexpr std::size_t steps = 4;
  for_each_instruction_set([&](const char* name) {
    const RowKernels kernels = cell.rows();
    ASSERT_TRUE(kernels.forward && kernels.backward);
    for (const int hidden : {1, 4, 16, 20, 32, 50, 64, 90})
      for (const int inputs : {1, 6}) {
        SCOPED_TRACE(fmt::format("{} {} {} units {} inputs", GetParam(), name, hidden, inputs));
        const Layer layer(cell.shape, inputs, hidden, static_cast<std::uint64_t>(100 * hidden + inputs));
        std::vector<float> x;
        for (const double value : random_numbers(steps * pad, 7, 1.0)) x.push_back(static_cast<float>(value));
        Steps<float> fast(layer, steps);
        Steps<double> slow(layer, steps);
        const std::vector<double> start = random_numbers(fast.cotangent.size(), 8, 1.0);
        for (std::size_t i = 0; i < start.size(); ++i) {
          if (i % fast.all >= layer.hidden) continue;
          slow.cotangent[i] = fast.cotangent[i] = static_cast<float>(start[i]);
          const std::size_t state = i / fast.all * (steps + 1) * fast.all + i % fast.all;
          slow.states[state] = fast.states[state] = static_cast<float>(start[start.size() - 1 - i]);
        }
        run_fast(kernels, layer, x, steps, fast);
        run_slow(cell, layer, x, steps, slow);
        expect_close("states", layer.hidden, fast.all, fast.states, slow.states);
        expect_close("d_input", layer.hidden, fast.all, fast.d_input, slow.d_input);
        expect_close("cotangent", layer.hidden, fast.all, fast.cotangent, slow.cotangent);
        if (!cell.shape.joint) expect_close("d_recurrent", layer.hidden, fast.all, fast.d_recurrent, slow.d_recurrent);
      }
  });
}

/// The cells that offer them.
std::vector<std::string> fused_cells() {
  std::vector<std::string> names;
  for (const CellType* cell : all_cells())
    if (cell->rows().forward) names.push_back(cell->name);
  return names;
}

TEST(RowSteps, AreOfferedByTheSameCellsAsEver) {
  // A cell that changes sides changes the bits of every run with a single row.
  EXPECT_EQ(fused_cells(),
            (std::vector<std::string>{"lstm", "gru", "rnn_tanh", "rnn_relu", "rnn_logistic", "rnn_linear", "mingru"}));
}

INSTANTIATE_TEST_SUITE_P(Cells, RowStepsOf, ::testing::ValuesIn(fused_cells()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace throughtime::testing

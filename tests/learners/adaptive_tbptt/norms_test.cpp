// The norms of an estimate and the sizes of gradients that it takes for C_k, against explicit sums: every derivative is
// a product of central differences of single steps.
#include <gtest/gtest.h>

#include <cmath>

#include "learners/adaptive_tbptt/support.h"
#include "learners/step_derivatives.h"
#include "support/numeric.h"

namespace throughtime::testing {
namespace {

constexpr int lags = 4, burn_in = 2, steps = burn_in + lags, rows = 4;

/// Places are the rows of a problem of as many steps as an estimate reads; one place is row `draw % 4`.
class Places {
 public:
  explicit Places(const ModelConfig& model)
      : problem(problem_of(model, steps)), derivatives_(problem), bench_(problem) {}

  PhiSample sample(PhiNorm norm, GradientSize size, const std::vector<DecayVariant>& variants = {}) {
    EstimateConfig config = config_of(lags, burn_in);
    config.norm = norm;
    config.gradient_size = size;
    config.variants = variants;
    const PositionFunction all = last_steps_of(problem, window_);
    const PositionFunction positions = [&](std::uint64_t draw, int count, int length) -> const Window& {
      if (count == rows) return all(draw, count, length);
      return one_ = row_of(problem.window, static_cast<int>(draw % rows), length);
    };
    return PhiCollector(*bench_.engine, config, rows, positions).collect(bench_.parameters, 0);
  }

  /// dL_s/dh_{s-k} [S] of a row.
  std::vector<double> cotangent(int row, int lag) const {
    return lag > 0 ? derivatives_.loss_by_state(steps - 1, row, lag) : loss_by_last_state(row);
  }

  /// [S]: the root mean square over the places of how long the derivative of each unit by the weights of its layer is.
  std::vector<double> weights() const {
    const Model& model = *problem.model;
    std::vector<double> squares(model.state_size(), 0.0);
    for (int row = 0; row < rows; ++row)  // eight places: each row twice
      for (std::size_t layer = 0; layer < model.layers().size(); ++layer)
        for (const ParameterBlock& block : model.parameters().blocks()) {
          const Layer& of = model.layers()[layer];
          if (!block.name.starts_with("rnn.") || !block.name.ends_with("_l" + std::to_string(layer))) continue;
          for (int unit = of.state_offset; unit < of.state_offset + of.cell->shape.states * of.hidden; ++unit)
            for (std::size_t p = block.offset; p < block.offset + block.size(); ++p) {
              const double by_weight = derivatives_.state_by_weights(burn_in, row)[unit][p];
              squares[unit] += by_weight * by_weight / rows;
            }
        }
    for (double& value : squares) value = std::sqrt(value);
    return squares;
  }

  Problem problem;

 private:
  /// The loss is the mean over two outputs of (W h + b - y)^2: its derivative is the sum over them of (z - y) W.
  std::vector<double> loss_by_last_state(int row) const {
    EngineRun run(problem);
    const std::vector<double> predictions = run.unroll().predictions;
    const Model& model = *problem.model;
    const Layer& top = model.layers().back();
    const double* head = problem.parameters.data() + model.parameters().find("head.weight").offset;
    const Source& source = problem.sources[problem.window.source[row]];
    const std::size_t at = problem.window.start[row] + steps - 1 - source.first;
    std::vector<double> gradient(model.state_size(), 0.0);
    for (std::size_t output = 0; output < 2; ++output) {
      const double error = predictions[((steps - 1) * rows + row) * 2 + output] - source.target_values[2 * at + output];
      for (int i = 0; i < top.hidden; ++i) gradient[top.state_offset + i] += error * head[output * top.hidden + i];
    }
    return gradient;
  }

  StepDerivatives derivatives_;
  Bench bench_;
  Window window_, one_;
};

std::vector<double> product(std::vector<double> a, const std::vector<double>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] *= b[i];
  return a;
}

/// The sum over layers of the lengths of their parts of a state.
double length_by_layer(const Model& model, const std::vector<double>& cotangent) {
  double sum = 0;
  for (const Layer& layer : model.layers())
    sum += norm(std::span(cotangent).subspan(layer.state_offset, layer.cell->shape.states * layer.hidden));
  return sum;
}

class PhiNorms : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Cells, PhiNorms, ::testing::ValuesIn(cell_names()),
                         [](const auto& info) { return info.param; });

TEST_P(PhiNorms, OfEveryPlaceAndLagAreTheirSums) {
  Places places(stack_of(GetParam(), {3, 2}));
  const std::vector<double> weights = places.weights();
  const PhiSample euclidean = places.sample(PhiNorm::euclidean, GradientSize::norms),
                  layers = places.sample(PhiNorm::per_layer, GradientSize::norms),
                  weighted = places.sample(PhiNorm::weighted, GradientSize::norms);
  for (int lag = 0; lag <= lags; ++lag) {
    double mean = 0;
    for (int row = 0; row < rows; ++row) {
      const std::vector<double> cotangent = places.cotangent(row, lag);
      const std::size_t draw = row * (lags + 1) + lag;
      EXPECT_NEAR(euclidean.draws[draw], norm(cotangent), 1e-8) << lag;
      EXPECT_NEAR(layers.draws[draw], length_by_layer(*places.problem.model, cotangent), 1e-8) << lag;
      EXPECT_NEAR(weighted.draws[draw], norm(product(cotangent, weights)), 1e-8) << lag;
      mean += norm(product(cotangent, weights)) / rows;
    }
    EXPECT_NEAR(weighted.means.phi[lag], mean, 1e-8) << lag;
  }
}

TEST_P(PhiNorms, OfSummedVectorsAreThoseOfTheMeanOverPlaces) {
  Places places(stack_of(GetParam(), {3, 2}));
  const std::vector<double> ones(places.problem.model->state_size(), 1.0), weights = places.weights();
  for (const PhiNorm kind : {PhiNorm::euclidean, PhiNorm::weighted})
    for (const int first : {0, 1}) {
      std::vector<DecayVariant> variants;
      if (first == 1) variants = {DecayVariant::phi_from_one};
      const std::vector<double> got = places.sample(kind, GradientSize::vectors, variants).means.gradient;
      ASSERT_EQ(got.size(), lags + 1u);
      std::vector<double> sum(ones.size(), 0.0);
      for (int lag = 0; lag <= lags; ++lag) {
        for (int row = 0; row < rows && lag >= first; ++row) {
          const std::vector<double> cotangent = places.cotangent(row, lag);
          for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += cotangent[i] / rows;
        }
        EXPECT_NEAR(got[lag], norm(product(sum, kind == PhiNorm::weighted ? weights : ones)), 1e-8)
            << name_of(kind) << " from " << first << " to " << lag;
      }
    }
}

}  // namespace
}  // namespace throughtime::testing

#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "support/engine_run.h"

namespace throughtime::testing {

/// What each step of a problem's forward pass does to states, losses and parameters, by central differences of forward
/// calls of one step. Sums of products of these are gradients that owe nothing to a pull-back.
class StepDerivatives {
 public:
  explicit StepDerivatives(const Problem& problem)
      : problem_(problem), run_(problem), states_(run_.unroll().states), size_(problem.parameters.size()) {
    for (int t = 0; t < problem.window.steps; ++t) steps_.push_back(differentiate(t));
    run_.set_window(problem.window);
  }

  /// d/dW of the loss of step t times its weights, all rows together, with the state before cell `first` held fixed:
  /// the sum over cells of what each does at once, carried to step t by the Jacobians of all cells after it.
  std::vector<double> loss_gradient(int t, int first) const {
    std::vector<double> sum(size_, 0.0);
    for (int row = 0; row < problem_.window.batch; ++row) {
      std::vector<double> gradient = steps_[t].rows[row].loss_by_weights;
      for (int k = t - 1; k >= first; --k)
        add_product(loss_by_state(t, row, t - k), state_by_weights(k, row), gradient);
      for (std::size_t i = 0; i < size_; ++i) sum[i] += problem_.window.weight_at(t, row) * gradient[i];
    }
    return sum;
  }
  /// The mean of such gradients over the losses of steps [first_loss, end).
  std::vector<double> mean_gradient(int first, int first_loss, int end) const {
    std::vector<double> mean(size_, 0.0);
    double weights = 0;
    for (int t = first_loss; t < end; ++t) {
      const std::vector<double> one = loss_gradient(t, first);
      for (std::size_t i = 0; i < size_; ++i) mean[i] += one[i];
      for (int row = 0; row < problem_.window.batch; ++row) weights += problem_.window.weight_at(t, row);
    }
    for (double& value : mean) value /= weights;
    return mean;
  }
  /// dL_t/dh [S] of a row, h the state before cell t + 1 - lag; lag >= 1.
  std::vector<double> loss_by_state(int t, int row, int lag) const {
    std::vector<double> gradient = steps_[t].rows[row].loss_by_state;
    for (int k = t - 1; k > t - lag; --k) {
      std::vector<double> further(gradient.size(), 0.0);
      add_product(gradient, steps_[k].rows[row].state_by_state, further);
      gradient = further;
    }
    return gradient;
  }
  /// [S][P]: what the weights do at once to a row's state after step t.
  const std::vector<std::vector<double>>& state_by_weights(int t, int row) const {
    return steps_[t].rows[row].state_by_weights;
  }
  /// [B, S]
  std::vector<double> state_before(int step) const {
    const auto from = states_.begin() + step * static_cast<long>(run_.state_numbers());
    return {from, from + static_cast<long>(run_.state_numbers())};
  }

 private:
  using Matrix = std::vector<std::vector<double>>;
  struct Row {
    Matrix state_by_weights, state_by_state;  // [S][P], [S][S]: of the state after the step
    std::vector<double> loss_by_weights, loss_by_state;
  };
  struct Step {
    std::vector<Row> rows;
  };

  /// States [B, S] and losses [B] after step t.
  std::vector<double> after(const Window& one, const std::vector<double>& weights, const std::vector<double>& state) {
    run_.set_parameters(weights);
    run_.set_window(one);
    Unrolled unrolled = run_.unroll(state);
    std::vector<double> values = unrolled.final_state;
    values.insert(values.end(), unrolled.losses.begin(), unrolled.losses.end());
    return values;
  }

  /// d values / d number, where `moved(by)` gives the values with that number moved.
  static std::vector<double> slopes(const std::function<std::vector<double>(double)>& moved) {
    constexpr double step = 2e-3;
    const std::vector<double> up = moved(step), down = moved(-step), far_up = moved(2 * step),
                              far_down = moved(-2 * step);
    std::vector<double> result(up.size());
    for (std::size_t i = 0; i < up.size(); ++i)
      result[i] = (8 * (up[i] - down[i]) - (far_up[i] - far_down[i])) / (12 * step);
    return result;
  }

  Step differentiate(int t) {
    Window one;
    slice(problem_.window, t, 1, one);
    const std::vector<double> before = state_before(t);
    const auto rows = static_cast<std::size_t>(one.batch), width = before.size() / rows;
    Step step;
    step.rows.resize(rows);
    for (Row& row : step.rows)
      row = {Matrix(width, std::vector<double>(size_)), Matrix(width, std::vector<double>(width)),
             std::vector<double>(size_), std::vector<double>(width)};
    for (std::size_t p = 0; p < size_; ++p) {
      const std::vector<double> by_weight = slopes([&](double by) {
        std::vector<double> weights = problem_.parameters;
        weights[p] += by;
        return after(one, weights, before);
      });
      for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t i = 0; i < width; ++i) step.rows[row].state_by_weights[i][p] = by_weight[row * width + i];
        step.rows[row].loss_by_weights[p] = by_weight[rows * width + row];
      }
    }
    for (std::size_t j = 0; j < width; ++j) {  // in all rows at once: they know nothing of each other
      const std::vector<double> by_state = slopes([&](double by) {
        std::vector<double> state = before;
        for (std::size_t row = 0; row < rows; ++row) state[row * width + j] += by;
        return after(one, problem_.parameters, state);
      });
      for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t i = 0; i < width; ++i) step.rows[row].state_by_state[i][j] = by_state[row * width + i];
        step.rows[row].loss_by_state[j] = by_state[rows * width + row];
      }
    }
    return step;
  }

  /// to += vector times matrix
  static void add_product(const std::vector<double>& vector, const Matrix& matrix, std::vector<double>& to) {
    for (std::size_t i = 0; i < vector.size(); ++i)
      for (std::size_t j = 0; j < to.size(); ++j) to[j] += vector[i] * matrix[i][j];
  }

  const Problem& problem_;
  EngineRun run_;
  std::vector<double> states_;  // [L + 1, B, S]
  std::size_t size_;            // P
  std::vector<Step> steps_;
};

}  // namespace throughtime::testing

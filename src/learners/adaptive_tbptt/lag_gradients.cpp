#include "learners/adaptive_tbptt/lag_gradients.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "learners/support.h"

namespace throughtime {
namespace {

/// Whether every row of the layer's weights acts on one unit alone: not where a gate multiplies the state before a
/// product, nor where the recurrent matrix is made from other numbers.
bool rows_feed_units(const Model& model, const Layer& layer) {
  const CellShape& shape = layer.cell->shape;
  if (shape.late_rows > 0) return false;
  if (layer.weight_hh < 0) return shape.recurrent_rows == 0;
  const ParameterBlock& block = model.parameters().block(layer.weight_hh);
  return block.size() == elements(shape.recurrent_rows) * elements(layer.hidden, layer.hidden);
}

}  // namespace

LagGradients::LagGradients(Engine& engine, int steps, int rows)
    : engine_(engine),
      tape_(engine.make_tape({.steps = steps, .batch = rows, .keep = Keep::gradient, .losses = 1})),
      gradient_(engine.allocate(engine.model().parameters().size())),
      cotangent_(engine.allocate(elements(rows, engine.model().state_size()))),
      values_(gradient_.size) {}

void LagGradients::run(const Window& window, Buffer parameters, bool training, const Visit& visit) {
  engine_.unroll({.window = window, .parameters = parameters, .tape = *tape_, .training = training});
  for (int lag = 0; lag < window.steps; ++lag) {
    const int cell = window.steps - 1 - lag;
    engine_.pull_back({.tape = *tape_,
                       .window = window,
                       .parameters = parameters,
                       .first = cell,
                       .last = cell + 1,
                       .gradient = gradient_,
                       .add = lag > 0,
                       .losses = lag == 0,
                       .end_cotangent = lag > 0 ? cotangent_ : Buffer(),
                       .initial_cotangent = cotangent_});
    engine_.read(gradient_, values_);
    for (double& value : values_) value /= window.batch;
    visit(lag, values_);
  }
}

std::size_t LagGradients::tape_bytes(Engine& engine, int steps, int rows) {
  const auto bytes = [&](int length) {
    return engine.make_tape({.steps = length, .batch = rows, .keep = Keep::gradient, .losses = 1})->activation_bytes();
  };
  const std::size_t one = bytes(1), two = bytes(2);
  return one + elements(steps - 1) * (two - one);
}

ImmediateJacobian::ImmediateJacobian(Engine& engine)
    : engine_(engine),
      burn_in_(engine, 1),
      tape_(engine.make_tape({.steps = 1, .batch = 1, .keep = Keep::gradient})),
      state_(engine.allocate(elements(engine.model().state_size()))),
      cotangent_(engine.allocate(state_.size)),
      gradient_(engine.allocate(engine.model().parameters().size())),
      unit_(state_.size),
      lengths_(state_.size),
      values_(gradient_.size) {
  reserve(last_, 1, 1);
}

void ImmediateJacobian::look_at(const Window& one_row, Buffer parameters, bool training) {
  parameters_ = parameters;
  burn_in_.run(one_row, one_row.steps - 1, parameters, training, state_);
  slice(one_row, one_row.steps - 1, 1, last_);
  engine_.unroll(
      {.window = last_, .parameters = parameters, .tape = *tape_, .training = training, .initial_state = state_});
}

void ImmediateJacobian::pull_back(std::span<double> values) {
  engine_.write(cotangent_, unit_);
  engine_.pull_back({.tape = *tape_,
                     .window = last_,
                     .parameters = parameters_,
                     .gradient = gradient_,
                     .losses = false,
                     .end_cotangent = cotangent_});
  engine_.read(gradient_, values);
}

const std::vector<double>& ImmediateJacobian::row_lengths() {
  const Model& model = engine_.model();
  std::fill(lengths_.begin(), lengths_.end(), 0.0);
  for (const Layer& layer : model.layers())
    for (int tensor = 0; tensor < layer.cell->shape.states; ++tensor) {
      const int first = layer.state_offset + tensor * layer.hidden;
      if (rows_feed_units(model, layer)) {
        add_rows(layer, first);
      } else {
        for (int unit = first; unit < first + layer.hidden; ++unit) add_unit(layer, unit);
      }
    }
  for (double& value : lengths_) value = std::sqrt(value);
  return lengths_;
}

/// With a cotangent of ones on one tensor, the rows of the weights that feed unit i hold exactly the derivative of that
/// unit.
void ImmediateJacobian::add_rows(const Layer& layer, int first) {
  std::fill(unit_.begin(), unit_.end(), 0.0);
  std::fill_n(unit_.begin() + first, layer.hidden, 1.0);
  pull_back(values_);
  for (const int index : {layer.weight_ih, layer.weight_hh, layer.bias_ih, layer.bias_hh}) {
    if (index < 0) continue;
    const ParameterBlock& block = engine_.model().parameters().block(index);
    const std::size_t columns = block.size() / elements(block.shape[0]);
    for (std::size_t i = 0; i < block.size(); ++i) {
      const double value = values_[block.offset + i];
      lengths_[first + static_cast<int>(i / columns) % layer.hidden] += value * value;
    }
  }
}

void ImmediateJacobian::add_unit(const Layer& layer, int unit) {
  std::fill(unit_.begin(), unit_.end(), 0.0);
  unit_[unit] = 1;
  pull_back(values_);
  for (const int index : {layer.weight_ih, layer.weight_hh, layer.bias_ih, layer.bias_hh}) {
    if (index < 0) continue;
    const ParameterBlock& block = engine_.model().parameters().block(index);
    for (std::size_t i = 0; i < block.size(); ++i)
      lengths_[unit] += values_[block.offset + i] * values_[block.offset + i];
  }
}

void ImmediateJacobian::reserve_norm() {
  const std::size_t size = state_.size;
  rows_.resize(size * gradient_.size);
  gram_.resize(size * size);
  vector_.resize(size);
  image_.resize(size);
}

double ImmediateJacobian::norm() {
  reserve_norm();
  const std::size_t size = state_.size, width = gradient_.size;
  for (std::size_t i = 0; i < size; ++i) {
    std::fill(unit_.begin(), unit_.end(), 0.0);
    unit_[i] = 1;
    pull_back(std::span(rows_).subspan(i * width, width));
  }
  const auto dot = [](const double* x, const double* y, std::size_t count) {
    return std::inner_product(x, x + count, y, 0.0);
  };
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t j = 0; j < size; ++j)
      gram_[i * size + j] = dot(rows_.data() + i * width, rows_.data() + j * width, width);
  std::fill(vector_.begin(), vector_.end(), 1.0);
  double largest = 0;
  for (int iteration = 0; iteration < 200; ++iteration) {  // of a symmetric matrix: its largest eigenvalue
    for (std::size_t i = 0; i < size; ++i) image_[i] = dot(vector_.data(), gram_.data() + i * size, size);
    largest = std::sqrt(dot(image_.data(), image_.data(), size));
    if (!(largest > 0)) return largest;
    for (std::size_t i = 0; i < size; ++i) vector_[i] = image_[i] / largest;
  }
  return std::sqrt(largest);
}

}  // namespace throughtime

#include <algorithm>
#include <cmath>
#include <span>

#include "core/memory.h"
#include "throughtime/error.h"
#include "throughtime/model.h"
#include "throughtime/random.h"

namespace throughtime {
namespace {

/// What a block is for; matrices are [rows, columns] as they enter the product, `gates` of them stacked.
struct Role {
  enum Kind {
    embedding,
    linear_weight,
    linear_bias,
    input_weight,
    recurrent_weight,
    recurrent_bias,
    constant  // a number of the head that no layer makes: a matrix of one entry
  } kind = linear_weight;
  int rows = 0;
  int columns = 0;  // of a bias: of the matrix beside it
  int gates = 1;
  bool mapped = false;  // belongs to a cell whose recurrent weights are made by a map
  bool tied = false;    // an embedding that is the head's matrix too
  enum Part { input, recurrent, head, output } part = recurrent;

  bool is_bias() const { return kind == linear_bias || kind == recurrent_bias; }
};

/// A distribution with mean zero: uniform on [-spread, spread), or normal with that deviation.
struct Draw {
  double spread = 0;
  bool normal = false;
};

double inverse_root(int count) { return 1.0 / std::sqrt(static_cast<double>(count)); }

Draw pytorch(const Role& role, const InitialiseConfig&) {
  switch (role.kind) {
    case Role::embedding:
      return role.tied ? Draw{0.1} : Draw{1.0, true};
    case Role::linear_weight:
    case Role::linear_bias:
      return {inverse_root(role.columns)};
    case Role::constant:
      return {std::sqrt(3.0)};  // PyTorch has no rule; that of sqrt3max for one entry
    default:
      return {inverse_root(role.rows / role.gates)};  // 1 / sqrt H
  }
}

Draw glorot(const Role& role, const InitialiseConfig&) {
  const int units = role.rows / role.gates;
  return {role.is_bias() ? 0 : std::sqrt(6.0 / (units + role.columns))};
}

Draw uniform(const Role& role, const InitialiseConfig& config) { return {role.is_bias() ? 0 : config.range}; }

Draw sqrt3max(const Role& role, const InitialiseConfig&) {
  return {role.is_bias() ? 0 : std::sqrt(3.0 / std::max(role.rows, role.columns))};
}

Draw antisymmetric(const Role& role, const InitialiseConfig& config) {
  switch (role.kind) {
    case Role::input_weight:
      return {inverse_root(role.columns), true};
    case Role::recurrent_weight:
      return {config.recurrent_scale * inverse_root(role.columns), true};
    case Role::recurrent_bias:
      return {0};
    default:
      return pytorch(role, config);
  }
}

Draw by_cell(const Role& role, const InitialiseConfig& config) {
  return role.mapped ? antisymmetric(role, config) : pytorch(role, config);
}

/// How each rule draws, in the order of InitialiseRule.
using Drawing = Draw (*)(const Role&, const InitialiseConfig&);
constexpr Drawing drawings[] = {by_cell, pytorch, glorot, uniform, sqrt3max, antisymmetric};

Drawing drawing_of(Role::Part part, const InitialiseConfig& config) {
  const InitialiseRule head = rule_of(config.head, config.rule);
  const InitialiseRule rule = part == Role::input    ? rule_of(config.input, config.rule)
                              : part == Role::head   ? head
                              : part == Role::output ? rule_of(config.output, head)
                                                     : config.rule;
  return drawings[static_cast<std::size_t>(rule)];
}

void describe_layer(const Layer& layer, std::vector<Role>& roles) {
  const CellShape& shape = layer.cell->shape;
  const bool mapped = layer.cell->raw_shape != nullptr;
  const int h = layer.hidden;
  const auto set = [&](int block, Role::Kind kind, int gates, int columns) {
    if (block >= 0) roles[block] = {kind, gates * h, columns, gates, mapped};
  };
  set(layer.weight_ih, Role::input_weight, shape.input_rows, layer.inputs);
  set(layer.weight_hh, Role::recurrent_weight, shape.recurrent_rows, h);
  set(layer.bias_ih, Role::recurrent_bias, shape.input_rows, layer.inputs);
  set(layer.bias_hh, Role::recurrent_bias, shape.recurrent_rows, h);
}

std::vector<Role> describe_blocks(const Model& model) {
  const ParameterLayout& layout = model.parameters();
  std::vector<Role> roles(layout.blocks().size());
  for (const Layer& layer : model.layers()) describe_layer(layer, roles);

  const auto linear = [&](int weight, int bias, Role::Part part) {
    if (weight < 0) return;
    const std::vector<int>& shape = layout.block(weight).shape;
    roles[weight] = {.kind = Role::linear_weight, .rows = shape[0], .columns = shape[1], .part = part};
    if (bias >= 0) roles[bias] = {.kind = Role::linear_bias, .rows = shape[0], .columns = shape[1], .part = part};
  };
  linear(model.encoder_weight, model.encoder_bias, Role::input);
  linear(model.head_inner_weight, model.head_inner_bias, Role::head);
  for (std::size_t k = 0; k < model.head_layer_weight.size(); ++k)
    linear(model.head_layer_weight[k], model.head_layer_bias[k], Role::head);
  linear(model.head_weight, model.head_bias, Role::output);
  if (model.head_constants >= 0)
    roles[model.head_constants] = {.kind = Role::constant, .rows = 1, .columns = 1, .part = Role::head};

  if (model.embedding >= 0) {  // last: a tied head's matrix is drawn as an embedding
    const std::vector<int>& shape = layout.block(model.embedding).shape;
    Role& role = roles[model.embedding];
    role = {.kind = Role::embedding, .rows = shape[0], .columns = shape[1], .part = Role::input};
    role.tied = model.config().head.tied;
  }
  return roles;
}

void fill(std::span<double> block, const Draw& draw, const Random& random, std::uint32_t index) {
  if (draw.spread == 0) return;
  for (std::size_t element = 0; element < block.size(); ++element)
    block[element] =
        draw.spread * (draw.normal ? random.normal(0, index, element) : 2.0 * random.uniform(0, index, element) - 1.0);
}

void check(const InitialiseConfig& config) {
  const auto at_least_zero = [](const char* what, double value) {
    if (!(value >= 0) || !std::isfinite(value))
      refuse("initialise", "{} must be a number of at least 0, got {}", what, value);
  };
  at_least_zero("range", config.range);
  at_least_zero("recurrent_scale", config.recurrent_scale);
  if (!std::isfinite(config.forget_bias))
    refuse("initialise", "forget_bias must be finite, got {}", config.forget_bias);
}

}  // namespace

std::vector<double> initialise(const Model& model, const InitialiseConfig& config, std::uint64_t seed) {
  check(config);
  const ParameterLayout& layout = model.parameters();
  const Random random(seed, Purpose::initialise);
  const std::vector<Role> roles = describe_blocks(model);

  require_memory("model", fmt::format("a model of {} parameters", layout.size()),
                 static_cast<double>(layout.size()) * sizeof(double));
  std::vector<double> parameters(layout.size());
  for (std::size_t index = 0; index < roles.size(); ++index) {
    const ParameterBlock& block = layout.blocks()[index];
    const Draw draw = drawing_of(roles[index].part, config)(roles[index], config);
    fill(std::span(parameters).subspan(block.offset, block.size()), draw, random, static_cast<std::uint32_t>(index));
  }
  for (const Layer& layer : model.layers()) {
    if (layer.cell->shape.forget_row < 0) continue;
    double* gate = parameters.data() + layout.block(layer.bias_ih).offset + layer.cell->shape.forget_row * layer.hidden;
    for (int unit = 0; unit < layer.hidden; ++unit) gate[unit] += config.forget_bias;
  }
  return parameters;
}

}  // namespace throughtime

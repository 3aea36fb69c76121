#include "throughtime/model.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "throughtime/error.h"

namespace throughtime {
namespace {

constexpr int largest_width = 1 << 24;

void check_input(const InputConfig& input) {
  require_range("model", "input.reals", input.reals, 0, largest_width);
  require_range("model", "input.vocabulary", input.vocabulary, 0, largest_width);
  require_range("model", "input.embedding", input.embedding, 0, largest_width);
  require_range("model", "input.encoder", input.encoder, 0, largest_width);
  if (input.reals == 0 && input.vocabulary == 0)
    refuse("model", "a step needs an input: set input.reals, input.vocabulary or both");
  const bool embedded = input.tokens == TokenInput::embedding;
  if (embedded && input.vocabulary == 0) refuse("model", "an embedding needs tokens: set input.vocabulary");
  if (embedded && input.embedding == 0)
    refuse("model", "input.embedding must be at least 1 for embedded tokens, got 0");
  if (!embedded && input.embedding != 0)
    refuse("model", "input.embedding is {}, but the tokens are one-hot; embed them or set it to 0", input.embedding);
}

void check_layers(const std::vector<LayerConfig>& layers) {
  if (layers.empty()) refuse("model", "at least one layer is needed, got none");
  std::int64_t state_size = 0;
  for (std::size_t k = 0; k < layers.size(); ++k) {
    require_range("model", fmt::format("hidden of layer {}", k), layers[k].hidden, 1, LayerConfig::largest_hidden);
    const CellOptions& options = layers[k].options;
    if (!(options.step > 0) || !std::isfinite(options.step))
      refuse("model", "step of layer {} must be a positive number, got {}", k, options.step);
    if (!(options.diffusion >= 0) || !std::isfinite(options.diffusion))
      refuse("model", "diffusion of layer {} must be a number of at least 0, got {}", k, options.diffusion);
    state_size += static_cast<std::int64_t>(find_cell(layers[k].cell).shape.states) * layers[k].hidden;
    if (state_size > std::numeric_limits<int>::max())
      refuse("model", "the state of a row must have fewer than 2^31 numbers, layer {} makes it {}", k, state_size);
  }
}

void check_levels(const HeadConfig& head, const HeadType& type) {
  for (std::size_t i = 0; i < head.levels.size(); ++i)
    if (!(head.levels[i] > 0 && head.levels[i] < 1) || (i > 0 && head.levels[i] <= head.levels[i - 1]))
      refuse("model", "levels must ascend within 0 and 1, such as 0.1, 0.5, 0.9, got {}", fmt::join(head.levels, ", "));
  if (type.band != HeadBand::none && head.levels.empty())
    refuse("model", "the {} head needs levels, such as 0.1, 0.5, 0.9", head.name);
  const int each = type.outputs_per_target(head.levels.size());
  if (head.outputs % each != 0)
    refuse("model", "head.outputs must be a multiple of {} for the {} head, which has so many for each target, got {}",
           each, head.name, head.outputs);
}

/// The layers of its own that the head of a checked configuration has.
HeadLayers layers_of(const ModelConfig& config) {
  const HeadType& type = find_head(config.head.name);
  if (!type.layers) return {};
  return type.layers(config.head, config.layers.back().hidden, config.input.embedding);
}

void check_own_layers(const ModelConfig& config, const HeadType& type) {
  if (config.dropout.latent > 0 && !type.layers)
    refuse("model", "dropout_latent drops what layers of a head put out, and the {} head has none of its own",
           type.name);
  if (!type.layers) return;
  if (config.head.hidden > 0)
    refuse("model", "head_hidden must be 0 for the {} head, which has layers of its own, got {}", type.name,
           config.head.hidden);
  if (config.dropout.logits > 0)
    refuse("model", "dropout_logits must be 0 for the {} head; dropout_latent drops what its output layer reads",
           type.name);
}

void check_head(const ModelConfig& config) {
  const HeadConfig& head = config.head;
  require_range("model", "head.outputs", head.outputs, 1, largest_width);
  require_range("model", "head.hidden", head.hidden, 0, largest_width);
  const HeadType& type = find_head(head.name);
  if (head.outputs <= type.beside)
    refuse("model",
           "head.outputs must be at least {} for the {} head, which has {} beside those of its classes, got {}",
           type.beside + 1, head.name, type.beside, head.outputs);
  check_levels(head, type);
  check_own_layers(config, type);
  const HeadLayers own = layers_of(config);
  if (!head.tied) return;
  if (type.beside > 0) refuse("model", "the {} head cannot be tied: it has outputs that are no tokens", head.name);
  if (config.input.tokens != TokenInput::embedding) refuse("model", "a tied head needs embedded tokens");
  if (head.outputs != config.input.vocabulary)
    refuse("model", "a tied head needs as many outputs as the vocabulary has tokens ({}), got {}",
           config.input.vocabulary, head.outputs);
  const int feeding = own.any() ? own.width : head.hidden > 0 ? head.hidden : config.layers.back().hidden;
  if (feeding != config.input.embedding)
    refuse("model", "a tied head needs {} of the embedding's width ({}), got {}",
           own.any()         ? "latent"
           : head.hidden > 0 ? "head.hidden"
                             : "a last layer",
           config.input.embedding, feeding);
}

void check_dropout(const DropoutConfig& dropout) {
  const auto check = [](const char* what, double share) {
    if (!(share >= 0 && share < 1)) refuse("model", "dropout.{} must be at least 0 and below 1, got {}", what, share);
  };
  check("input", dropout.input);
  check("between", dropout.between);
  check("output", dropout.output);
  check("logits", dropout.logits);
  check("recurrent", dropout.recurrent);
  check("embedding", dropout.embedding);
  check("latent", dropout.latent);
}

void check_regularisers(const ModelConfig& config) {
  const auto check = [](const char* what, double strength) {
    if (!(strength >= 0 && std::isfinite(strength)))
      refuse("model", "{}_penalty must be 0 (off) or a positive number, got {}", what, strength);
  };
  check("activation", config.penalties.activation);
  check("slowness", config.penalties.slowness);
  if (config.dropout.embedding > 0 && config.input.tokens != TokenInput::embedding)
    refuse("model", "dropout_embedding drops rows of an embedding, and tokens are not embedded; set model.embedding");
}

/// Adds the blocks of layer `index`, named as in torch.nn. A recurrent block without numbers stays absent.
Layer make_layer(const LayerConfig& config, int index, int inputs, ParameterLayout& parameters) {
  Layer layer;
  layer.cell = &find_cell(config.cell);
  layer.options = config.options;
  layer.inputs = inputs;
  layer.hidden = config.hidden;
  const CellShape& shape = layer.cell->shape;
  const int input_rows = shape.input_rows * config.hidden, recurrent_rows = shape.recurrent_rows * config.hidden;

  layer.weight_ih = parameters.add(fmt::format("rnn.weight_ih_l{}", index), {input_rows, inputs});
  std::vector<int> recurrent = {recurrent_rows, config.hidden};
  if (layer.cell->raw_shape) recurrent = layer.cell->raw_shape(config.hidden);
  if (std::ranges::count(recurrent, 0) == 0)
    layer.weight_hh = parameters.add(fmt::format("rnn.weight_hh_l{}", index), recurrent);
  layer.bias_ih = parameters.add(fmt::format("rnn.bias_ih_l{}", index), {input_rows});
  if (shape.recurrent_bias && recurrent_rows > 0)
    layer.bias_hh = parameters.add(fmt::format("rnn.bias_hh_l{}", index), {recurrent_rows});
  return layer;
}

}  // namespace

Model::Model(ModelConfig config) : config_(std::move(config)) {
  check_input(config_.input);
  check_layers(config_.layers);
  check_head(config_);
  check_dropout(config_.dropout);
  check_regularisers(config_);
  head_ = &find_head(config_.head.name);

  const InputConfig& input = config_.input;
  const bool embedded = input.tokens == TokenInput::embedding;
  if (embedded) embedding = parameters_.add("embedding.weight", {input.vocabulary, input.embedding});
  raw_inputs_ = (embedded ? input.embedding : input.vocabulary) + input.reals;
  inputs_ = input.encoder > 0 ? input.encoder : raw_inputs_;
  if (input.encoder > 0) {
    encoder_weight = parameters_.add("encoder.weight", {input.encoder, raw_inputs_});
    encoder_bias = parameters_.add("encoder.bias", {input.encoder});
  }

  int width = inputs_;
  for (const LayerConfig& layer_config : config_.layers) {
    Layer layer = make_layer(layer_config, static_cast<int>(layers_.size()), width, parameters_);
    layer.state_offset = state_size_;
    state_size_ += layer.cell->shape.states * layer.hidden;
    width = layer.hidden;
    layers_.push_back(layer);
  }

  const HeadConfig& head = config_.head;
  const bool two = head.hidden > 0;
  if (two) {
    head_inner_weight = parameters_.add("head.0.weight", {head.hidden, width});
    head_inner_bias = parameters_.add("head.0.bias", {head.hidden});
    width = head.hidden;
  }
  head_layers_ = layers_of(config_);
  for (const HeadLayers::Linear& own : head_layers_.linear) {
    const std::string name = "head." + own.name;
    head_layer_weight.push_back(parameters_.add(name + ".weight", {own.outputs, width}));
    head_layer_bias.push_back(own.bias ? parameters_.add(name + ".bias", {own.outputs}) : -1);
  }
  width = last_width();
  const std::string last = two ? "head.1" : "head";
  head_weight = head.tied ? embedding : parameters_.add(last + ".weight", {linear_outputs(), width});
  head_bias = parameters_.add(last + ".bias", {linear_outputs()});
  if (head_->constants > 0) head_constants = parameters_.add("head.constants", {head_->constants});
}

}  // namespace throughtime

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "throughtime/cell.h"
#include "throughtime/choice.h"
#include "throughtime/head.h"
#include "throughtime/parameters.h"

namespace throughtime {

enum class TokenInput { one_hot, embedding };

/// What a step's input is made of: a token (one-hot or embedded), reals beside it, then an optional linear encoder.
struct InputConfig {
  int reals = 0;
  int vocabulary = 0;  // 0: no tokens
  TokenInput tokens = TokenInput::one_hot;
  int embedding = 0;  // width, for TokenInput::embedding
  int encoder = 0;    // width of a linear encoder in front of the first layer; 0: none
};

struct LayerConfig {
  static constexpr int largest_hidden = 1 << 15;  // H * H still counts in an int

  std::string cell = "lstm";
  int hidden = 0;
  CellOptions options;
};

struct HeadConfig {
  std::string name = "softmax";
  int outputs = 0;
  int hidden = 0;                                // width of a second linear layer in between; 0: one layer
  bool tied = false;                             // the output matrix is the embedding
  std::vector<double> levels = {0.1, 0.5, 0.9};  // of quantiles, ascending within 0 and 1
  int experts = 15;                              // of a mixture: how many distributions it mixes
  int latent = 0;      // their inputs' width; 0: the embedding's, and where tokens are not embedded the last layer's
  double epsilon = 0;  // the loss is -log(p + epsilon), as in the released code of the mixture of softmaxes
};

/// Shares of zeros; the survivors are scaled by 1 / (1 - share).
struct DropoutConfig {
  double input = 0;
  double between = 0;
  double output = 0;
  bool per_sequence = false;   // one mask for all steps of a mask key, instead of one per step
  double logits = 0;           // of the head's outputs, before the loss
  bool logits_always = false;  // those masks in evaluations too
  double recurrent = 0;        // of the numbers of each recurrent matrix: one mask for all rows and steps of a mask key
  double embedding = 0;        // of the rows of the embedding, where tokens are read: likewise
  double latent = 0;           // of what a head with layers of its own hands to its output layer
};

/// Penalties on the outputs h of the last layer, in training alone. Both are means over steps with a loss, rows and
/// units, with the weights of the losses, so that a learner scales them as it scales those.
struct PenaltyConfig {
  double activation = 0;  // times the square of h after dropout
  double slowness = 0;    // times the square of what h, before dropout, differs from the step before in the window

  bool any() const { return activation > 0 || slowness > 0; }
};

struct ModelConfig {
  InputConfig input;
  std::vector<LayerConfig> layers;
  HeadConfig head;
  DropoutConfig dropout;
  PenaltyConfig penalties = {};
};

/// One layer of a model: its cell, its widths, and where its parameters and states are.
struct Layer {
  const CellType* cell = nullptr;
  CellOptions options;
  int inputs = 0;                                                  // D
  int hidden = 0;                                                  // H
  int weight_ih = -1, weight_hh = -1, bias_ih = -1, bias_hh = -1;  // block indices; -1: absent
  int state_offset = 0;  // of tensor 0 in a row's state; tensor k follows k * H later
};

/// A checked configuration with its parameter layout. A row's state is all tensors of all layers, one after
/// the other: S = sum over layers of states * H numbers.
class Model {
 public:
  explicit Model(ModelConfig config);

  const ModelConfig& config() const { return config_; }
  const ParameterLayout& parameters() const { return parameters_; }
  const std::vector<Layer>& layers() const { return layers_; }
  const HeadType& head() const { return *head_; }

  int state_size() const { return state_size_; }        // S
  int raw_inputs() const { return raw_inputs_; }        // width of [token part, reals], before the encoder
  int inputs() const { return inputs_; }                // width that the first layer sees
  int outputs() const { return config_.head.outputs; }  // width of the head's output
  int linear_outputs() const { return outputs() - head_->constants; }  // those that a linear layer makes
  int classes() const { return outputs() - head_->beside; }            // those that a label may name
  int target_width() const {
    return head_->target == TargetKind::label_and_interval
               ? 1
               : outputs() / head_->outputs_per_target(config_.head.levels.size());
  }
  int top_hidden() const { return layers_.back().hidden; }
  /// Numbers that a step of a row multiplies, about: the parameters, those of the output layer once for each branch.
  double products_of_step() const {
    return static_cast<double>(parameters_.size()) +
           (head_layers_.branches - 1.0) * static_cast<double>(parameters_.block(head_weight).size());
  }
  const HeadLayers& head_layers() const { return head_layers_; }  // those of its own; none for most heads
  /// Width that the output layer sees.
  int last_width() const {
    return head_layers_.any() ? head_layers_.width : config_.head.hidden > 0 ? config_.head.hidden : top_hidden();
  }

  int embedding = -1, encoder_weight = -1, encoder_bias = -1;  // block indices; -1: absent
  /// Head: [hidden ->] outputs. `head_weight` is the embedding's block when tied.
  int head_inner_weight = -1, head_inner_bias = -1, head_weight = -1, head_bias = -1, head_constants = -1;
  /// Of each linear layer in head_layers(); -1: it has no bias.
  std::vector<int> head_layer_weight, head_layer_bias;

 private:
  ModelConfig config_;
  ParameterLayout parameters_;
  std::vector<Layer> layers_;
  const HeadType* head_ = nullptr;
  HeadLayers head_layers_;
  int state_size_ = 0, raw_inputs_ = 0, inputs_ = 0;
};

/// How to draw the first parameters. `by_cell` is `antisymmetric` for cells that map their weights, else `pytorch`.
enum class InitialiseRule { by_cell, pytorch, glorot, uniform, sqrt3max, antisymmetric };
constexpr auto names_of(InitialiseRule) {
  return choice_names("default", "pytorch", "glorot", "uniform", "sqrt3max", "antisymmetric");
}

/// The rule of one part of a model: that of the whole, or another one.
enum class PartRule { same, by_cell, pytorch, glorot, uniform, sqrt3max, antisymmetric };
constexpr auto names_of(PartRule) { return choice_names_behind("same", names_of(InitialiseRule{})); }
constexpr InitialiseRule rule_of(PartRule part, InitialiseRule whole) {
  return part == PartRule::same ? whole : static_cast<InitialiseRule>(static_cast<int>(part) - 1);
}

struct InitialiseConfig {
  InitialiseRule rule = InitialiseRule::by_cell;
  PartRule input = PartRule::same;   // of the embedding and the encoder
  PartRule head = PartRule::same;    // a matrix that is tied to the embedding belongs to the input
  PartRule output = PartRule::same;  // of the head's last layer; same: as the rest of the head
  double range = 0.1;                // a of uniform(-a, a)
  double recurrent_scale = 1.0;      // sigma_w of the antisymmetric rule
  double forget_bias = 0.0;          // added to the forget gate's input bias, where there is one
};

/// Draws the parameters of `model`; a pure function of the configuration and the seed.
std::vector<double> initialise(const Model& model, const InitialiseConfig& config, std::uint64_t seed);

}  // namespace throughtime

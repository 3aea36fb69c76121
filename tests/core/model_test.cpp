#include "throughtime/model.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/errors.h"

namespace throughtime {
namespace {

ModelConfig small() {
  ModelConfig config;
  config.input.reals = 3;
  config.layers = {{.cell = "lstm", .hidden = 4, .options = {}}};
  config.head.outputs = 5;
  return config;
}

/// "name [a, b]" of every block, in order.
std::vector<std::string> blocks_of(const Model& model) {
  std::vector<std::string> text;
  for (const ParameterBlock& block : model.parameters().blocks())
    text.push_back(fmt::format("{} [{}]", block.name, fmt::join(block.shape, ", ")));
  return text;
}

using Texts = std::vector<std::string>;

TEST(Model, NamesBlocksAsTorchDoes) {
  EXPECT_EQ(blocks_of(Model(small())),
            (Texts{"rnn.weight_ih_l0 [16, 3]", "rnn.weight_hh_l0 [16, 4]", "rnn.bias_ih_l0 [16]", "rnn.bias_hh_l0 [16]",
                   "head.weight [5, 4]", "head.bias [5]"}));
}

TEST(Model, StacksLayersOfTheirOwnWidths) {
  ModelConfig config = small();
  config.layers = {{"gru", 4, {}}, {"lstm", 6, {}}, {"rnn_tanh", 2, {}}};
  const Model model(config);
  EXPECT_EQ(blocks_of(model),
            (Texts{"rnn.weight_ih_l0 [12, 3]", "rnn.weight_hh_l0 [12, 4]", "rnn.bias_ih_l0 [12]", "rnn.bias_hh_l0 [12]",
                   "rnn.weight_ih_l1 [24, 4]", "rnn.weight_hh_l1 [24, 6]", "rnn.bias_ih_l1 [24]", "rnn.bias_hh_l1 [24]",
                   "rnn.weight_ih_l2 [2, 6]", "rnn.weight_hh_l2 [2, 2]", "rnn.bias_ih_l2 [2]", "rnn.bias_hh_l2 [2]",
                   "head.weight [5, 2]", "head.bias [5]"}));
  ASSERT_EQ(model.layers().size(), 3u);
  EXPECT_EQ(model.layers()[1].state_offset, 4);
  EXPECT_EQ(model.layers()[2].state_offset, 4 + 12);
  EXPECT_EQ(model.state_size(), 4 + 12 + 2);
  EXPECT_EQ(model.layers()[2].inputs, 6);
  EXPECT_EQ(model.top_hidden(), 2);
  EXPECT_EQ(model.parameters().block(model.layers()[1].weight_hh).name, "rnn.weight_hh_l1");
  EXPECT_EQ(model.parameters().block(model.layers()[2].bias_hh).name, "rnn.bias_hh_l2");
}

TEST(Model, PacksAntisymmetricWeightsAndHasOneBias) {
  ModelConfig config = small();
  config.layers = {{"antisymmetric", 6, {}}, {"antisymmetric_gated", 4, {}}};
  EXPECT_EQ(blocks_of(Model(config)),
            (Texts{"rnn.weight_ih_l0 [6, 3]", "rnn.weight_hh_l0 [15]", "rnn.bias_ih_l0 [6]", "rnn.weight_ih_l1 [8, 6]",
                   "rnn.weight_hh_l1 [6]", "rnn.bias_ih_l1 [8]", "head.weight [5, 4]", "head.bias [5]"}));
  EXPECT_EQ(Model(config).layers()[0].bias_hh, -1);
}

TEST(Model, AnAntisymmetricUnitAloneHasNoRecurrentBlock) {
  ModelConfig config = small();
  config.layers = {{"antisymmetric", 1, {}}};
  const Model model(config);
  EXPECT_EQ(model.layers()[0].weight_hh, -1);
  EXPECT_EQ(blocks_of(model),
            (Texts{"rnn.weight_ih_l0 [1, 3]", "rnn.bias_ih_l0 [1]", "head.weight [5, 1]", "head.bias [5]"}));
}

TEST(Model, CountsThePublishedSizeOfTheGatedAntisymmetricNet) {
  ModelConfig config;  // pixel CIFAR: three colours, 256 units, ten classes, 37K parameters
  config.input.reals = 3;
  config.layers = {{"antisymmetric_gated", 256, {}}};
  config.head.outputs = 10;
  EXPECT_EQ(Model(config).parameters().size(), 37258u);
}

/// Parameters of the layers alone, with one bias where `biases` is 1.
std::size_t recurrent_size(const std::string& cell, int inputs, int hidden, int biases) {
  ModelConfig config = small();
  config.input.reals = inputs;
  config.layers = {{cell, hidden, {}}};
  const Model model(config);
  std::size_t size = 0;
  for (const ParameterBlock& block : model.parameters().blocks())
    if (block.name.starts_with("rnn.") && (biases == 2 || !block.name.starts_with("rnn.bias_hh"))) size += block.size();
  return size;
}

TEST(Model, CountsThePublishedSizesOfRecurrentLayers) {
  EXPECT_EQ(recurrent_size("lstm", 1, 128, 1), 66560u);  // pixel MNIST
  EXPECT_EQ(recurrent_size("lstm", 3, 128, 1), 67584u);  // pixel CIFAR
  EXPECT_EQ(recurrent_size("gru", 3, 128, 1), 50688u);
  EXPECT_EQ(recurrent_size("lstm", 256, 256, 2), 526336u);  // Penn Treebank, embedding as wide as the state
  EXPECT_EQ(recurrent_size("lstm", 256, 128, 2), 197632u);
}

TEST(Model, PutsTokensBeforeRealsAndTheEncoderInFront) {
  ModelConfig config = small();
  config.input.vocabulary = 10;
  EXPECT_EQ(Model(config).raw_inputs(), 13);
  EXPECT_EQ(Model(config).inputs(), 13);
  config.input.encoder = 7;
  const Model one_hot(config);
  EXPECT_EQ(one_hot.raw_inputs(), 13);
  EXPECT_EQ(one_hot.inputs(), 7);
  EXPECT_EQ(blocks_of(one_hot)[0], "encoder.weight [7, 13]");
  EXPECT_EQ(blocks_of(one_hot)[1], "encoder.bias [7]");
  EXPECT_EQ(one_hot.embedding, -1);

  config.input.tokens = TokenInput::embedding;
  config.input.embedding = 2;
  const Model embedded(config);
  EXPECT_EQ(embedded.raw_inputs(), 5);
  EXPECT_EQ(blocks_of(embedded)[0], "embedding.weight [10, 2]");
  EXPECT_EQ(blocks_of(embedded)[1], "encoder.weight [7, 5]");
  EXPECT_EQ(embedded.embedding, 0);
  EXPECT_EQ(embedded.layers()[0].inputs, 7);
}

TEST(Model, AHeadMayHaveNumbersThatNoLayerMakes) {
  ModelConfig config = small();
  config.head = {.name = "point_process", .outputs = 5};
  const Model model(config);
  const auto blocks = blocks_of(model);
  EXPECT_EQ(Texts(blocks.end() - 3, blocks.end()),
            (Texts{"head.weight [4, 4]", "head.bias [4]", "head.constants [1]"}));
  EXPECT_EQ(model.classes(), 3);
  EXPECT_EQ(model.target_width(), 1);
  config.head.outputs = 2;
  EXPECT_REFUSED(Model{config}, "head.outputs must be at least 3 for the point_process head");
  config.input = {.reals = 0, .vocabulary = 5, .tokens = TokenInput::embedding, .embedding = 4, .encoder = 0};
  config.head = {.name = "point_process", .outputs = 5, .hidden = 0, .tied = true};
  EXPECT_REFUSED(Model{config}, "the point_process head cannot be tied");
}

ModelConfig tied() {
  ModelConfig config = small();
  config.input = {.reals = 0, .vocabulary = 9, .tokens = TokenInput::embedding, .embedding = 4, .encoder = 0};
  config.head = {.name = "softmax", .outputs = 9, .hidden = 0, .tied = true};
  return config;
}

TEST(Model, ATiedHeadSharesTheEmbedding) {
  const Model model(tied());
  EXPECT_EQ(model.head_weight, model.embedding);
  EXPECT_EQ(blocks_of(model).back(), "head.bias [9]");
  EXPECT_EQ(model.parameters().size(), 9u * 4 + 16 * 4 * 2 + 16 * 2 + 9);
}

TEST(Model, ATwoLayerHeadNumbersItsLayers) {
  ModelConfig config = small();
  config.head.hidden = 6;
  const Model model(config);
  const auto blocks = blocks_of(model);
  EXPECT_EQ(Texts(blocks.end() - 4, blocks.end()),
            (Texts{"head.0.weight [6, 4]", "head.0.bias [6]", "head.1.weight [5, 6]", "head.1.bias [5]"}));
  EXPECT_EQ(model.parameters().block(model.head_inner_weight).name, "head.0.weight");

  config = tied();
  config.layers[0].hidden = 7;
  config.head.hidden = 4;
  const auto tied_blocks = blocks_of(Model(config));
  EXPECT_EQ(Texts(tied_blocks.end() - 3, tied_blocks.end()),
            (Texts{"head.0.weight [4, 7]", "head.0.bias [4]", "head.1.bias [9]"}));
}

/// The refusal of `config` after one change.
template <class Change>
std::string refusal_of_changed(ModelConfig config, Change&& change) {
  change(config);
  return testing::refusal_of([&] { Model model(config); });
}

TEST(Model, RefusesConfigurationsThatCannotBe) {
  const double nan = std::nan("");
  const auto expect = [](const std::string& text, const char* part, const char* speaker = "[model] ") {
    EXPECT_EQ(text.rfind(speaker, 0), 0u) << "said: '" << text << "'";
    EXPECT_NE(text.find(part), std::string::npos) << "said: '" << text << "'";
  };
  const auto changed = [](auto change) { return refusal_of_changed(small(), change); };
  const auto changed_tied = [](auto change) { return refusal_of_changed(tied(), change); };
  expect(changed([](auto& c) { c.input.reals = -1; }), "input.reals must be between 0 and");
  expect(changed([](auto& c) { c.input.reals = 0; }), "a step needs an input");
  expect(changed([](auto& c) { c.input.vocabulary = -2; }), "input.vocabulary");
  expect(changed([](auto& c) { c.input.encoder = -2; }), "input.encoder");
  expect(changed([](auto& c) { c.input.embedding = 4; }), "the tokens are one-hot");
  expect(changed([](auto& c) { c.input.tokens = TokenInput::embedding; }), "an embedding needs tokens");
  expect(changed_tied([](auto& c) { c.input.embedding = 0; }), "input.embedding must be at least 1");
  expect(changed([](auto& c) { c.layers.clear(); }), "at least one layer is needed");
  expect(changed([](auto& c) { c.layers[0].hidden = 0; }), "hidden of layer 0 must be between 1 and 32768, got 0");
  expect(changed([](auto& c) { c.layers[0].hidden = 1 << 20; }), "hidden of layer 0");
  expect(changed([](auto& c) { c.layers[0].cell = "lstn"; }), "unknown cell 'lstn'; did you mean 'lstm'?", "[cell] ");
  expect(changed([](auto& c) { c.layers[0].options.step = 0; }), "step of layer 0 must be a positive number");
  expect(changed([=](auto& c) { c.layers[0].options.step = nan; }), "step of layer 0");
  expect(changed([](auto& c) { c.layers[0].options.diffusion = -1; }), "diffusion of layer 0");
  expect(changed([](auto& c) { c.head.outputs = 0; }), "head.outputs must be between 1 and");
  expect(changed([](auto& c) { c.head.hidden = -1; }), "head.hidden");
  expect(changed([](auto& c) { c.head.name = "sofmax"; }), "unknown head 'sofmax'; did you mean 'softmax'?", "[head] ");
  expect(changed([](auto& c) {
           c.head.levels = {0.5, 0.5};
         }),
         "levels must ascend within 0 and 1, such as 0.1, 0.5, 0.9");
  expect(changed([](auto& c) { c.head.levels = {0.0, 0.5}; }), "got 0, 0.5");
  expect(changed([](auto& c) { c.head = {.name = "quantile", .outputs = 2, .levels = {}}; }),
         "the quantile head needs levels");
  expect(changed([](auto& c) { c.head = {.name = "quantile", .outputs = 4}; }),
         "head.outputs must be a multiple of 3 for the quantile head, which has so many for each target, got 4");
  expect(changed([](auto& c) { c.head = {.name = "gaussian", .outputs = 3}; }),
         "a multiple of 2 for the gaussian head");
  expect(changed([](auto& c) { c.head.tied = true; }), "a tied head needs embedded tokens");
  expect(changed_tied([](auto& c) { c.head.outputs = 8; }), "as many outputs as the vocabulary has tokens (9), got 8");
  expect(changed_tied([](auto& c) { c.layers[0].hidden = 5; }), "a last layer of the embedding's width (4), got 5");
  expect(changed_tied([](auto& c) { c.head.hidden = 6; }), "head.hidden of the embedding's width (4), got 6");
  expect(changed([](auto& c) { c.dropout.input = 1; }), "dropout.input must be at least 0 and below 1, got 1");
  expect(changed([](auto& c) { c.dropout.between = -0.1; }), "dropout.between");
  expect(changed([=](auto& c) { c.dropout.output = nan; }), "dropout.output");
  expect(changed([](auto& c) {
           c.layers.assign(65536, {"rnn_tanh", 32768, {}});
         }),
         "the state of a row must have fewer than 2^31 numbers, layer 65535");
}

}  // namespace
}  // namespace throughtime

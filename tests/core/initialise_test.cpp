#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "support/errors.h"
#include "throughtime/model.h"

namespace throughtime {
namespace {

/// Embedded tokens beside reals, an encoder, an LSTM, a packed cell and a head of two layers: every kind of block.
ModelConfig everything() {
  ModelConfig config;
  config.input = {.reals = 6, .vocabulary = 50, .tokens = TokenInput::embedding, .embedding = 14, .encoder = 24};
  config.layers = {{"lstm", 40, {}}, {"antisymmetric_gated", 60, {}}};
  config.head = {.name = "softmax", .outputs = 30, .hidden = 20, .tied = false};
  return config;
}

ModelConfig tied() {
  ModelConfig config;
  config.input = {.reals = 0, .vocabulary = 90, .tokens = TokenInput::embedding, .embedding = 16, .encoder = 0};
  config.layers = {{"gru", 16, {}}};
  config.head = {.name = "softmax", .outputs = 90, .hidden = 0, .tied = true};
  return config;
}

struct Drawn {
  Model model;
  std::vector<double> parameters;

  Drawn(const ModelConfig& config, const InitialiseConfig& rule, std::uint64_t seed = 1)
      : model(config), parameters(initialise(model, rule, seed)) {}

  std::span<const double> block(const char* name) const {
    const ParameterBlock& block = model.parameters().find(name);
    return std::span(parameters).subspan(block.offset, block.size());
  }
};

/// All inside [-bound, bound], and spread as a uniform draw of that many numbers is.
void expect_uniform(std::span<const double> values, double bound) {
  double squares = 0, largest = 0;
  for (const double value : values) {
    squares += value * value;
    largest = std::max(largest, std::abs(value));
  }
  EXPECT_LE(largest, bound);
  EXPECT_GT(largest, 0.85 * bound);
  const double count = static_cast<double>(values.size());
  EXPECT_NEAR(squares / count, bound * bound / 3, 5 * bound * bound * std::sqrt(4.0 / 45 / count));
}

void expect_normal(std::span<const double> values, double deviation) {
  double squares = 0, sum = 0;
  for (const double value : values) squares += value * value, sum += value;
  const double count = static_cast<double>(values.size());
  EXPECT_NEAR(squares / count, deviation * deviation, 5 * deviation * deviation * std::sqrt(2 / count));
  EXPECT_NEAR(sum / count, 0, 5 * deviation / std::sqrt(count));
  EXPECT_GT(*std::ranges::max_element(values), 1.75 * deviation);  // a uniform draw would end at 1.73
}

void expect_zero(std::span<const double> values) {
  EXPECT_TRUE(std::ranges::all_of(values, [](double value) { return value == 0; }));
}

TEST(Initialise, AGrowthOfIntensityIsUniformUpToTheRootOfThree) {
  ModelConfig config = tied();
  config.head = {.name = "point_process", .outputs = 4};
  for (const InitialiseRule rule : {InitialiseRule::by_cell, InitialiseRule::sqrt3max, InitialiseRule::glorot}) {
    std::vector<double> drawn;
    for (std::uint64_t seed = 1; seed <= 300; ++seed)
      drawn.push_back(Drawn(config, {.rule = rule}, seed).block("head.constants").front());
    expect_uniform(drawn, std::sqrt(3.0));
  }
}

TEST(InitialisePytorch, DrawsEveryBlockByTorchsRule) {
  const Drawn drawn(everything(), {.rule = InitialiseRule::pytorch});
  expect_normal(drawn.block("embedding.weight"), 1);
  expect_uniform(drawn.block("encoder.weight"), 1 / std::sqrt(20.0));
  expect_uniform(drawn.block("encoder.bias"), 1 / std::sqrt(20.0));
  for (const char* name : {"rnn.weight_ih_l0", "rnn.weight_hh_l0", "rnn.bias_ih_l0", "rnn.bias_hh_l0"})
    expect_uniform(drawn.block(name), 1 / std::sqrt(40.0));
  for (const char* name : {"rnn.weight_ih_l1", "rnn.weight_hh_l1", "rnn.bias_ih_l1"})
    expect_uniform(drawn.block(name), 1 / std::sqrt(60.0));
  expect_uniform(drawn.block("head.0.weight"), 1 / std::sqrt(60.0));
  expect_uniform(drawn.block("head.1.weight"), 1 / std::sqrt(20.0));
  expect_uniform(drawn.block("head.1.bias"), 1 / std::sqrt(20.0));
}

TEST(InitialisePytorch, ATiedEmbeddingIsSmall) {
  const Drawn drawn(tied(), {.rule = InitialiseRule::pytorch});
  expect_uniform(drawn.block("embedding.weight"), 0.1);
  expect_uniform(drawn.block("head.bias"), 1 / std::sqrt(16.0));
}

TEST(InitialiseGlorot, LooksAtEachGateAlone) {
  const Drawn drawn(everything(), {.rule = InitialiseRule::glorot});
  expect_uniform(drawn.block("embedding.weight"), std::sqrt(6.0 / (50 + 14)));
  expect_uniform(drawn.block("encoder.weight"), std::sqrt(6.0 / (24 + 20)));
  expect_uniform(drawn.block("rnn.weight_ih_l0"), std::sqrt(6.0 / (40 + 24)));
  expect_uniform(drawn.block("rnn.weight_hh_l0"), std::sqrt(6.0 / (40 + 40)));
  expect_uniform(drawn.block("rnn.weight_ih_l1"), std::sqrt(6.0 / (60 + 40)));
  expect_uniform(drawn.block("rnn.weight_hh_l1"), std::sqrt(6.0 / (60 + 60)));
  expect_uniform(drawn.block("head.1.weight"), std::sqrt(6.0 / (30 + 20)));
  for (const char* name :
       {"encoder.bias", "rnn.bias_ih_l0", "rnn.bias_hh_l0", "rnn.bias_ih_l1", "head.0.bias", "head.1.bias"})
    expect_zero(drawn.block(name));
}

TEST(InitialiseUniform, UsesTheRangeForEveryMatrix) {
  const Drawn drawn(everything(), {.rule = InitialiseRule::uniform, .range = 0.25});
  for (const char* name : {"embedding.weight", "encoder.weight", "rnn.weight_ih_l0", "rnn.weight_hh_l0",
                           "rnn.weight_ih_l1", "rnn.weight_hh_l1", "head.0.weight", "head.1.weight"})
    expect_uniform(drawn.block(name), 0.25);
  for (const char* name : {"encoder.bias", "rnn.bias_ih_l0", "rnn.bias_hh_l0", "head.1.bias"})
    expect_zero(drawn.block(name));
}

TEST(InitialiseParts, FollowTheirOwnRuleWhereTheyHaveOne) {
  InitialiseConfig config{.rule = InitialiseRule::pytorch, .input = PartRule::uniform, .head = PartRule::uniform};
  const Drawn drawn(everything(), config);
  for (const char* name : {"embedding.weight", "encoder.weight", "head.0.weight", "head.1.weight"})
    expect_uniform(drawn.block(name), 0.1);
  for (const char* name : {"encoder.bias", "head.0.bias", "head.1.bias"}) expect_zero(drawn.block(name));
  const Drawn plain(everything(), {.rule = InitialiseRule::pytorch});
  for (const char* name : {"rnn.weight_ih_l0", "rnn.weight_hh_l0", "rnn.bias_ih_l0", "rnn.weight_hh_l1"})
    EXPECT_TRUE(std::ranges::equal(drawn.block(name), plain.block(name))) << name;

  config.input = PartRule::same;  // one part alone
  EXPECT_TRUE(
      std::ranges::equal(Drawn(everything(), config).block("embedding.weight"), plain.block("embedding.weight")));
  expect_uniform(Drawn(everything(), config).block("head.1.weight"), 0.1);
}

TEST(InitialiseParts, ATiedMatrixBelongsToTheInput) {
  const Drawn drawn(tied(), {.input = PartRule::sqrt3max, .head = PartRule::uniform, .range = 0.02});
  const auto matrix = drawn.block("embedding.weight");
  EXPECT_GT(*std::ranges::max_element(matrix), 0.02);
  expect_zero(drawn.block("head.bias"));
}

/// As AWD-LSTM and the mixture of softmaxes begin: a decoder without a bias, everything else by PyTorch's rule.
TEST(InitialiseParts, TheOutputLayerAloneMayBeginWithoutABias) {
  ModelConfig mixture = tied();
  mixture.head.name = "mixture_of_softmaxes";
  mixture.head.experts = 3;
  const Drawn drawn(mixture, {.output = PartRule::uniform}), plain(mixture, {});
  expect_zero(drawn.block("head.bias"));
  for (const char* name : {"embedding.weight", "head.prior.weight", "head.latent.weight", "head.latent.bias"})
    EXPECT_TRUE(std::ranges::equal(drawn.block(name), plain.block(name))) << name;

  const InitialiseConfig config{.head = PartRule::glorot, .output = PartRule::uniform, .range = 0.02};
  const Drawn layered(everything(), config), glorot(everything(), {.head = PartRule::glorot});
  expect_uniform(layered.block("head.1.weight"), 0.02);
  EXPECT_TRUE(std::ranges::equal(layered.block("head.0.weight"), glorot.block("head.0.weight")));
  expect_uniform(glorot.block("head.1.weight"), std::sqrt(6.0 / (30 + 20)));  // same: the rule of the head
}

TEST(InitialiseParts, AreNamedAsTheRules) {
  EXPECT_EQ(name_of(PartRule::same), "same");
  for (const std::string& name : all_names<InitialiseRule>()) {
    const auto part = choice_of<PartRule>(name, "initialise", "part");
    EXPECT_EQ(name_of(rule_of(part, InitialiseRule::glorot)), name);
  }
  EXPECT_EQ(rule_of(PartRule::same, InitialiseRule::glorot), InitialiseRule::glorot);
}

TEST(InitialiseSqrt3Max, TakesStackedGatesAsOneMatrix) {
  const Drawn drawn(everything(), {.rule = InitialiseRule::sqrt3max});
  expect_uniform(drawn.block("embedding.weight"), std::sqrt(3.0 / 50));
  expect_uniform(drawn.block("rnn.weight_ih_l0"), std::sqrt(3.0 / 160));
  expect_uniform(drawn.block("rnn.weight_hh_l0"), std::sqrt(3.0 / 160));
  expect_uniform(drawn.block("rnn.weight_hh_l1"), std::sqrt(3.0 / 60));
  expect_uniform(drawn.block("head.0.weight"), std::sqrt(3.0 / 60));
  expect_zero(drawn.block("rnn.bias_ih_l0"));
}

TEST(InitialiseAntisymmetric, DrawsNormalWeightsAndZeroBiases) {
  const Drawn drawn(everything(), {.rule = InitialiseRule::antisymmetric, .recurrent_scale = 4});
  expect_normal(drawn.block("rnn.weight_hh_l1"), 4 / std::sqrt(60.0));
  expect_normal(drawn.block("rnn.weight_ih_l1"), 1 / std::sqrt(40.0));
  expect_normal(drawn.block("rnn.weight_hh_l0"), 4 / std::sqrt(40.0));
  expect_zero(drawn.block("rnn.bias_ih_l1"));
  expect_uniform(drawn.block("head.0.weight"), 1 / std::sqrt(60.0));
  expect_zero(
      Drawn(everything(), {.rule = InitialiseRule::antisymmetric, .recurrent_scale = 0}).block("rnn.weight_hh_l1"));
}

TEST(InitialiseDefault, FollowsEachLayersCell) {
  const Drawn chosen(everything(), {}), pytorch(everything(), {.rule = InitialiseRule::pytorch}),
      other(everything(), {.rule = InitialiseRule::antisymmetric});
  const auto same = [](std::span<const double> a, std::span<const double> b) { return std::ranges::equal(a, b); };
  for (const char* name : {"embedding.weight", "rnn.weight_hh_l0", "rnn.bias_ih_l0", "head.1.bias"})
    EXPECT_TRUE(same(chosen.block(name), pytorch.block(name))) << name;
  for (const char* name : {"rnn.weight_ih_l1", "rnn.weight_hh_l1", "rnn.bias_ih_l1"})
    EXPECT_TRUE(same(chosen.block(name), other.block(name))) << name;
}

TEST(Initialise, IsAFunctionOfTheSeed) {
  for (const std::string& name : all_names<InitialiseRule>()) {
    const auto rule = choice_of<InitialiseRule>(name, "initialise", "initialisation");
    EXPECT_EQ(Drawn(everything(), {.rule = rule}, 7).parameters, Drawn(everything(), {.rule = rule}, 7).parameters);
    EXPECT_NE(Drawn(everything(), {.rule = rule}, 7).parameters, Drawn(everything(), {.rule = rule}, 8).parameters);
  }
}

TEST(Initialise, BlocksDoNotRepeatEachOther) {
  const Drawn drawn(everything(), {.rule = InitialiseRule::uniform});
  const auto a = drawn.block("rnn.weight_ih_l0"), b = drawn.block("rnn.weight_hh_l0");
  for (std::size_t i = 0; i < 40; ++i) EXPECT_NE(a[i], b[i]);
}

TEST(Initialise, ForgetBiasRaisesTheForgetGateOfTheInputBiasOnly) {
  const Drawn plain(everything(), {.rule = InitialiseRule::pytorch}),
      raised(everything(), {.rule = InitialiseRule::pytorch, .forget_bias = 1.5});
  const std::size_t first = plain.model.parameters().find("rnn.bias_ih_l0").offset + 40;
  for (std::size_t i = 0; i < plain.parameters.size(); ++i) {
    const bool forget_gate = i >= first && i < first + 40;
    EXPECT_EQ(raised.parameters[i], plain.parameters[i] + (forget_gate ? 1.5 : 0)) << i;
  }
  EXPECT_EQ(Drawn(tied(), {.forget_bias = 1}).parameters, Drawn(tied(), {}).parameters);
}

TEST(Initialise, RefusesUnknownNamesAndBadNumbers) {
  const Model model(tied());
  const auto refusal = [&](const InitialiseConfig& config) {
    return testing::refusal_of([&] { initialise(model, config, 1); });
  };
  EXPECT_REFUSED(choice_of<InitialiseRule>("gloro", "initialise", "initialisation"),
                 "[initialise] unknown initialisation 'gloro'; did you mean 'glorot'? known: default, pytorch, glorot, "
                 "uniform, sqrt3max, antisymmetric");
  EXPECT_EQ(refusal({.range = -1}), "[initialise] range must be a number of at least 0, got -1");
  EXPECT_NE(refusal({.range = std::nan("")}), "");
  EXPECT_NE(refusal({.recurrent_scale = -1}), "");
  EXPECT_NE(refusal({.forget_bias = HUGE_VAL}), "");
}

}  // namespace
}  // namespace throughtime

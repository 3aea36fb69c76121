#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <span>
#include <tuple>

#include "engine/dropout.h"
#include "support/engine_run.h"
#include "support/errors.h"
#include "support/numeric.h"
#include "support/usable_engine.h"

// Dropout of tokens (model.dropout_embedding), in every cell and every engine.
namespace throughtime::testing {
namespace {

EngineConfig engine_of(const std::string& name) { return {.name = name, .threads = 1, .communicator = nullptr}; }

ModelConfig embedded(const std::string& cell, const std::vector<int>& widths, int embedding) {
  ModelConfig config = stack_of(cell, widths, 0);
  config.input = {.vocabulary = 7, .tokens = TokenInput::embedding, .embedding = embedding};
  config.head = {.name = "softmax", .outputs = 7};
  return config;
}

/// An engine and a cell.
class TokenDropout : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {
 protected:
  void SetUp() override { skip_without(engine()); }
  static const std::string& engine() { return std::get<0>(GetParam()); }
  static const std::string& cell() { return std::get<1>(GetParam()); }
  static double tolerance() { return engine() == "reference" ? 1e-12 : 1e-5; }
};

TEST_P(TokenDropout, IsAMaskOnTheRowsThatAreRead) {
  for (const bool encoded : {false, true}) {
    ProblemSpec spec{.model = embedded(cell(), {6, 3}, 3), .steps = 5, .batch = 4, .seed = 2};
    if (encoded) spec.model.input.encoder = 4;
    spec.model.head.tied = true;
    spec.model.dropout.embedding = 0.4;
    Problem dropped = random_problem(spec);
    dropped.window.mask_key = 31;
    spec.model.dropout.embedding = 0;
    spec.model.head.tied = false;
    const Problem plain = random_problem(spec);
    // Of the untied model: the head's matrix is the whole embedding, the rows that are read are masked.
    const ParameterLayout& tied = dropped.model->parameters();
    const ParameterLayout& untied = plain.model->parameters();
    const ParameterBlock& table = tied.block(dropped.model->embedding);
    std::vector<double> factors;
    for (std::int32_t token = 0; token < 7; ++token)
      factors.push_back(token_factor(embedding_dropout(dropped.model->config().dropout), 31, token));
    EXPECT_EQ(std::set<double>(factors.begin(), factors.end()).size(), 2u) << "some are dropped, others not";
    std::vector<double> parameters(untied.size());
    for (const ParameterBlock& block : untied.blocks()) {
      const bool head = block.name == "head.weight";
      const auto from = std::ranges::find(tied.blocks(), head ? table.name : block.name, &ParameterBlock::name);
      std::copy_n(dropped.parameters.begin() + static_cast<std::ptrdiff_t>(from->offset), block.size(),
                  parameters.begin() + static_cast<std::ptrdiff_t>(block.offset));
    }
    const ParameterBlock& read = untied.block(plain.model->embedding);
    for (std::size_t i = 0; i < read.size(); ++i) parameters[read.offset + i] *= factors[i / 3];

    EngineRun ours(dropped, engine_of(engine())), theirs(plain, engine_of(engine()));
    theirs.set_parameters(parameters);
    EXPECT_LT(relative_error(ours.unroll().states, theirs.unroll().states), tolerance());
    const std::vector<double> a = ours.pull_back().gradient, b = theirs.pull_back().gradient;
    const ParameterBlock& head = *std::ranges::find(untied.blocks(), "head.weight", &ParameterBlock::name);
    std::vector<double> wanted(table.size());
    for (std::size_t i = 0; i < wanted.size(); ++i)
      wanted[i] = factors[i / 3] * b[read.offset + i] + b[head.offset + i];
    EXPECT_LT(relative_error(std::span(a).subspan(table.offset, table.size()), wanted), tolerance());

    // Not in evaluations.
    ours.set_training(false);
    theirs.set_training(false);
    for (std::size_t i = 0; i < read.size(); ++i) parameters[read.offset + i] = dropped.parameters[table.offset + i];
    theirs.set_parameters(parameters);
    EXPECT_LT(relative_error(ours.unroll().states, theirs.unroll().states), tolerance());
  }
}

INSTANTIATE_TEST_SUITE_P(EveryCell, TokenDropout,
                         ::testing::Combine(::testing::Values("reference", "cpu", "cuda"),
                                            ::testing::ValuesIn(cell_names())),
                         [](const auto& info) { return std::get<0>(info.param) + "_" + std::get<1>(info.param); });

TEST(TokenDropoutMask, IsOneOfAllTokensAndKeysOfItsOwn) {
  const DropoutSite site = embedding_dropout({.embedding = 0.25});
  constexpr int tokens = 4000;
  std::vector<double> row(tokens);
  write_mask(site, 9, 0, 0, std::span(row));
  double dropped = 0;
  for (std::int32_t token = 0; token < tokens; ++token) {
    const float factor = token_factor(site, 9, token);
    EXPECT_EQ(factor, row[static_cast<std::size_t>(token)]) << "one at a time, or all";
    dropped += factor == 0 ? 1 : 0;
  }
  EXPECT_NEAR(dropped / tokens, 0.25, 0.03);
  std::vector<double> other(tokens), inputs(tokens);
  write_mask(site, 10, 0, 0, std::span(other));
  write_mask(input_dropout({.input = 0.25}), 9, 0, 0, std::span(inputs));
  EXPECT_NE(row, other);
  EXPECT_NE(row, inputs) << "not the mask of the first layer's inputs";
}

TEST(TokenDropoutModel, RefusesWhatCannotBe) {
  ModelConfig config = embedded("lstm", {3}, 2);
  config.dropout.embedding = 1;
  EXPECT_REFUSED(Model{config}, "dropout.embedding must be at least 0 and below 1");
  config = stack_of("lstm", {3});
  config.dropout.embedding = 0.1;
  EXPECT_REFUSED(Model{config}, "set model.embedding");
}

}  // namespace
}  // namespace throughtime::testing

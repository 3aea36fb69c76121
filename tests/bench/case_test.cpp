#include "bench/case.h"

#include <gtest/gtest.h>

#include "bench/products.h"
#include "throughtime/error.h"

namespace throughtime::bench {
namespace {

TEST(BenchCase, NameSpellsOutTheSizes) {
  const Case parsed = parse_case("windows-lstm-b64-h96-t300-k15");
  EXPECT_EQ(parsed.kind, Kind::windows);
  EXPECT_EQ(parsed.cell, "lstm");
  EXPECT_EQ(parsed.batch, 64);
  EXPECT_EQ(parsed.hidden, 96);
  EXPECT_EQ(parsed.steps, 300);
  EXPECT_EQ(parsed.windows, 15);
  EXPECT_EQ(parsed.inputs, 2);
}

TEST(BenchCase, LanguageModelEmbedsAtTheWidthOfTheLayer) {
  const Case parsed = parse_case("lm-gru-b20-h256-t35-v10000");
  EXPECT_EQ(parsed.kind, Kind::lm);
  EXPECT_EQ(parsed.vocabulary, 10000);
  EXPECT_EQ(parsed.inputs, 256);
}

TEST(BenchCase, PhiIsAStateOnlyPullBack) {
  const Case parsed = parse_case("phi-lstm-b64-h50-t100");
  EXPECT_EQ(parsed.kind, Kind::phi);
  EXPECT_EQ(parsed.steps, 100);
}

TEST(BenchCase, TargetPropagationReadsALanguageInBlocks) {
  const Case parsed = parse_case("tprop-gru-b32-h100-t20-v10000");
  EXPECT_EQ(parsed.kind, Kind::tprop);
  EXPECT_EQ(parsed.vocabulary, 10000);
  EXPECT_EQ(parsed.inputs, 100);
}

TEST(BenchCase, LayersAndTheLengthOfAStreamMayStandBehindTheSizes) {
  EXPECT_EQ(parse_case("windows-lstm-b64-h50-t150-k10-l2").layers, 2);
  EXPECT_EQ(parse_case("windows-lstm-b64-h50-t150-k10").layers, 1);
  EXPECT_EQ(parse_case("fpp-rnn-b100-h512-t10-s20").stream, 20);
  EXPECT_EQ(parse_case("fpp-rnn-b1-h4-t10").stream, 1000);
}

TEST(BenchCase, RnnIsTheTanhCell) { EXPECT_EQ(parse_case("bptt-rnn-b1-h1-t1").cell, "rnn_tanh"); }

TEST(BenchCase, RecipesAreThoseOfTable5) {
  const Case characters = parse_case("awd-char-b128-h1000-t150"), words = parse_case("mos-b12-h960-e15-v10000-t70-k3");
  EXPECT_EQ(characters.kind, Kind::awd);
  EXPECT_EQ(characters.vocabulary, 50);
  EXPECT_EQ(characters.embedding(), 200);
  EXPECT_EQ(characters.widths(), (std::vector<int>{1000, 1000, 200}));
  EXPECT_EQ(characters.windows, 1);
  EXPECT_EQ(words.kind, Kind::mos);
  EXPECT_EQ(words.experts, 15);
  EXPECT_EQ(words.embedding(), 280);
  EXPECT_EQ(words.widths(), (std::vector<int>{960, 960, 960}));
  EXPECT_EQ(words.windows, 3);
  EXPECT_TRUE(characters.recipe() && words.recipe());
  EXPECT_FALSE(parse_case("lm-gru-b20-h256-t35-v10000").recipe());
}

TEST(BenchCase, DefaultCasesParse) {
  for (const std::string& name : default_cases()) EXPECT_EQ(parse_case(name).name, name);
  for (const std::string& name : thread_cases()) EXPECT_EQ(parse_case(name).name, name);
}

class BadBenchCase : public ::testing::TestWithParam<const char*> {};

TEST_P(BadBenchCase, IsRefused) { EXPECT_THROW(parse_case(GetParam()), InvalidInput); }

INSTANTIATE_TEST_SUITE_P(Names, BadBenchCase,
                         ::testing::Values("", "bptt", "bptt-lstm", "train-lstm-b1-h1-t1", "bptt-nosuchcell-b1-h1-t1",
                                           "bptt-lstm-b0-h1-t1", "bptt-lstm-b1-h1-t", "bptt-lstm-b1-h1-tx",
                                           "bptt-lstm-b1-h1-t1x", "bptt-lstm-b-1-h1-t1", "bptt-lstm-h1-b1-t1",
                                           "bptt-lstm-b1-h1-t1-k2", "bptt-lstm-b1-h1-t1-l0", "bptt-lstm-b1-h1-t1-l2-l2",
                                           "phi-lstm-b1-h1-t1-l2", "fpp-rnn-b1-h1-t1-l2", "windows-lstm-b1-h1-t5",
                                           "windows-lstm-b1-h1-t5-k6", "lm-lstm-b1-h1-t99999999999999999999-v2",
                                           "bptt-lstm-b1-h1-t1-", "awd-lstm-b1-h5-t2", "awd-char-b1-h5",
                                           "awd-char-b1-h5-t2-k3", "awd-b1-h5-t2", "mos-b1-h5-t2",
                                           "mos-lstm-b1-h5-e2-v3-t2", "mos-b1-h5-v3-e2-t2", "mos"));

double operations_of(const std::string& name) {
  const Case chosen = parse_case(name);
  double operations = 0;
  for (const Product& product : products_of(chosen)) operations += product.operations(chosen.batch);
  return operations;
}

TEST(BenchProducts, CountWhatBackPropagationThroughTimeNeeds) {
  // Forward and gradient of the input at all 5 steps; the recurrent three at 4 of them: the first state is zero.
  const double inputs = 2.0 * 5 * 3 * (4 * 7) * 2, recurrent = 2.0 * 4 * 3 * (4 * 7) * 7;
  EXPECT_DOUBLE_EQ(operations_of("bptt-lstm-b3-h7-t5"), 2 * inputs + 3 * recurrent);
}

TEST(BenchProducts, WindowsSendNoStateGradientAcrossTheirBorders) {
  const double one_backward_step = 2.0 * 3 * (4 * 7) * 7;
  EXPECT_DOUBLE_EQ(operations_of("bptt-lstm-b3-h7-t6") - operations_of("windows-lstm-b3-h7-t6-k3"),
                   2 * one_backward_step);
}

TEST(BenchProducts, LanguageModelAddsHeadAndInputGradients) {
  const double rows = 2.0 * 4 * 3;
  const double recurrent = 2.0 * 3 * 3 * (4 * 7) * 7;
  EXPECT_DOUBLE_EQ(operations_of("lm-lstm-b3-h7-t4-v11"), 3 * recurrent + rows * 3 * (4 * 7) * 7 + rows * 3 * 7 * 11);
}

TEST(BenchProducts, EveryExpertOfARowPassesTheOutputLayer) {
  const double rows = 2.0 * 4 * 3, recurrent = 2.0 * 3 * 3;  // four steps of three rows; a first state is zero
  const double layers = rows * 3 * (4 * 7) * (280 + 7 + 7) + 3 * 3 * recurrent * (4 * 7) * 7;
  const double own = rows * 3 * 7 * (5 + 5 * 280), output = rows * 5 * 3 * 280 * 11;
  EXPECT_DOUBLE_EQ(operations_of("mos-b3-h7-e5-v11-t4"), layers + own + output);
}

TEST(BenchProducts, RowsOfDifferentWindowsNeverShareAProduct) {
  for (const Product& product : products_of(parse_case("windows-gru-b4-h8-t20-k5"))) EXPECT_LE(product.together, 4);
}

}  // namespace
}  // namespace throughtime::bench

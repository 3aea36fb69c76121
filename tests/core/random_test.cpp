#include "throughtime/random.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <set>
#include <tuple>
#include <vector>

#include "support/errors.h"

namespace throughtime {
namespace {

using Words = std::array<std::uint32_t, 4>;

TEST(Philox, GivesThePublishedAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const std::uint32_t ones = 0xffffffff;
  EXPECT_EQ(philox({ones, ones, ones, ones}, {ones, ones}), (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, PacksTheCounterAsDocumented) {
  const Random random(0x299f31d0a4093822, Purpose::dropout_input);
  EXPECT_EQ(random.words(0xabcd13198a2e, 0x85a308d3, 0x70243f6a88),
            philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x0370abcd}, {0xa4093822, 0x299f31d0}));
}

RC_GTEST_PROP(Random, DistinctTuplesNeverShareWords, ()) {
  const auto pick = [] {
    return std::tuple(
        *rc::gen::inRange<std::uint32_t>(1, 8), *rc::gen::resize(1000, rc::gen::arbitrary<std::uint64_t>()) >> 16,
        *rc::gen::arbitrary<std::uint32_t>(), *rc::gen::resize(1000, rc::gen::arbitrary<std::uint64_t>()) >> 24);
  };
  const auto words_of = [](const auto& tuple) {
    const auto& [purpose, iteration, sequence, element] = tuple;
    return Random(7, static_cast<Purpose>(purpose)).words(iteration, sequence, element);
  };
  const auto a = pick(), b = pick();
  RC_PRE(a != b);
  RC_ASSERT(words_of(a) != words_of(b));  // Philox is a bijection of the counter: equal words mean equal counters
}

TEST(Random, EveryBitOfItsCounterAndSeedMatters) {
  std::set<Words> seen;
  std::size_t drawn = 0;
  const auto draw = [&](std::uint64_t seed, Purpose purpose, std::uint64_t iteration, std::uint32_t sequence,
                        std::uint64_t element) {
    seen.insert(Random(seed, purpose).words(iteration, sequence, element));
    ++drawn;
  };
  for (const Purpose purpose : {Purpose::initialise, Purpose::task, Purpose::dropout_input, Purpose::dropout_between,
                                Purpose::dropout_output, Purpose::sampling, Purpose::shuffle}) {
    draw(0, purpose, 0, 0, 0);
    for (int bit = 0; bit < 64; ++bit) draw(1ull << bit, purpose, 0, 0, 0);
    for (int bit = 0; bit < 48; ++bit) draw(0, purpose, 1ull << bit, 0, 0);
    for (int bit = 0; bit < 32; ++bit) draw(0, purpose, 0, 1u << bit, 0);
    for (int bit = 0; bit < 40; ++bit) draw(0, purpose, 0, 0, 1ull << bit);
  }
  EXPECT_EQ(seen.size(), drawn);
}

TEST(Random, RefusesWhatTheCounterCannotHold) {
  const Random random(1, Purpose::task);
  EXPECT_REFUSED(random.words(1ull << 48, 0, 0), "[random] a counter has 48 bits of iteration");
  EXPECT_REFUSED(random.words(0, 0, 1ull << 40), "got iteration 0 and element 1099511627776");
  EXPECT_REFUSED(random.below(0, 0, 0, 0), "bound must be at least 1");
}

/// Mean and variance of `count` numbers.
template <class Draw>
std::pair<double, double> moments(int count, Draw&& draw) {
  double sum = 0, squares = 0;
  for (int i = 0; i < count; ++i) {
    const double x = draw(static_cast<std::uint64_t>(i));
    sum += x, squares += x * x;
  }
  const double mean = sum / count;
  return {mean, squares / count - mean * mean};
}

TEST(Random, UniformFillsTheUnitInterval) {
  const Random random(3, Purpose::sampling);
  std::vector<int> bins(20);
  const auto [mean, variance] = moments(100000, [&](std::uint64_t i) {
    const double x = random.uniform(i / 100, static_cast<std::uint32_t>(i % 10), i);
    EXPECT_TRUE(x >= 0 && x < 1);
    ++bins[static_cast<std::size_t>(x * 20)];
    return x;
  });
  EXPECT_NEAR(mean, 0.5, 0.004);
  EXPECT_NEAR(variance, 1.0 / 12, 0.002);
  for (const int bin : bins) EXPECT_NEAR(bin, 5000, 350);  // five deviations
}

TEST(Random, NormalHasUnitVarianceAndThinTails) {
  const Random random(4, Purpose::initialise);
  int beyond_two = 0;
  const auto [mean, variance] = moments(100000, [&](std::uint64_t i) {
    const double x = random.normal(0, 1, i);
    EXPECT_TRUE(std::isfinite(x));
    beyond_two += std::abs(x) > 2;
    return x;
  });
  EXPECT_NEAR(mean, 0, 0.015);
  EXPECT_NEAR(variance, 1, 0.02);
  EXPECT_NEAR(beyond_two, 4550, 330);
}

TEST(Random, BelowReachesEveryNumberAndNoOther) {
  const Random random(5, Purpose::shuffle);
  std::vector<int> counts(7);
  for (std::uint64_t i = 0; i < 70000; ++i) ++counts.at(random.below(7, 0, 0, i));
  for (const int count : counts) EXPECT_NEAR(count, 10000, 470);
  EXPECT_EQ(random.below(1, 0, 0, 9), 0u);
  bool high = false;
  for (std::uint64_t i = 0; i < 64; ++i) high |= random.below(~0ull, 0, 0, i) > ~0ull / 2;
  EXPECT_TRUE(high);
}

}  // namespace
}  // namespace throughtime

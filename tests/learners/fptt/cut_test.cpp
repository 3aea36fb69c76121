// How sequences are cut into windows, against the definitions, at every small size.
#include "learners/fptt/sequence_cut.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "support/errors.h"

namespace throughtime::testing {
namespace {

constexpr int largest = 12;
constexpr auto all_remainders = {Remainder::automatic, Remainder::extra, Remainder::absorb, Remainder::spread};

/// Lengths of `count` windows that begin at floor(p T / count).
std::vector<int> spread(int steps, int count) {
  std::vector<int> lengths;
  for (int p = 0; p < count; ++p) lengths.push_back((p + 1) * steps / count - p * steps / count);
  return lengths;
}

/// `count` windows of `omega` steps, and what is left over.
std::vector<int> with_rest(int count, int omega, int rest, Remainder remainder) {
  std::vector<int> lengths(static_cast<std::size_t>(count), omega);
  if (rest > 0 && remainder == Remainder::absorb) lengths.back() += rest;
  if (rest > 0 && remainder != Remainder::absorb) lengths.push_back(rest);
  return lengths;
}

/// Lengths as the rules of K windows say.
std::vector<int> lengths_of_windows(int steps, int windows, Remainder remainder) {
  if (steps < windows) return std::vector<int>(static_cast<std::size_t>(steps), 1);
  const int omega = steps / windows, rest = steps % windows;
  const bool longer = rest > omega;
  if (remainder == Remainder::spread || (remainder == Remainder::automatic && longer)) return spread(steps, windows);
  return with_rest(windows, omega, rest, remainder);
}

/// Lengths as the rules of windows of `length` steps say.
std::vector<int> lengths_of_length(int steps, int length, Remainder remainder) {
  if (steps <= length) return {steps};
  if (remainder == Remainder::spread) return spread(steps, (steps + length - 1) / length);
  return with_rest(steps / length, length, steps % length, remainder);
}

std::vector<int> lengths_of(const CutRule& rule, int steps) {
  return rule.windows > 0 ? lengths_of_windows(steps, rule.windows, rule.remainder)
                          : lengths_of_length(steps, rule.window_length, rule.remainder);
}

std::string text_of(const CutRule& rule, int steps) {
  return fmt::format("T = {}, K = {}, length = {}, {}", steps, rule.windows, rule.window_length,
                     name_of(rule.remainder));
}

void expect_cut(const SequenceCut& cut, const std::vector<int>& lengths, int steps, const std::string& text) {
  ASSERT_EQ(std::accumulate(lengths.begin(), lengths.end(), 0), steps) << text;
  ASSERT_EQ(cut.count(steps), static_cast<int>(lengths.size())) << text;
  int next = 0;
  for (int window = 0; window < cut.count(steps); ++window) {
    EXPECT_EQ(cut.begin(steps, window), next) << text;
    next += lengths[static_cast<std::size_t>(window)];
    EXPECT_EQ(cut.end(steps, window), next) << text;
  }
  EXPECT_EQ(next, steps) << text;
}

/// Calls `check(rule, steps)` for every K and every length of a sequence of up to `largest` steps.
template <class Check>
void for_all_rules(Check check) {
  for (int steps = 1; steps <= largest; ++steps)
    for (const Remainder remainder : all_remainders)
      for (int size = 1; size <= steps; ++size) {
        check(CutRule{.windows = size, .remainder = remainder}, steps);
        check(CutRule{.window_length = size, .remainder = remainder}, steps);
      }
}

TEST(SequenceCut, FollowsItsRuleAtEveryLength) {
  for_all_rules([](const CutRule& rule, int steps) {
    const SequenceCut cut("cut", rule, {.steps = steps, .batch = 1, .lengths_vary = true});
    for (int shorter = 1; shorter <= steps; ++shorter)
      expect_cut(cut, lengths_of(rule, shorter), shorter, text_of(rule, shorter));
  });
}

TEST(SequenceCut, KnowsItsLongestWindowAndTheMostWindows) {
  for_all_rules([](const CutRule& rule, int steps) {
    int longest_of_all = 0, most_of_all = 0;
    for (int shorter = 1; shorter <= steps; ++shorter) {
      const std::vector<int> lengths = lengths_of(rule, shorter);
      longest_of_all = std::max(longest_of_all, *std::ranges::max_element(lengths));
      most_of_all = std::max(most_of_all, static_cast<int>(lengths.size()));
    }
    const std::vector<int> lengths = lengths_of(rule, steps);
    const SequenceCut fixed("cut", rule, {.steps = steps, .batch = 1});
    const SequenceCut varied("cut", rule, {.steps = steps, .batch = 1, .lengths_vary = true});
    EXPECT_EQ(fixed.longest(), *std::ranges::max_element(lengths)) << text_of(rule, steps);
    EXPECT_EQ(varied.longest(), longest_of_all) << text_of(rule, steps);
    for (const SequenceCut& cut : {fixed, varied}) {
      EXPECT_GE(cut.most(), most_of_all) << text_of(rule, steps);
      EXPECT_LE(cut.most(), most_of_all + 1) << text_of(rule, steps);
    }
  });
}

TEST(SequenceCut, SpreadLengthsDifferByAtMostOne) {
  for_all_rules([](const CutRule& rule, int steps) {
    if (rule.remainder != Remainder::spread) return;
    const SequenceCut cut("cut", rule, {.steps = steps, .batch = 1});
    EXPECT_EQ(cut.count(steps),
              rule.windows > 0 ? rule.windows : (steps + rule.window_length - 1) / rule.window_length);
    int shortest = steps;
    for (int window = 0; window < cut.count(steps); ++window)
      shortest = std::min(shortest, cut.end(steps, window) - cut.begin(steps, window));
    EXPECT_LE(cut.longest() - shortest, 1) << text_of(rule, steps);
  });
}

TEST(SequenceCut, AutomaticLeavesNoWindowThatIsLongerThanItMustBe) {
  for_all_rules([](const CutRule& rule, int steps) {
    if (rule.remainder != Remainder::automatic) return;
    const SequenceCut cut("cut", rule, {.steps = steps, .batch = 1, .lengths_vary = true});
    const int bound = rule.windows > 0 ? (steps + rule.windows - 1) / rule.windows : rule.window_length;
    EXPECT_LE(cut.longest(), bound) << text_of(rule, steps);
  });
}

TEST(SequenceCut, KeepsLongSequencesWithinInt) {
  constexpr int steps = 2'000'000'000;
  const SequenceCut cut("cut", {.windows = 1'500'000'001, .remainder = Remainder::spread},
                        {.steps = steps, .batch = 1});
  EXPECT_EQ(cut.begin(steps, 1'500'000'000), 1'999'999'998);
  EXPECT_EQ(cut.longest(), 2);
}

TEST(SequenceCut, RefusesWhatSequencesDoNotHave) {
  const auto make = [](const CutRule& rule) { SequenceCut("cut", rule, {.steps = 8, .batch = 1}); };
  EXPECT_REFUSED(make({}), "[cut] give either windows (K) or window_length, got 0 and 0");
  EXPECT_REFUSED(make({.windows = 2, .window_length = 4}), "got 2 and 4");
  EXPECT_REFUSED(make({.windows = 9}), "[cut] windows must be between 1 and the sequence length (8), got 9");
  EXPECT_REFUSED(make({.windows = -1}), "windows must be between 1");
  EXPECT_REFUSED(make({.window_length = 9}),
                 "[cut] window_length must be between 1 and the sequence length (8), got 9");
}

}  // namespace
}  // namespace throughtime::testing

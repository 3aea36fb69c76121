#include "tasks/sequences/stratified.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>

namespace throughtime::testing {
namespace {

using Counts = std::array<int, 3>;
const std::vector<double> usual = {0.7, 0.1, 0.2};

/// How many entries of each group are in each split.
std::map<std::int32_t, Counts> counts_of(const std::vector<std::int32_t>& groups, const std::vector<Split>& splits) {
  std::map<std::int32_t, Counts> counts;
  for (std::size_t i = 0; i < groups.size(); ++i) ++counts[groups[i]][static_cast<std::size_t>(splits[i])];
  return counts;
}

TEST(Stratified, CutsEveryGroupAndTheWholeByTheShares) {
  for (const std::vector<double>& shares : {usual, {0.5, 0.25, 0.25}, {0.9, 0.0, 0.1}, {0.8, 0.2, 0.0}}) {
    std::vector<std::int32_t> groups;
    for (int i = 0; i < 400; ++i) groups.push_back(i % 10 < 6 ? 0 : i % 10 < 9 ? 1 : 2 + i % 3);
    const auto splits = stratified(groups, shares, 1);
    Counts all = {};
    for (const auto& [group, counts] : counts_of(groups, splits)) {
      const int size = counts[0] + counts[1] + counts[2];
      for (std::size_t split = 0; split < 3; ++split) {
        EXPECT_NEAR(counts[split], shares[split] * size, 2.0) << group << " " << split;
        all[split] += counts[split];
      }
    }
    for (std::size_t split = 0; split < 3; ++split) EXPECT_NEAR(all[split], shares[split] * 400, 1.0) << split;
  }
}

TEST(Stratified, GivesSmallGroupsTheirTurn) {
  std::vector<std::int32_t> groups;  // ten groups of three: rounding each of them alone would validate nothing
  for (int i = 0; i < 30; ++i) groups.push_back(i / 3);
  Counts all = {};
  for (const auto& [group, counts] : counts_of(groups, stratified(groups, usual, 1))) {
    EXPECT_GE(counts[0], 1);
    for (std::size_t split = 0; split < 3; ++split) all[split] += counts[split];
  }
  EXPECT_EQ(all, (Counts{21, 3, 6}));
}

TEST(Stratified, LeavesSomethingToTrainOnInEveryGroup) {
  std::vector<std::int32_t> groups;
  for (int i = 0; i < 50; ++i) groups.push_back(i);  // one each
  for (const Split split : stratified(groups, {{0.1, 0.1, 0.8}}, 3)) EXPECT_EQ(split, Split::train);
  EXPECT_EQ(stratified(std::vector<std::int32_t>{5}, {{0.1, 0.0, 0.9}}, 1), std::vector{Split::train});
  EXPECT_TRUE(stratified({}, usual, 1).empty());
}

TEST(Stratified, IsDrawnWithTheSeedAlone) {
  std::vector<std::int32_t> groups;
  for (int i = 0; i < 60; ++i) groups.push_back(i % 3);
  EXPECT_EQ(stratified(groups, usual, 1), stratified(groups, usual, 1));
  EXPECT_NE(stratified(groups, usual, 1), stratified(groups, usual, 2));
}

TEST(Stratified, GivingValidationBackMovesNothingElse) {
  std::vector<std::int32_t> groups;
  for (int i = 0; i < 97; ++i) groups.push_back(i * i % 7);
  const auto before = stratified(groups, usual, 4), after = stratified(groups, {{0.8, 0.0, 0.2}}, 4);
  for (std::size_t i = 0; i < groups.size(); ++i)
    EXPECT_EQ(after[i], before[i] == Split::test ? Split::test : Split::train) << i;
}

}  // namespace
}  // namespace throughtime::testing

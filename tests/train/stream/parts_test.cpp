#include <gtest/gtest.h>

#include <cmath>

#include "train/stream/prequential.h"
#include "train/stream/running_scales.h"

namespace throughtime {
namespace {

TEST(RunningScales, AreThoseOfAllRowsSoFar) {
  RunningScales scales(2, true, 0);
  std::vector<std::vector<float>> rows;
  for (int t = 0; t < 50; ++t) rows.push_back({std::sin(0.7f * t) + 100.0f, 3.0f});
  for (const auto& row : rows) scales.add(row);
  double mean = 0, squares = 0;
  for (const auto& row : rows) mean += row[0] / 50.0;
  for (const auto& row : rows) squares += (row[0] - mean) * (row[0] - mean) / 50.0;
  EXPECT_NEAR(scales.mean(0), mean, 1e-9);
  EXPECT_NEAR(scales.deviation(0), std::sqrt(squares), 1e-9);
  EXPECT_NEAR(scales.undone(0, scales.scaled(0, 100.5)), 100.5, 1e-5);
  EXPECT_EQ(scales.scaled(1, 3.0), 0.0f);   // a column that never changes
  EXPECT_EQ(scales.scaled(0, 1e9), 10.0f);  // an outlier is limited
}

TEST(RunningScales, StayAsTheyAreAfterSoManyRows) {
  RunningScales fixed(1, true, 3), off(1, false, 0);
  for (const float value : {1.0f, 2.0f, 3.0f, 1000.0f}) fixed.add({&value, 1}), off.add({&value, 1});
  EXPECT_DOUBLE_EQ(fixed.mean(0), 2);
  EXPECT_EQ(off.scaled(0, 1000.0), 1000.0f);
}

TEST(RunningScales, StandForTheMeanUntilTwoValuesAreKnown) {
  RunningScales scales(1, true, 0);
  const float first = 5;
  scales.add({&first, 1});
  EXPECT_EQ(scales.scaled(0, 7.0), 0.0f);
  EXPECT_EQ(scales.undone(0, 0.3), 5.0);
}

TEST(PrequentialMean, IsRollingAndCumulative) {
  PrequentialMean mean(3);
  EXPECT_TRUE(std::isnan(mean.rolling()));
  for (const double error : {1.0, 2.0, 3.0, 4.0, 5.0}) mean.add(error);
  EXPECT_DOUBLE_EQ(mean.rolling(), 4);
  EXPECT_DOUBLE_EQ(mean.cumulative(), 3);
  EXPECT_EQ(mean.count(), 5);
}

}  // namespace
}  // namespace throughtime

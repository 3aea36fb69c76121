#include <gtest/gtest.h>

#include <cmath>

#include "train/stream/naive_watch.h"
#include "train/stream/prequential.h"
#include "train/stream/running_scales.h"

namespace throughtime {
namespace {

constexpr ScaleOptions all_rows = {.scaling = Scaling::all};

/// Adds n values of a column, the i-th being value(i).
template <class Value>
void add(RunningScales& scales, int n, const Value& value) {
  for (int i = 0; i < n; ++i) {
    const auto number = static_cast<float>(value(i));
    scales.add({&number, 1});
  }
}

double wave(int t) { return std::sin(0.7 * t); }  // its deviation is 0.7071

TEST(RunningScales, AreThoseOfAllRowsSoFar) {
  RunningScales scales(2, all_rows);
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
  RunningScales fixed(1, {.rows = 3}), off(1, {.active = false});
  for (const float value : {1.0f, 2.0f, 3.0f, 1000.0f}) fixed.add({&value, 1}), off.add({&value, 1});
  EXPECT_DOUBLE_EQ(fixed.mean(0), 2);
  EXPECT_EQ(off.scaled(0, 1000.0), 1000.0f);
}

TEST(RunningScales, StandForTheMeanUntilTwoValuesAreKnown) {
  RunningScales scales(1, {});
  const float first = 5;
  scales.add({&first, 1});
  EXPECT_EQ(scales.scaled(0, 7.0), 0.0f);
  EXPECT_EQ(scales.undone(0, 0.3), 5.0);
}

TEST(RunningScales, OfAnOrdinaryColumnAreTheSameWhetherRobustOrOfAllRows) {
  RunningScales robust(1, {}), all(1, all_rows);
  for (RunningScales* scales : {&robust, &all}) add(*scales, 5000, wave);
  EXPECT_EQ(robust.mean(0), all.mean(0));
  EXPECT_EQ(robust.deviation(0), all.deviation(0));
}

TEST(RunningScales, FadeExponentially) {
  RunningScales scales(1, {.scaling = Scaling::forgetting, .memory = 200});
  add(scales, 200, [](int) { return 0.0; });
  add(scales, 100, [](int) { return 1.0; });
  const double left = std::pow(1 - 1.0 / 200, 100);  // of the zeros' weight
  EXPECT_NEAR(scales.mean(0), 1 - left, 1e-6);
  EXPECT_NEAR(scales.deviation(0), std::sqrt(left * (1 - left)), 1e-6);
}

TEST(RunningScales, BelieveLittleOfAWildValue) {
  RunningScales scales(1, {});
  add(scales, 1000, wave);
  const double deviation = scales.deviation(0);
  add(scales, 1, [](int) { return 1e30; });
  EXPECT_EQ(scales.scaled(0, 1e30), 10.0f);
  EXPECT_NEAR(scales.mean(0), 5 * deviation / 1001, 0.01 * deviation);
  EXPECT_NEAR(scales.deviation(0), std::sqrt(1 + 24.0 / 1001) * deviation, 0.01 * deviation);
  // One in fifty, for ever: the scale is that of the others within a factor of two.
  add(scales, 20'000, [](int i) { return i % 50 == 0 ? -1e6 : wave(i); });
  EXPECT_LT(scales.deviation(0), 2 * deviation);
}

TEST(RunningScales, BelieveAStormWithinSomeRowsAndTheCalmAfterwardsWithinSomeBlocks) {
  RunningScales scales(1, {});
  add(scales, 1000, wave);
  add(scales, 40, [](int i) { return 1000 + wave(i); });
  EXPECT_LT(std::abs(scales.scaled(0, 1000)), 10.0f);  // it can be shown
  add(scales, 700, wave);
  EXPECT_NEAR(scales.deviation(0), 0.7071, 0.05);
  // Storms that come again teach it to wait.
  for (int storm = 0; storm < 8; ++storm) {
    add(scales, 40, [](int i) { return 1000 + wave(i); });
    add(scales, 700, wave);
  }
  EXPECT_GT(scales.deviation(0), 50);
}

TEST(RunningScales, OfAColumnThatPausesStayWhatTheyWere) {
  RunningScales scales(1, {.memory = 1'000'000});
  add(scales, 1000, wave);
  add(scales, 1000, [](int) { return 0.5; });
  EXPECT_GT(scales.deviation(0), 0.4);
}

TEST(NaiveWatch, SaysWhenForecastsHaveBeenWorseForLong) {
  NaiveWatch watch(10, 100);
  const auto add = [&](int n, double error) {
    std::vector<int> told;
    for (int i = 0; i < n; ++i)
      if (watch.add(error, 1.0) != NaiveWatch::News::none) told.push_back(i + 1);
    return told;
  };
  EXPECT_EQ(add(500, 1.05), std::vector<int>());  // less than a tenth worse
  EXPECT_EQ(watch.worse(), 0);
  EXPECT_EQ(add(2000, 20.0), std::vector<int>({100, 1000}));
  EXPECT_EQ(watch.worse(), 2000);
  EXPECT_DOUBLE_EQ(watch.error(), 20);
  EXPECT_TRUE(watch.diverged());
  EXPECT_EQ(add(50, 0.9), std::vector<int>({10}));  // no longer
  EXPECT_FALSE(watch.warned());
  EXPECT_EQ(add(90, 3.0), std::vector<int>());
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

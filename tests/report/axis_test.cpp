#include "report/charts/axis.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

#include "support/errors.h"

namespace throughtime {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::vector<std::string> labels(const std::vector<Tick>& ticks) {
  std::vector<std::string> result;
  for (const Tick& tick : ticks) result.push_back(tick.label);
  return result;
}

TEST(Axis, TicksAreRoundNumbersWithinTheRange) {
  EXPECT_EQ(labels(Axis({0, 100}, false, 0).ticks(5)), (std::vector<std::string>{"0", "20", "40", "60", "80", "100"}));
  EXPECT_EQ(labels(Axis({0.1, 0.4}, false, 0).ticks(3)), (std::vector<std::string>{"0.1", "0.2", "0.3", "0.4"}));
  EXPECT_EQ(labels(Axis({-1, 1}, false, 0).ticks(4)), (std::vector<std::string>{"-1.0", "-0.5", "0.0", "0.5", "1.0"}));
  EXPECT_EQ(labels(Axis({0, 3e7}, false, 0).ticks(3)), (std::vector<std::string>{"0", "1e7", "2e7", "3e7"}));
}

TEST(Axis, LogarithmicTicksAreDecadesOrPartsOfOne) {
  EXPECT_EQ(labels(Axis({0.001, 10}, true, 0).ticks(4)), (std::vector<std::string>{"0.001", "0.01", "0.1", "1", "10"}));
  EXPECT_EQ(labels(Axis({1, 10}, true, 0).ticks(5)), (std::vector<std::string>{"1", "2", "5", "10"}));
  // Within a decade without two round numbers the ticks are those of a linear axis.
  EXPECT_GE(Axis({2.1, 2.9}, true, 0).ticks(5).size(), 2u);
}

TEST(Axis, IgnoresWhatItCannotShow) {
  const Axis axis({nan, std::numeric_limits<double>::infinity(), 2, 8, -3, 0}, true, 0);
  EXPECT_DOUBLE_EQ(axis.low(), 2);
  EXPECT_DOUBLE_EQ(axis.high(), 8);
  EXPECT_DOUBLE_EQ(axis.position(4), 0.5);
  EXPECT_TRUE(std::isnan(axis.position(0)));
  EXPECT_TRUE(std::isnan(axis.position(nan)));
  EXPECT_FALSE(Axis({nan}, false, 0).any());
}

TEST(Axis, OneValueHasRoomAroundIt) {
  EXPECT_DOUBLE_EQ(Axis({5}, false, 0).position(5), 0.5);
  EXPECT_DOUBLE_EQ(Axis({0}, false, 0).position(0), 0.5);
  EXPECT_DOUBLE_EQ(Axis({5}, true, 0).position(5), 0.5);
}

RC_GTEST_PROP(Axis, TicksRiseAndStayOnTheAxisForAnyRange, (double a, double b, bool logarithmic)) {
  const Axis axis({a, b}, logarithmic, 0.05);
  double last = -1e-6;
  for (const Tick& tick : axis.ticks(*rc::gen::inRange(1, 12))) {
    RC_ASSERT(tick.position > last);
    RC_ASSERT(tick.position <= 1 + 1e-6);
    RC_ASSERT(tick.label.size() <= 12u);
    last = tick.position;
  }
}

TEST(ShortNumber, IsShortAndKeepsWholeNumbersWhole) {
  EXPECT_EQ(short_number(0.00001234567), "1.235e-5");
  EXPECT_EQ(short_number(67713), "67713");
  EXPECT_EQ(short_number(123456789), "1.235e8");
  EXPECT_EQ(short_number(0.123456, 2), "0.12");
  EXPECT_EQ(short_number(-250), "-250");
}

TEST(Stretches, BreakAtGapsAndKeepTheBand) {
  const Curve curve{.label = "a", .x = {0, 1, 2, 3}, .y = {1, nan, 2, 3}, .low = {0, 0, 1, 2}, .high = {2, 2, 3, 4}};
  const Axis x({0, 3}, false, 0), y({0, 4}, false, 0);
  const std::vector<Stretch> stretches = stretches_of(curve, x, y, 100);
  ASSERT_EQ(stretches.size(), 2u);
  EXPECT_EQ(stretches[0].y, (std::vector<double>{0.25}));
  EXPECT_EQ(stretches[1].low, (std::vector<double>{0.25, 0.5}));
  EXPECT_EQ(stretches[1].high, (std::vector<double>{0.75, 1}));
}

TEST(Stretches, ManyPointsAreThinnedWithoutLosingAnExtreme) {
  Curve curve{.label = "a", .x = {}, .y = {}};
  for (int i = 0; i < 100000; ++i) {
    curve.x.push_back(i);
    curve.y.push_back(i == 54321 ? 7 : i == 12345 ? -7 : std::sin(i));
  }
  const Axis x(curve.x, false, 0), y(curve.y, false, 0);
  const std::vector<Stretch> stretches = stretches_of(curve, x, y, 200);
  ASSERT_EQ(stretches.size(), 1u);
  EXPECT_LE(stretches[0].x.size(), 4u * 201u);
  EXPECT_EQ(*std::max_element(stretches[0].y.begin(), stretches[0].y.end()), 1.0);
  EXPECT_EQ(*std::min_element(stretches[0].y.begin(), stretches[0].y.end()), 0.0);
  EXPECT_EQ(stretches[0].x.back(), 1.0);
}

TEST(Chart, RefusesCurvesOfUnequalLengths) {
  Chart chart{.title = "t", .x_label = "x", .y_label = "y", .curves = {{.label = "a", .x = {1, 2}, .y = {1}}}};
  EXPECT_REFUSED(terminal_text_of(chart, 40, 10, false), "curve 'a' must have as many y as x (2), got 1");
  chart.curves = {{.label = "a", .x = {1, 2}, .y = {1, 2}, .low = {0}, .high = {0, 1}}};
  EXPECT_REFUSED(terminal_text_of(chart, 40, 10, false), "as many edges as points (2), got 1 and 2");
}

}  // namespace
}  // namespace throughtime

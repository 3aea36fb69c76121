#include "report/downloads.h"

#include <gtest/gtest.h>

#include <limits>

#include "report/support.h"

namespace throughtime {
namespace {

TEST(ChartCsv, HasAllThatAChartShows) {
  const Chart chart{.curves = {{.label = "a, b",
                                .x = {1, 2},
                                .y = {0.5, std::numeric_limits<double>::quiet_NaN()},
                                .low = {0.25, 0},
                                .high = {0.75, 1},
                                .chosen = {{1, 0.5}}},
                               {.label = "c", .x = {3}, .y = {1e-7}}},
                    .references = {{"naive baseline", 2}}};
  EXPECT_EQ(csv_of(chart),
            "curve,x,y,low,high\n\"a, b\",1,0.5,0.25,0.75\n\"a, b\",2,,0,1\n\"a, b, chosen on validation\",1,0.5,,\n"
            "c,3,1e-07,,\nnaive baseline,,2,,\n");
}

TEST(ChartCsv, OfALongCurveHasEveryNthPointAndSaysSo) {
  Chart chart{.curves = {{.label = "a", .x = {}, .y = {}}}};
  for (std::size_t i = 0; i < most_csv_points; ++i) {
    chart.curves[0].x.push_back(1);
    chart.curves[0].y.push_back(1);
  }
  std::size_t every = 0;
  EXPECT_EQ(testing::count_of(csv_of(chart, &every), "\n"), static_cast<int>(most_csv_points) + 1);
  EXPECT_EQ(every, 1u);
  chart.curves[0].x.push_back(1);
  chart.curves[0].y.push_back(1);
  EXPECT_EQ(testing::count_of(csv_of(chart, &every), "\n"), static_cast<int>(most_csv_points) / 2 + 2);
  EXPECT_EQ(every, 2u);
}

TEST(DownloadLink, HoldsTheTextAndNothingThatALinkWouldTakeForItsOwn) {
  EXPECT_EQ(download_link("a,b\n\"1\"#%<", "a<b>.csv", "all & more"),
            "<a class=\"download\" download=\"a&lt;b&gt;.csv\" "
            "href=\"data:text/csv;charset=utf-8,a,b%0A%221%22%23%25%3C\">all &amp; more</a>");
}

}  // namespace
}  // namespace throughtime

#include "report/charts/chart.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <limits>

#include "report/charts/gnuplot.h"
#include "report/support.h"
#include "support/errors.h"
#include "support/scratch.h"

namespace throughtime {
namespace {

using testing::count_of;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Chart two_curves() {
  return {.title = "Loss",
          .x_label = "iteration",
          .y_label = "loss",
          .curves = {{.label = "bptt", .x = {0, 1, 2, 3, 4}, .y = {5, 4, nan, 2, 1}},
                     {.label = "fptt", .x = {0, 4}, .y = {4, 0.5}, .low = {3, 0.25}, .high = {5, 1}}},
          .references = {{"paper", 0.75}}};
}

/// The first group of one kind.
std::string first_group(const std::string& svg, const std::string& kind) {
  const std::size_t begin = svg.find("<g class=\"" + kind + "\"");
  if (begin == std::string::npos) return "";
  return svg.substr(begin, svg.find("</g>\n\t</g>", begin) - begin);
}

class Pictures : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!gnuplot_found()) GTEST_SKIP() << "gnuplot is not installed";
  }
};

TEST_F(Pictures, NamesMayHoldWhatGnuplotAndXmlReadAsTheirs) {
  Chart chart = two_curves();
  chart.title = "'first' ]]> `id` $x \\n";
  chart.curves[0].label = "'quoted'";
  chart.curves[1].label = "''";
  const std::string svg = svg_of(chart);
  EXPECT_NE(svg.find("’first' ]] > `id` $x"), std::string::npos);
  EXPECT_EQ(count_of(svg, "<![CDATA["), count_of(svg, "]]>"));
  EXPECT_NE(svg.find("data-label=\"&#39;quoted&#39;\""), std::string::npos);
}

TEST_F(Pictures, SvgHasOnePathForEachCurveAndOneAreaForEachBand) {
  const std::string svg = svg_of(two_curves());
  EXPECT_EQ(svg.substr(0, 5), "<svg ");
  EXPECT_EQ(count_of(svg, "<g class=\"curve\""), 2);
  EXPECT_EQ(count_of(svg, "<g class=\"band\""), 1);
  EXPECT_EQ(count_of(svg, "<g class=\"reference\" data-label=\"paper\""), 1);
  EXPECT_EQ(count_of(first_group(svg, "curve"), "<path"), 1);
  EXPECT_EQ(count_of(first_group(svg, "band"), "<polygon"), 1);
}

TEST_F(Pictures, ACurveOfManyPointsIsStillOnePath) {
  Chart chart{.title = "t", .x_label = "x", .y_label = "y", .curves = {{.label = "long", .x = {}, .y = {}}}};
  for (int i = 0; i < 50000; ++i) {
    chart.curves[0].x.push_back(i);
    chart.curves[0].y.push_back(i % 7);
  }
  const std::string svg = svg_of(chart);
  EXPECT_EQ(count_of(first_group(svg, "curve"), "<path"), 1);
  EXPECT_LT(svg.size(), 200000u);
}

TEST_F(Pictures, NotANumberIsAGap) {
  const std::string group = first_group(svg_of(two_curves()), "curve");
  const std::string path = group.substr(group.find(" d='"), group.find("'/>") - group.find(" d='"));
  EXPECT_EQ(count_of(path, "M"), 2) << path;
  EXPECT_EQ(count_of(path, "L"), 2) << path;
}

TEST_F(Pictures, NotPositiveIsAGapOnALogarithmicAxis) {
  Chart chart = two_curves();
  chart.log_y = true;
  chart.curves = {{.label = "a", .x = {0, 1, 2, 3, 4}, .y = {1, 2, 0, 4, 8}}};
  EXPECT_EQ(count_of(first_group(svg_of(chart), "curve"), "M"), 2);
  EXPECT_NE(svg_of(chart).find(" log\""), std::string::npos);
}

TEST_F(Pictures, SaysWhereTheAxesAre) {
  Chart chart = two_curves();
  chart.references.clear();
  const std::string svg = svg_of(chart, 720, 420);
  EXPECT_NE(svg.find("data-x=\"0 4 linear\""), std::string::npos) << svg.substr(0, 600);
  // The curve's first point lies at the left end of the area.
  const std::string area = svg.substr(svg.find("data-area=\"") + 11, 40), group = first_group(svg, "curve");
  EXPECT_NEAR(std::stod(group.substr(group.find(" d='M") + 5)), std::stod(area), 0.02);
}

TEST_F(Pictures, TextsAreNeverInterpreted) {
  testing::ScratchDirectory scratch;
  const std::filesystem::path victim = scratch.path() / "victim";
  const std::string evil =
      "`touch " + victim.string() + "` ' . system('touch " + victim.string() + "') . \" \\ <b>&\n\x01\xff";
  Chart chart = two_curves();
  chart.title = chart.x_label = chart.y_label = evil;
  chart.curves[0].label = chart.references[0].label = evil;
  const std::string svg = svg_of(chart, 2000, 420);
  EXPECT_FALSE(std::filesystem::exists(victim));
  EXPECT_EQ(svg.find("<b>"), std::string::npos);
  EXPECT_NE(svg.find("&lt;b>&amp;"), std::string::npos);
  EXPECT_EQ(gnuplot_quoted("it's\n`x`"), "'it''s\\x0a`x`'");
}

TEST_F(Pictures, FaintCurvesHaveNoPlaceInTheLegend) {
  Chart chart = two_curves();
  chart.curves.push_back({.label = "draw-7", .x = {0, 4}, .y = {1, 2}, .faint = true});
  const std::string svg = svg_of(chart);
  EXPECT_EQ(count_of(svg, "<g class=\"faint\""), 1);
  EXPECT_EQ(count_of(svg, "<text>draw-7</text>"), 0);
  EXPECT_EQ(count_of(svg, "<text>fptt</text>"), 1);
}

TEST_F(Pictures, NothingToDrawIsStillAPicture) {
  const std::string svg = svg_of({.title = "Empty", .x_label = "x", .y_label = "y"});
  EXPECT_NE(svg.find("nothing to draw yet"), std::string::npos);
}

TEST_F(Pictures, PngIsWrittenInTheSizeAskedFor) {
  testing::ScratchDirectory scratch;
  const std::string path = (scratch.path() / "chart.png").string();
  write_png(two_curves(), path, 900, 600);
  const std::string bytes = testing::text_of(path);
  ASSERT_GT(bytes.size(), 2000u);
  EXPECT_EQ(bytes.substr(1, 3), "PNG");
  EXPECT_EQ(static_cast<unsigned char>(bytes[18]) * 256 + static_cast<unsigned char>(bytes[19]), 900);
  EXPECT_EQ(static_cast<unsigned char>(bytes[22]) * 256 + static_cast<unsigned char>(bytes[23]), 600);
}

TEST_F(Pictures, TooSmallAPictureIsRefused) {
  EXPECT_REFUSED(svg_of(two_curves(), 100, 60), "100 x 60 pixels has no room");
}

TEST(WithoutGnuplot, TheErrorSaysWhatToInstall) {
  const std::string path = std::getenv("PATH");
  setenv("PATH", "/nonexistent", 1);
  EXPECT_FALSE(gnuplot_found());
  std::string said;
  try {
    svg_of(two_curves());
  } catch (const RunFailure& failure) {
    said = failure.what();
  }
  EXPECT_FALSE(terminal_text_of(two_curves(), 40, 12, false).empty());
  setenv("PATH", path.c_str(), 1);
  EXPECT_NE(said.find("apt install gnuplot-nox"), std::string::npos) << said;
}

TEST(WithAGnuplotThatFails, TheErrorSaysWhatItSaid) {
  testing::ScratchDirectory scratch;
  const std::filesystem::path program = scratch.path() / "gnuplot";
  testing::write_text(program, "#!/bin/sh\necho no luck today >&2\nexit 3\n");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const std::string path = std::getenv("PATH");
  setenv("PATH", scratch.path().c_str(), 1);
  std::string said;
  try {
    svg_of(two_curves());
  } catch (const RunFailure& failure) {
    said = failure.what();
  }
  setenv("PATH", path.c_str(), 1);
  EXPECT_NE(said.find("no luck today"), std::string::npos) << said;
}

}  // namespace
}  // namespace throughtime

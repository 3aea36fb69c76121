#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <sstream>

#include "report/charts/chart.h"
#include "report/support.h"
#include "report/text.h"
#include "support/errors.h"

namespace throughtime {
namespace {

using testing::count_of;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// The text without its ANSI codes.
std::string plain(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b')
      i = text.find('m', i);
    else
      result += text[i];
  }
  return result;
}

TEST(TerminalChart, SmallPictureToTheLetter) {
  const Chart chart{.title = "Square",
                    .x_label = "x",
                    .y_label = "y",
                    .curves = {{.label = "x*x", .x = {0, 1, 2, 3, 4}, .y = {0, 1, 4, 9, 16}}}};
  EXPECT_EQ(terminal_text_of(chart, 24, 10, false), R"(Square
━━ x*x
y
   │                 ⢀⡠⠔
10 ┤              ⣀⠤⠒⠁
   │         ⢀⣀⠤⠒⠉
 0 ┤⣀⣀⡠⠤⠤⠤⠒⠊⠉⠁
   └┬─────────┬────────┬
    0         2        4
                       x
)");
}

TEST(TerminalChart, CurvesAreToldApartByLettersWithoutColour) {
  Chart chart{.title = "", .x_label = "", .y_label = ""};
  chart.curves = {{.label = "up", .x = {0, 1}, .y = {0, 1}}, {.label = "down", .x = {0, 1}, .y = {1, 0}}};
  const std::string text = terminal_text_of(chart, 40, 12, false);
  EXPECT_EQ(lines_of(text)[0], "1 up  2 down");
  EXPECT_EQ(count_of(text, "1"), 1 + 3 + 2) << text;  // legend, curve, the ends of the axes
  EXPECT_EQ(count_of(text, "2"), 1 + 3) << text;
}

TEST(TerminalChart, ColourChangesNoCharacter) {
  Chart chart{
      .title = "t", .x_label = "x", .y_label = "y", .curves = {{.label = "a", .x = {0, 1, 2}, .y = {3, nan, 5}}}};
  chart.references = {{"paper", 4}};
  const std::string coloured = terminal_text_of(chart, 50, 12, true);
  EXPECT_NE(coloured.find("\x1b[38;5;32m"), std::string::npos);
  std::string stripped;
  for (const std::string& line : lines_of(plain(coloured)))
    stripped += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  EXPECT_EQ(stripped, terminal_text_of(chart, 50, 12, false));
}

TEST(TerminalChart, NotANumberIsAGap) {
  Chart chart{
      .title = "", .x_label = "", .y_label = "", .curves = {{.label = "", .x = {0, 1, 2, 3}, .y = {1, 1, 1, 1}}}};
  const int whole = count_of(terminal_text_of(chart, 40, 8, false), "⠉");
  chart.curves[0].x = {0, 1, 1.5, 2, 3};
  chart.curves[0].y = {1, 1, nan, 1, 1};
  const std::string text = terminal_text_of(chart, 40, 8, false);
  EXPECT_LT(count_of(text, "⠉"), whole - 8) << text;
}

TEST(TerminalChart, NothingToDrawIsAnEmptyFrame) {
  const std::string text = terminal_text_of({.title = "Empty", .x_label = "x", .y_label = "y"}, 40, 10, true);
  EXPECT_EQ(lines_of(text).size(), 10u);
  EXPECT_EQ(lines_of(text)[0], "Empty");
}

TEST(TerminalChart, RefusesWhatIsTooSmallToRead) {
  EXPECT_REFUSED(terminal_text_of({}, 19, 10, false), "columns of a terminal picture must be between 20");
  EXPECT_REFUSED(terminal_text_of({}, 20, 5, false), "rows of a terminal picture must be between 6");
}

RC_GTEST_PROP(TerminalChart, NeverLeavesItsRectangle, (bool log_x, bool log_y, bool colour)) {
  Chart chart{.title = *rc::gen::string<std::string>(), .x_label = "iterations so far", .y_label = "loss in nats"};
  chart.log_x = log_x;
  chart.log_y = log_y;
  for (int i = *rc::gen::inRange(0, 9); i > 0; --i) {
    Curve curve{.label = *rc::gen::string<std::string>()};
    curve.x = *rc::gen::arbitrary<std::vector<double>>();
    for (const double value : curve.x) curve.y.push_back(*rc::gen::element(value, 1.0, nan, -2.0));
    curve.low = curve.high = *rc::gen::element(curve.y, std::vector<double>{});
    chart.curves.push_back(curve);
  }
  chart.references = {{"a reference line with a long name", *rc::gen::arbitrary<double>()}};
  const int columns = *rc::gen::inRange(20, 120), rows = *rc::gen::inRange(6, 40);
  const std::vector<std::string> lines = lines_of(plain(terminal_text_of(chart, columns, rows, colour)));
  RC_ASSERT(lines.size() <= static_cast<std::size_t>(rows));
  for (const std::string& line : lines) RC_ASSERT(text_width(line) <= static_cast<std::size_t>(columns));
}

TEST(Text, IsCutAndEscaped) {
  EXPECT_EQ(cut_to("αβγδ", 3), "αβ…");
  EXPECT_EQ(cut_to("αβγ", 3), "αβγ");
  EXPECT_EQ(html_escaped("<a href='x'>\"&"), "&lt;a href=&#39;x&#39;&gt;&quot;&amp;");
}

}  // namespace
}  // namespace throughtime

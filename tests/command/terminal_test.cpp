#include "terminal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace throughtime {
namespace {

const ProgressState halfway{.name = "add", .iteration = 500, .iterations = 1000, .loss = 0.16666, .seconds = 25};

std::string plain_progress(int width) { return progress_text(halfway, {.terminal = true, .width = width}); }

TEST(ProgressText, ShowsEverythingOnAWideLine) {
  EXPECT_EQ(plain_progress(120),
            "add  ####################....................   50%  500/1000  20.0 it/s  loss 0.1667  ETA 0:25");
}

TEST(ProgressText, LeavesOutTheLeastImportantFirst) {
  EXPECT_EQ(plain_progress(60), "add  ########........   50%  500/1000  loss 0.1667  ETA 0:25");
  EXPECT_EQ(plain_progress(45).find("500/1000"), std::string::npos);
  EXPECT_NE(plain_progress(45).find("ETA"), std::string::npos);
  EXPECT_EQ(plain_progress(24), "add   50%  loss 0.1667");
}

TEST(ProgressText, NeverExceedsTheWidth) {
  for (int width = 20; width < 140; ++width) {
    EXPECT_LE(plain_progress(width).size(), static_cast<std::size_t>(width));
    const Style unicode{.terminal = true, .unicode = true, .width = width};
    EXPECT_LE(text_width(progress_text(halfway, unicode)), static_cast<std::size_t>(width));
  }
  const ProgressState long_name{
      .name = std::string(200, 'x'), .iteration = 1, .iterations = 2, .loss = 1, .seconds = 1};
  EXPECT_LE(progress_text(long_name, {.width = 40}).size(), 40u);
}

TEST(ProgressText, ColoursOnlyWhenAsked) {
  EXPECT_EQ(plain_progress(100).find('\x1b'), std::string::npos);
  EXPECT_NE(progress_text(halfway, {.terminal = true, .color = true, .unicode = true, .width = 100}).find('\x1b'),
            std::string::npos);
}

TEST(ProgressText, HasNoRateBeforeTheFirstSecond) {
  const ProgressState start{.name = "add", .iteration = 0, .iterations = 1000, .loss = 0.5, .seconds = 0};
  EXPECT_NE(progress_text(start, {.width = 100}).find("ETA --:--"), std::string::npos);
}

TEST(Terminal, WritesBytesAndDurations) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(1023), "1023 B");
  EXPECT_EQ(bytes_text(1536), "1.5 KiB");
  EXPECT_EQ(bytes_text(std::size_t{3} << 30), "3.0 GiB");
  EXPECT_EQ(duration_text(0.4), "0:00");
  EXPECT_EQ(duration_text(75.2), "1:15");
  EXPECT_EQ(duration_text(3700), "1:01:40");
  EXPECT_EQ(seconds_text(0.043), "0.04");
  EXPECT_EQ(seconds_text(12.34), "12.3");
}

Table small_table() {
  Table table({{"run", false}, {"loss"}, {"note", false}});
  table.add_row({"a", "0.5", "first"});
  table.add_row({"longer", "12.25", ""});
  return table;
}

TEST(Table, AlignsPlainColumns) {
  EXPECT_EQ(small_table().text({}),
            "run      loss  note\n"
            "------  -----  -----\n"
            "a         0.5  first\n"
            "longer  12.25\n");
}

TEST(Table, DrawsABoxOnATerminal) {
  EXPECT_EQ(small_table().text({.terminal = true, .unicode = true}),
            "┌────────┬───────┬───────┐\n"
            "│ run    │  loss │ note  │\n"
            "├────────┼───────┼───────┤\n"
            "│ a      │   0.5 │ first │\n"
            "│ longer │ 12.25 │       │\n"
            "└────────┴───────┴───────┘\n");
}

TEST(Table, KnowsItsWidth) {
  for (const bool unicode : {false, true}) {
    const Style style{.terminal = true, .unicode = unicode, .width = 80};
    std::istringstream lines(small_table().text(style));
    std::size_t widest = 0;
    for (std::string line; std::getline(lines, line);) widest = std::max(widest, text_width(line));
    EXPECT_EQ(widest, small_table().width(style));
  }
}

TEST(Table, BreaksALastColumnOfTextOnANarrowTerminal) {
  Table table({{"name", false}, {"description", false}});
  table.add_row({"lstm", "input, forget, cell and output gates"});
  const Style narrow{.terminal = true, .width = 30};
  EXPECT_EQ(table.text(narrow),
            "name  description\n"
            "----  ------------------------\n"
            "lstm  input, forget, cell and\n"
            "      output gates\n");
  // Where even that does not fit in a box, the box goes.
  EXPECT_EQ(table.text({.terminal = true, .unicode = true, .width = 25}), table.text({.terminal = true, .width = 25}));
  // A pipe gets whole lines.
  EXPECT_NE(table.text({.width = 30}).find("cell and output gates"), std::string::npos);
}

TEST(Table, TurnsAround) {
  EXPECT_EQ(small_table().transposed().text({}),
            "run       a  longer\n"
            "----  -----  ------\n"
            "loss    0.5   12.25\n"
            "note  first\n");
}

TEST(Folded, BreaksLongLinesBetweenWordsBelowTheirIndent) {
  EXPECT_EQ(folded("  one two three four five six\nshort\n", 24), "  one two three four\n    five six\nshort\n");
  EXPECT_EQ(folded("short\n", 24), "short\n");
  EXPECT_EQ(folded("", 24), "");
  EXPECT_EQ(folded("a b", 3), "a b") << "nothing is broken that fits";
}

Table wide_table() {
  Table table({{"arm", false}, {"iterations"}, {"test mse"}, {"last weights"}, {"validation mse"}, {"tape"}});
  for (const char* arm : {"whole", "windows-10", "windows-20", "adaptive"})
    table.add_row({arm, "400", "0.02301 ± 0.00149", "0.02403 ± 0.00311", "0.02436 ± 0.00113", "420.5 KiB"});
  return table;
}

TEST(Table, NeverWidensATerminal) {
  for (int width = 40; width < 140; ++width)
    for (const bool unicode : {false, true}) {
      std::istringstream lines(wide_table().text({.terminal = true, .unicode = unicode, .width = width}));
      for (std::string line; std::getline(lines, line);) ASSERT_LE(text_width(line), width) << width << "\n" << line;
    }
  EXPECT_NE(wide_table().text({.width = 40}).find("0.02301 ± 0.00149  0.02403 ± 0.00311"), std::string::npos)
      << "a pipe gets whole lines";
}

TEST(Table, ComesInPartsThatAllHaveTheFirstColumn) {
  const std::string text = wide_table().text({.terminal = true, .width = 50});
  const auto count = [&](const std::string& part) {
    int found = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++found;
    return found;
  };
  EXPECT_EQ(count("windows-10"), count("arm "));
  EXPECT_EQ(count("0.02301 ± 0.00149"), 4);
  EXPECT_EQ(count("tape"), 1);
  EXPECT_GT(count("arm "), 1);
}

TEST(Table, OfOneRunIsTurnedAround) {
  Table table({{"run", false}, {"iterations"}, {"test, best validation"}, {"test, last weights"}});
  table.add_row({"house", "600", "mse 0.14213", "mse 0.20658"});
  const std::string text = table.text({.terminal = true, .width = 40});
  EXPECT_TRUE(text.starts_with("run                          house\n")) << text;
  EXPECT_NE(text.find("test, best validation  mse 0.14213\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace throughtime

// predict reads the recording that a run was trained on, and says of each of its rows what --split says.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <vector>

#include "command/command_run.h"

namespace throughtime {
namespace {

using testing::lines_in;
using testing::Outcome;
using testing::text_of;
using testing::write_text;

constexpr int rows = 200;
constexpr int test_begin = 160;  // of the shares 0.7, 0.1, 0.2

/// Values are missing at the start, within and next to each other; a text goes over two lines.
std::string house_row(int t, bool whole) {
  const double outside = 10 + 8 * std::sin(0.26 * t) + t * 7 % 5, inside = 18 + 3 * std::sin(0.26 * t - 1) + t * 3 % 4;
  const bool missing = !whole && (t < 2 || t % 50 == 20 || t % 50 == 21);
  return fmt::format("{},\"dry,\ncold\",{:.2f},{}\n", t % 24, outside, missing ? "" : fmt::format("{:.2f}", inside));
}
std::string house(int begin, int end, bool whole = false) {
  std::string text = "hour,note,outside,inside\n";
  for (int t = begin; t < end; ++t) text += house_row(t, whole);
  return text;
}

/// The numbers of CSV lines after the header.
std::vector<std::vector<double>> table_in(const std::string& csv) {
  std::istringstream text(csv.substr(std::min(csv.size(), csv.find('\n') + 1)));
  std::vector<std::vector<double>> table;
  for (std::string line; std::getline(text, line);) {
    table.emplace_back();
    std::istringstream fields(line);
    for (std::string field; std::getline(fields, field, ',');) table.back().push_back(std::stod(field));
  }
  return table;
}

class PredictRecording : public testing::CommandTest {
 protected:
  void train(const std::string& name, const std::string& more, const std::string& file = "house.csv") const {
    const std::string config = "[task]\nname = \"series\"\n[task.series]\npath = \"" + file + "\"\nlength = 20\n" +
                               more + "[model]\nhidden = 3\n[train]\niterations = 4\nbatch = 2\n[run]\nthreads = 1\n";
    const Outcome outcome = run("train --quiet --force " + config_file(config, name));
    ASSERT_EQ(outcome.code, 0) << outcome.err;
  }
  /// Every row of a split has the same forecast where its part of the file is predicted, from row `first` on.
  void expect_same(const std::string& name, const std::string& split, const std::string& file,
                   std::size_t first) const {
    const Outcome own = run("predict runs/" + name + " --split " + split),
                  answers = run("predict runs/" + name + " " + file);
    ASSERT_EQ(own.code, 0) << own.err;
    ASSERT_EQ(answers.code, 0) << answers.err;
    const std::vector<std::vector<double>> wanted = table_in(own.out), said = table_in(answers.out);
    std::size_t compared = 0;
    for (const std::vector<double>& line : wanted) {
      const auto row = static_cast<std::size_t>(line[0]);
      if (row < first) continue;
      ASSERT_LT(row, said.size());
      const std::size_t targets = (line.size() - 1) / 2;
      ASSERT_EQ(said[row].size(), targets) << answers.out.substr(0, 100);
      for (std::size_t i = 0; i < targets; ++i) ASSERT_NEAR(said[row][i], line[1 + targets + i], 1e-4) << split << row;
      ++compared;
    }
    EXPECT_GT(compared, 10u);
  }
  Outcome answer(const std::string& name, const std::string& lines, const std::string& options = "") const {
    write_text(path("lines"), lines);
    return run("predict runs/" + name + " " + options, "lines");
  }
};

TEST_F(PredictRecording, EveryRowHasTheForecastOfItsSplit) {
  write_text(path("house.csv"), house(0, rows));
  write_text(path("test.csv"), house(test_begin, rows));
  int number = 0;
  for (const char* horizon : {"[1, 24]", "[1]", "[0]", "[0, 3]"})
    for (const char* difference : {"false", "true"})
      for (const char* inputs : {"", "inputs = [\"outside\"]\n"}) {
        const bool now = horizon[1] == '0', known = std::string(horizon) != "[0]";
        const std::string more =
            fmt::format("targets = [\"inside\"]\nhorizon = {}\ndifference = {}\nmissing = \"{}\"\n{}{}", horizon,
                        difference, ++number % 2 == 0 ? "hold" : "skip", inputs, known ? "known = [\"hour\"]\n" : "");
        SCOPED_TRACE(more);
        train("house", more);
        expect_same("house", "train", "house.csv", 0);
        // At horizon 0 the first change of a split is added to the row before it, which this file does not have.
        expect_same("house", "test", "test.csv", now ? 1 : 0);
      }
}

TEST_F(PredictRecording, AnswersEndWithTheLastRowWhoseKnownColumnsAreThere) {
  write_text(path("house.csv"), house(0, rows, true));
  train("house", "targets = [\"inside\"]\nhorizon = [1, 24]\nknown = [\"hour\"]\n");
  const Outcome all = run("predict runs/house house.csv");
  EXPECT_EQ(all.code, 0) << all.err;
  EXPECT_EQ(lines_in(all.out), 1u + rows - 24);
  EXPECT_NE(all.err.find("24 rows at the end without an answer: the model reads hour 24 steps later"),
            std::string::npos)
      << all.err;
  // What is known of the rows to come is enough, whatever the run does with missing values.
  std::string longer = house(0, rows, true);
  for (int t = rows; t < rows + 24; ++t) longer += fmt::format("{},,,\n", t % 24);
  write_text(path("longer.csv"), longer);
  const Outcome ahead = run("predict runs/house longer.csv");
  EXPECT_EQ(ahead.code, 0) << ahead.err;
  EXPECT_EQ(lines_in(ahead.out), 1u + rows);
  EXPECT_TRUE(ahead.out.starts_with(all.out));
  write_text(path("short.csv"), house(0, 24, true));
  EXPECT_EQ(run("predict runs/house short.csv").out, "inside +1,inside +24\n");
  EXPECT_EQ(lines_in(run("predict runs/house house.csv -o out.jsonl").out), 0u);
  EXPECT_EQ(lines_in(text_of(path("out.jsonl"))), rows - 24u);
}

TEST_F(PredictRecording, AMissingValueIsRefusedWhereTrainingRefusesIt) {
  write_text(path("house.csv"), house(0, rows, true));
  train("house", "targets = [\"inside\"]\n");
  write_text(path("gap.csv"), "hour,outside,inside\n1,2,3\n1,2,NA\n");
  const Outcome gap = run("predict runs/house gap.csv -o out.csv");
  expect_refusal(gap, "gap.csv, line 3: column 'inside': the value is missing");
  EXPECT_NE(answer("house", "1,2,3\n1,2,\n").err.find("line 2: column 'inside': the value is missing"),
            std::string::npos);
}

TEST_F(PredictRecording, AValueThatNeverComesIsRefused) {
  write_text(path("house.csv"), house(0, rows));
  train("house", "targets = [\"inside\"]\nmissing = \"hold\"\n");
  write_text(path("never.csv"), "hour,outside,inside\n1,2,\n1,2,NA\n");
  expect_refusal(run("predict runs/house never.csv -o out.csv"),
                 "never.csv, line 3: column 'inside' has no value at all up to there");
  // At the start of a file the first value stands for those that are missing; an empty line begins another sequence.
  write_text(path("late.csv"), "hour,outside,inside\n1,2,\n1,2,5\n\n1,2,\n1,2,7\n");
  write_text(path("early.csv"), "hour,outside,inside\n1,2,5\n1,2,5\n\n1,2,7\n1,2,7\n");
  const Outcome late = run("predict runs/house late.csv");
  EXPECT_EQ(late.code, 0) << late.err;
  EXPECT_EQ(lines_in(late.out), 6u);
  EXPECT_EQ(late.out, run("predict runs/house early.csv").out);
  EXPECT_EQ(late.out, answer("house", text_of(path("early.csv"))).out);
}

TEST_F(PredictRecording, LinesOfAPipeHoldTheValueBefore) {
  write_text(path("house.csv"), house(0, rows));
  train("house", "targets = [\"inside\"]\nmissing = \"hold\"\n");
  const Outcome held = answer("house", "1,2,3\n,2,\n1,4,NA\n\n1,2,3\n");
  EXPECT_EQ(held.code, 0) << held.err;
  EXPECT_EQ(held.out, answer("house", "1,2,3\n1,2,3\n1,4,3\n\n1,2,3\n").out);
  EXPECT_EQ(answer("house", "[1,2,3]\n[null,2,null]\n", "--format jsonl").out,
            answer("house", "[1,2,3]\n[1,2,3]\n", "--format jsonl").out);
  EXPECT_NE(answer("house", "1,2,3\n\n1,2,\n")
                .err.find("line 3: column 'inside': the value is missing, and there is "
                          "none before it"),
            std::string::npos);
  train("known", "targets = [\"inside\"]\nmissing = \"hold\"\nknown = [\"hour\"]\n");
  EXPECT_NE(
      answer("known", "hour,outside,inside\n1,2,3\n")
          .err.find("there is no column 'hour +1'. Lines are answered one by one, so each needs 'hour' as it will "
                    "be; a file needs 'hour' alone"),
      std::string::npos);
  EXPECT_EQ(lines_in(answer("known", "hour +1,hour,outside,inside\n2,1,2,3\n").out), 2u);
}

TEST_F(PredictRecording, ArraysHaveKnownColumnsToo) {
  std::string bytes;
  for (int t = 0; t < rows; ++t)
    for (const float value : {static_cast<float>(t % 24), static_cast<float>(std::sin(0.3 * t))}) {
      char four[sizeof value];
      std::memcpy(four, &value, sizeof value);
      bytes.append(four, sizeof four);
    }
  write_text(path("house.f32"), bytes);
  train("array", "channels = 2\ntargets = [\"1\"]\nhorizon = [0, 2]\nknown = [\"0\"]\ndifference = true\n",
        "house.f32");
  expect_same("array", "train", "house.f32", 0);
  EXPECT_EQ(lines_in(run("predict runs/array house.f32").out), 1u + rows - 2);
  train("one", "channels = 2\ninputs = [\"0\"]\ntargets = [\"1\"]\ndifference = true\n", "house.f32");
  expect_same("one", "train", "house.f32", 0);
}

TEST_F(PredictRecording, AChangeStaysOneWhereNoColumnHasItsLevel) {
  write_text(path("house.csv"), house(0, rows, true));
  train("house", "inputs = [\"outside\"]\ntargets = [\"inside\"]\ndifference = true\n");
  EXPECT_TRUE(run("predict runs/house house.csv").out.starts_with("inside\n"));
  write_text(path("outside.csv"), "outside\n1\n2\n");
  EXPECT_TRUE(run("predict runs/house outside.csv").out.starts_with("inside change\n"));
  // A column of that name in a file of inputs alone is another one.
  std::string inputs = "a\n", targets = "a\n";
  for (int t = 0; t < rows; ++t) inputs += fmt::format("{}\n", t % 7), targets += fmt::format("{}\n", t % 9);
  write_text(path("inputs.csv"), inputs);
  write_text(path("targets.csv"), targets);
  train("two", "target_path = \"targets.csv\"\ndifference = true\n", "inputs.csv");
  EXPECT_TRUE(run("predict runs/two inputs.csv").out.starts_with("a change\n"));
}

TEST_F(PredictRecording, TheAnswersSayNothingAboutTheFile) {
  write_text(path("house.txt"), house(0, rows, true));
  train("house", "targets = [\"inside\"]\n", "house.txt");
  const Outcome json = run("predict runs/house house.txt --format jsonl");
  EXPECT_EQ(json.code, 0) << json.err;
  EXPECT_EQ(lines_in(json.out), static_cast<std::size_t>(rows));
}

TEST_F(PredictRecording, AnotherDelimiterAndDecimalCommasAreNamed) {
  write_text(path("house.csv"), house(0, rows, true));
  train("house", "targets = [\"inside\"]\n");
  write_text(path("semicolons.csv"), "hour;outside;inside\n1;2.5;3\n");
  expect_refusal(run("predict runs/house semicolons.csv"), "is ';' the delimiter? Say --delimiter ';'");
  write_text(path("commas.csv"), "hour,outside,inside\n1,2.5,3\n");
  EXPECT_EQ(run("predict runs/house semicolons.csv --delimiter ';'").out, run("predict runs/house commas.csv").out);
  EXPECT_EQ(answer("house", "1;2.5;3\n", "--delimiter ';'").out, run("predict runs/house commas.csv").out);
  EXPECT_NE(answer("house", "1;2.5;3\n").err.find("is ';' the delimiter?"), std::string::npos);
  write_text(path("both.csv"), "hour;outside;inside\n1;2,5;3\n");
  expect_refusal(run("predict runs/house both.csv --delimiter ';'"),
                 "both.csv, line 2: '2,5' has a decimal comma; numbers have a point, such as 1.5");
  write_text(path("short.csv"), "hour,outside,inside\n1,2\n");
  expect_refusal(run("predict runs/house short.csv"), "short.csv, line 2: the row has 2 fields instead of 3");
  expect_refusal(run("predict runs/house commas.csv --delimiter ';;'"), "--delimiter must be one character, or tab");
  expect_refusal(run("predict runs/house --split test --delimiter ';'"), "--delimiter is for a file");
  write_text(path("tabs.tsv"), "hour\toutside\tinside\n1\t2.5\t3\n");
  EXPECT_EQ(run("predict runs/house tabs.tsv").out, run("predict runs/house commas.csv").out);
  expect_refusal(run("predict runs/house tabs.tsv --delimiter ';'"), "the fields of a .tsv file lie between tabs");
  expect_refusal(run("predict runs/house tabs.jsonl --delimiter ';'"), "--delimiter is for tables");
}

TEST_F(PredictRecording, TargetsAndKnownColumnsMayBeGivenByTheirNumbers) {
  write_text(path("house.csv"), house(0, rows, true));
  const std::string common = "difference = true\nhorizon = [1, 3]\n";
  train("named", common + "targets = [\"inside\"]\nknown = [\"hour\"]\n");
  train("numbered", common + "targets = [\"3\"]\nknown = [\"0\"]\n");
  const Outcome named = run("predict runs/named house.csv"), numbered = run("predict runs/numbered house.csv");
  EXPECT_EQ(numbered.code, 0) << numbered.err;
  EXPECT_TRUE(numbered.out.starts_with("inside +1,inside +3\n")) << numbered.out.substr(0, 80);
  EXPECT_EQ(numbered.out, named.out);
  EXPECT_EQ(run("evaluate runs/numbered --json").out.substr(30), run("evaluate runs/named --json").out.substr(27));
}

TEST_F(PredictRecording, ARefusedRunLeavesTheOneThatItWouldOverwrite) {
  write_text(path("house.csv"), house(0, rows, true));
  train("house", "targets = [\"inside\"]\n");
  const Outcome before = run("predict runs/house house.csv");
  ASSERT_EQ(before.code, 0) << before.err;
  expect_refusal(run("train house.toml --force --set train.batch=140"),
                 "the train part has 139 steps, too few to read 140 rows side by side: 139 are possible (train.batch)");
  expect_refusal(run("train house.toml --force --set task.series.evaluation_columns=30"),
                 "the validation part has 19 steps, too few to read 30 rows side by side: 19 are possible "
                 "(task.series.evaluation_columns)");
  EXPECT_EQ(run("predict runs/house house.csv").out, before.out);
}

TEST_F(PredictRecording, AHorizonThatIsTooLongIsNamed) {
  write_text(path("house.csv"), house(0, rows, true));
  train("house", "targets = [\"inside\"]\n");
  expect_refusal(run("train house.toml --force --set 'task.series.horizon=[20]' --set train.evaluate_every=2"),
                 "the validation part has 20 rows, too few for a horizon of 20 (the longest possible is 19; a larger "
                 "share in task.series.splits gives it more)");
  expect_refusal(run("train house.toml --force --set 'task.series.horizon=[400]'"),
                 "too few for a horizon of 400; the longest possible is 139");
  expect_refusal(run("train house.toml --force --set 'task.series.splits=[0.8,0,0.2]' --set train.evaluate_every=2"),
                 "task.series.splits leaves no rows for the validation part");
}

}  // namespace
}  // namespace throughtime

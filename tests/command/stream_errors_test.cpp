// What `throughtime stream` does with broken rows and bad configurations.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command/stream_support.h"

namespace throughtime {
namespace {

TEST_F(Stream, BrokenRowsAreReportedWithTheirNumberAndSkipped) {
  const std::string rows = "t,y\n1,0.5\n2,0.6,9\n3,nan\n4,abc\n5,\n6,0.4\n7,1e99\n8,0.3\n9,0.2";  // and half a line
  const Outcome outcome = stream("small.toml", rows);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const std::vector<std::string> answers = lines_of(outcome.out);
  ASSERT_EQ(answers.size(), 9u);
  for (const std::size_t bad : {1u, 2u, 3u, 4u, 6u, 8u}) EXPECT_EQ(answers[bad], "nan");
  for (const std::size_t good : {0u, 5u, 7u}) EXPECT_NE(answers[good], "nan");
  for (const char* report :
       {"row 2 was skipped: 2 columns are needed, got 3", "row 3 was skipped: column y must be a finite",
        "row 4 was skipped: column y must be a number, got 'abc'", "row 5 was skipped: column y is empty",
        "row 7 was skipped", "row 9 was skipped: the input ends within the line"})
    EXPECT_NE(outcome.err.find(report), std::string::npos) << report << "\n" << outcome.err;
  EXPECT_EQ(nlohmann::json::parse(text_of(path("runs/small/result.json")))["skipped"], 6);
}

TEST_F(Stream, ARowThatWouldEndADifferencedStreamIsSkippedNowAndWhenItIsResumed) {
  const std::string before = "y\n1\n2\n1\n3e38\n", after = "-3e38\n1\n2\n1.5\n";
  write_text(path("rows.csv"), before);
  const Outcome first = run("stream small.toml --set stream.difference=true --input rows.csv");
  ASSERT_EQ(first.code, 0) << first.err;
  write_text(path("rows.csv"), before + after);
  const Outcome second = run("stream --resume runs/small --input rows.csv");
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_EQ(lines_in(second.out), 4u);
  EXPECT_EQ(lines_of(second.out)[0], "nan");
  EXPECT_NE(second.err.find("row 5 was skipped: the change from 3e+38 to -3e+38"), std::string::npos) << second.err;
  EXPECT_EQ(nlohmann::json::parse(text_of(path("runs/small/result.json")))["skipped"], 1);
}

TEST_F(Stream, ABrokenRowEndsTheRunWhereAskedAndKeepsWhatWasLearned) {
  const Outcome outcome = stream("small.toml --on-error stop", series(0, 20) + "broken\n" + series(20, 30, ""));
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(lines_in(outcome.out), 20u);
  EXPECT_NE(outcome.err.find("row 21: column y must be a number"), std::string::npos) << outcome.err;
  // The run goes on after it as if the row had not been there.
  const Outcome rest = stream("--resume runs/small", series(20, 30, ""));
  const Outcome whole = stream("small.toml --set run.name=whole", series(0, 30));
  EXPECT_EQ(outcome.out + rest.out, whole.out) << rest.err;
}

TEST_F(Stream, AStreamWithoutTheColumnsIsRefused) {
  Outcome outcome = stream("small.toml", "a,b\n1,2\n");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("unknown column 'y'"), std::string::npos) << outcome.err;
  outcome = stream("small.toml --format jsonl", "{\"z\": 1}\n{\"z\": 2}\n");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("none of the 2 rows could be read; row 1: \"y\" is missing"), std::string::npos)
      << outcome.err;
}

TEST_F(Stream, ABinaryStreamCutMidRowIsReported) {
  std::string raw(4 * 2 * 10 + 3, '\0');
  const Outcome outcome =
      stream("small.toml --format raw --set task.series.channels=2 --set 'task.series.inputs=[\"0\"]'", raw);
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(lines_in(outcome.out), 11u);
  EXPECT_NE(outcome.err.find("row 11 was skipped: the input ends after 3 of its 8 bytes"), std::string::npos)
      << outcome.err;
}

TEST_F(Stream, ReportsOfManyBrokenRowsGetFewer) {
  std::string text = series(0, 5);
  for (int i = 0; i < 5000; ++i) text += "x\n";
  const Outcome outcome = stream("small.toml", text);
  EXPECT_EQ(outcome.code, 0);
  EXPECT_LT(lines_in(outcome.err), 100u);
}

TEST_F(Stream, BadConfigurationsAreRefusedBeforeAnythingIsRead) {
  for (const auto& [setting, part] : std::vector<std::pair<std::string, std::string>>{
           {"learner.name=bptt", "a stream has none"},
           {"task.name=add", "task.name must be \"series\""},
           {"'task.series.inputs=[]'", "task.series.inputs must name the columns"},
           {"task.series.horizon=0 --set stream.difference=true", "stream.difference needs a task.series.horizon"},
           {"train.batch=4", "train.batch is an option of the command train; here the command is stream"},
           {"task.series.length=4", "task.series.length is an option of the command train"},
           {"stream.format=xml", "unknown stream.format 'xml'"}}) {
    const Outcome outcome = stream("small.toml --set " + setting, series(0, 3));
    EXPECT_EQ(outcome.code, 2);
    EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
  }
}

// ---------------------------------------------------------------- live

}  // namespace
}  // namespace throughtime

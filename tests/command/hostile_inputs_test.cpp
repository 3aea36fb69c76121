#include <gtest/gtest.h>

#include <string>

#include "command/command_run.h"

namespace throughtime {
namespace {

using testing::Outcome;
using testing::tiny;
using testing::write_text;

class HostileInputs : public testing::CommandTest {
 protected:
  /// One line, and none of it steers a terminal.
  static void expect_clean_refusal(const Outcome& outcome, const std::string& part) {
    expect_refusal(outcome, part);
    for (const char* control : {"\x1b", "\r", "\x7f", "\xc2\x9b"})
      EXPECT_EQ(outcome.err.find(control), std::string::npos) << outcome.err;
  }
};

TEST_F(HostileInputs, ErrorsAreOneLineWhateverTheyQuote) {
  write_text(path("key.toml"), "[train]\n\"\\u001b[2Jbatch\\nx\" = 1\n");
  expect_clean_refusal(run("train key.toml"), "\\x1b[2Jbatch\\x0ax");
  write_text(path("text.toml"), "[learner]\nname = \"\\u009b2J\\r\\u007f\"\n");
  expect_clean_refusal(run("train text.toml"), "\\xc2\\x9b2J\\x0d\\x7f");
  expect_clean_refusal(run("inspect \"$(printf 'no\\033[2J\\nsuch\\233')\""), "no\\x1b[2J\\x0asuch\\x9b");
  write_text(path("series.csv"), "\x1b[2Ja,b\n1,2\n");
  config_file("[task]\nname = \"series\"\n[task.series]\npath = \"series.csv\"\ninputs = [\"c\"]\n");
  expect_clean_refusal(run("train tiny.toml"), "\\x1b[2Ja");
}

TEST_F(HostileInputs, WhatGoesIntoAFileStaysAsItIs) {
  config_file(std::string(tiny) + "name = \"\\u009bname\"\ndirectory = \"run\"\n");
  const Outcome outcome = run("train --quiet --json tiny.toml");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("\"\xc2\x9bname\""), std::string::npos) << outcome.out;
}

TEST_F(HostileInputs, AnyNumberOfTopClassesIsAllThereAre) {
  config_file(
      "[task]\nname = \"copy\"\n[model]\nhidden = 4\n[train]\niterations = 2\nbatch = 2\n[run]\ndirectory = \"run\"\n");
  ASSERT_EQ(run("train --quiet tiny.toml").code, 0);
  write_text(path("tokens"), "1\n2\n");
  const Outcome all = run("predict run tokens --top 2000000000");
  ASSERT_EQ(all.code, 0) << all.err;
  EXPECT_LT(all.out.size(), 10000u);
  EXPECT_EQ(all.out, run("predict run tokens --top 65536").out);
}

TEST_F(HostileInputs, MemoryIsComparedBeforeTheFirstStep) {
  config_file(tiny);
  const std::string command = std::string("THROUGHTIME_MEMORY=200000000 ") + THROUGHTIME_COMMAND + " train tiny.toml";
  EXPECT_EQ(shell(command).code, 0);
  const Outcome wide = shell(command + " --force --set train.batch=65536 --set task.add.length=1000");
  expect_refusal(wide, "[tape] a tape of 1000 steps and 65536 rows needs ");
  EXPECT_NE(wide.err.find(" GiB of memory, "), std::string::npos) << wide.err;
  EXPECT_NE(wide.err.find(" MiB are left"), std::string::npos) << wide.err;
  expect_refusal(shell(command + " --force --set model.hidden=32768"), "[model] a model of ");
}

TEST_F(HostileInputs, TheStartOfARunNamesItsColumns) {
  std::string rows = "date,a,b\n";
  for (int i = 0; i < 60; ++i) rows += "2020-01-01," + std::to_string(i) + "," + std::to_string(i % 7) + "\n";
  write_text(path("series.csv"), rows);
  config_file(
      "[task]\nname = \"series\"\n[task.series]\npath = \"series.csv\"\nlength = 5\n[model]\nhidden = 4\n"
      "[train]\niterations = 2\nbatch = 2\n[run]\ndirectory = \"run\"\n");
  const Outcome outcome = run("train tiny.toml");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  for (const std::string& text : {outcome.err, testing::text_of(path("run/log.txt"))}) {
    EXPECT_NE(text.find("inputs: a, b; targets: a, b\n"), std::string::npos) << text;
    EXPECT_NE(text.find("columns that are not used: 'date' ('2020-01-01' in line 2 is no number)\n"), std::string::npos)
        << text;
  }
}

}  // namespace
}  // namespace throughtime

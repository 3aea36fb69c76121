#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "command/command_run.h"

namespace throughtime {
namespace {

using testing::lines_in;
using testing::Outcome;
using testing::tiny;

class Command : public testing::CommandTest {};

TEST_F(Command, ExplainsItself) {
  const Outcome help = run("--help");
  EXPECT_EQ(help.code, 0);
  EXPECT_NE(help.out.find("gradcheck"), std::string::npos);
  EXPECT_EQ(help.err, "");
  const Outcome train = run("train --help");
  EXPECT_EQ(train.code, 0);
  EXPECT_NE(train.out.find("--resume"), std::string::npos);
  EXPECT_EQ(run("help train").out, train.out);
  EXPECT_EQ(run("help data list").out, run("data list --help").out);
  EXPECT_EQ(run("help").out, help.out);
  expect_refusal(run("help trian"), "did you mean 'train'?");
}

TEST_F(Command, RefusesBadUsageWithOneLine) {
  expect_refusal(run(""), "subcommand");
  expect_refusal(run("trian x.toml"), "unknown command 'trian'; did you mean 'train'?");
  expect_refusal(run("--fast"), "--fast");
  expect_refusal(run("train"), "give a configuration file, or --resume RUN");
  expect_refusal(run("train a.toml --no-such-flag"), "--no-such-flag");
  expect_refusal(run("list"), "subcommand");
  expect_refusal(run("list cell"), "unknown command 'cell'; did you mean 'cells'?");
  expect_refusal(run("gradcheck --cell lstn"), "did you mean 'lstm'?");
}

TEST_F(Command, ListsWhatItKnows) {
  for (const char* kind : {"cells", "heads", "optimizers", "learners", "tasks", "engines"}) {
    const Outcome table = run(std::string("list ") + kind);
    EXPECT_EQ(table.code, 0);
    EXPECT_EQ(table.err, "");
    const nlohmann::json rows = nlohmann::json::parse(run(std::string("list ") + kind + " --json").out);
    ASSERT_FALSE(rows.empty());
    for (const nlohmann::json& row : rows)
      EXPECT_NE(table.out.find(row.at("name").get<std::string>()), std::string::npos);
  }
}

TEST_F(Command, AnOutputThatCannotBeWrittenIsAFailureAndNoCrash) {
  const std::string program = THROUGHTIME_COMMAND;
  const Outcome full = shell(program + " list cells >/dev/full");
  EXPECT_EQ(full.code, 1);
  EXPECT_EQ(full.err, "throughtime: [output] cannot write all of it: No space left on device\n");
  EXPECT_EQ(shell(program + " list cells >/dev/full 2>/dev/full").code, 1);
  EXPECT_EQ(shell(program + " nothing 2>/dev/full").code, 2);
}

TEST_F(Command, HelpOptionsListsThem) {
  const Outcome outcome = run("help options");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_NE(outcome.out.find("train.batch"), std::string::npos);
  EXPECT_NE(run("help options --markdown").out.find("| `batch` | integer | `128` |"), std::string::npos);
}

TEST_F(Command, TrainPrintsATableOnStdoutAndProgressOnStderr) {
  const Outcome outcome = run("train " + config_file(tiny, "first") + " " + config_file(tiny, "second"));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(lines_in(outcome.out), 4u) << outcome.out;
  EXPECT_NE(outcome.out.find("first "), std::string::npos);
  EXPECT_NE(outcome.out.find("second "), std::string::npos);
  EXPECT_NE(outcome.err.find("tape"), std::string::npos);
  EXPECT_NE(outcome.err.find("first: 10/20 iterations"), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find('\x1b'), std::string::npos);
}

TEST_F(Command, TrainQuietIsSilentOnStderr) {
  const Outcome outcome = run("train --quiet " + config_file(tiny));
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.err, "");
  EXPECT_NE(outcome.out, "");
}

TEST_F(Command, TrainJsonIsOneObjectPerRun) {
  const Outcome outcome =
      run("train " + config_file(tiny) + " --json --set train.seed=7 --set train.evaluate_every=10");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(lines_in(outcome.out), 1u);
  const nlohmann::json line = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(line.at("task"), "add");
  EXPECT_EQ(line.at("learner"), "bptt");
  EXPECT_EQ(line.at("cell"), "lstm");
  EXPECT_EQ(line.at("iterations"), 20);
  EXPECT_EQ(line.at("seed"), 7);
  EXPECT_GT(line.at("activation_bytes"), 0);
  EXPECT_EQ(line.at("metrics").at("test_mse"), line.at("metrics").at("test_loss"));
  EXPECT_TRUE(line.at("best").contains("validation_loss"));
}

TEST_F(Command, TrainRefusesBadConfigurationsBeforeItTrains) {
  expect_refusal(run("train no-such-file.toml"), "cannot read no-such-file.toml");
  expect_refusal(run("train " + config_file("[train]\nbacth = 3\n")),
                 ":2: unknown option 'train.bacth'; did you mean 'train.batch'?");
  expect_refusal(run("train " + config_file(tiny) + " --set train.batch=0"), "train.batch must be between 1");
  expect_refusal(run("train " + config_file(tiny, "good") + " " + config_file("[task.add]\nlength = 1\n", "bad")),
                 "task.add.length must be at least 2");
}

TEST_F(Command, AFailedRunExitsWithOne) {
  const Outcome outcome =
      run("train --quiet " + config_file(tiny) + " --set optimizer.name=sgd --set optimizer.rate=1e200");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(lines_in(outcome.err), 1u) << outcome.err;
  EXPECT_NE(outcome.err.find("lower optimizer.rate"), std::string::npos);
}

TEST_F(Command, GradcheckPassesAndShowsTheWorst) {
  const Outcome outcome = run("gradcheck --cell lstm");
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find("worst"), std::string::npos);
  EXPECT_NE(outcome.out.find("softmax"), std::string::npos);
}

}  // namespace
}  // namespace throughtime

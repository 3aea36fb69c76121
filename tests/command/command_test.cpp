#include <fmt/format.h>
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
  expect_refusal(run(""), "[throughtime] give a command: train, ");
  expect_refusal(run("trian x.toml"), "unknown command 'trian'; did you mean 'train'?");
  expect_refusal(run("--fast"), "--fast");
  expect_refusal(run("train"), "give a configuration file, or --resume RUN");
  expect_refusal(run("train a.toml --no-such-flag"), "--no-such-flag");
  expect_refusal(run("list"), "[list] give a command: cells, ");
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

TEST_F(Command, TheResultIsThatOfTheWeightsThatValidationChose) {
  const Outcome outcome = run("train " + config_file(tiny) +
                              " --set train.evaluate_every=1 --set optimizer.rate=0.5 --set train.patience=3");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const nlohmann::json result = nlohmann::json::parse(testing::text_of(path("runs/tiny/result.json")));
  const std::string best = fmt::format("{:.5f}", result.at("best").at("test_mse").get<double>());
  const std::string last = fmt::format("{:.5f}", result.at("metrics").at("test_mse").get<double>());
  ASSERT_NE(best, last);
  EXPECT_LT(outcome.out.find("test, best validation"), outcome.out.find("test, last weights")) << outcome.out;
  EXPECT_LT(outcome.out.find("mse " + best), outcome.out.find("mse " + last)) << outcome.out;
  EXPECT_NE(outcome.err.find("test mse " + best + " (best validation, iteration "), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("); last weights " + last), std::string::npos) << outcome.err;
  const Outcome compared =
      run("compare tiny.toml --learners bptt --set train.evaluate_every=1 --set optimizer.rate=0.5 "
          "--set train.patience=3 --set train.seed=1 --quiet");
  EXPECT_EQ(compared.code, 0) << compared.err;
  EXPECT_LT(compared.out.find("test mse"), compared.out.find("last weights")) << compared.out;
  EXPECT_LT(compared.out.find(best), compared.out.find(last)) << compared.out;
}

TEST_F(Command, WhatIsLongerThanTheDataIsSaid) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += std::to_string(i % 5) + "\n";
  testing::write_text(path("short.csv"), text);
  const std::string series =
      "[task]\nname = \"series\"\nseries.path = \"short.csv\"\nseries.length = 50\n[model]\nhidden = "
      "2\n[train]\niterations = 1\nbatch = 2\n";
  const Outcome cut = run("train " + config_file(series, "short"));
  EXPECT_EQ(cut.code, 0) << cut.err;
  EXPECT_NE(cut.err.find("task.series.length = 50 is longer than the 34 steps of a row (train.batch = 2): windows "
                         "have 34"),
            std::string::npos)
      << cut.err;
  const Outcome fits = run("train --force short.toml --set task.series.length=34");
  EXPECT_EQ(fits.err.find("is longer than"), std::string::npos) << fits.err;
  const std::string tbptt =
      " --set learner.name=tbptt --set learner.tbptt.preset=plain --set learner.tbptt.truncation=";
  const Outcome whole = run("train --force " + config_file(tiny) + tbptt + "5");
  EXPECT_NE(whole.err.find("learner.tbptt.truncation = 5 is longer than the 4 steps of a sequence"), std::string::npos)
      << whole.err;
  EXPECT_EQ(run("train --force tiny.toml" + tbptt + "4").err.find("is longer than"), std::string::npos);
}

TEST_F(Command, HelpNamesTheEnginesThatCanBeUsed) {
  const nlohmann::json engines = nlohmann::json::parse(run("list engines --json").out);
  for (const char* command : {"reproduce", "compare"}) {
    const std::string help = run(std::string(command) + " --help").out;
    for (const nlohmann::json& engine : engines)
      EXPECT_NE(help.find(engine.at("name").get<std::string>()), std::string::npos) << help;
    EXPECT_EQ(help.find("cuda") == std::string::npos, engines.size() == 2) << help;
  }
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
                 "task.add.length must be between 2 and");
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

#include <nlohmann/json.hpp>

#include "command/command_run.h"

namespace throughtime {
namespace {

class DiagnoseCommand : public testing::CommandTest {
 protected:
  std::string config() const {
    return config_file(
        "[task]\nname = \"recall\"\nrecall.length = 40\n[model]\nhidden = 5\n[learner.adaptive_tbptt]\nlags = "
        "20\nburn_in = "
        "5\n"
        "[train]\niterations = 3\nbatch = 6\n[run]\nthreads = 1\n");
  }
};

TEST_F(DiagnoseCommand, AnswersForAConfigurationAndForItsRun) {
  const std::string file = config();
  const testing::Outcome fresh = run("diagnose " + file + " --json");
  ASSERT_EQ(fresh.code, 0) << fresh.err;
  const auto first = nlohmann::json::parse(fresh.out);
  EXPECT_EQ(first["lengths"].size(), 21u);
  EXPECT_EQ(first["positions"], 6);
  EXPECT_EQ(first["measured"], true);
  EXPECT_EQ(first["choices"][2]["delta"], 0.1);

  ASSERT_EQ(run("train " + file).code, 0);
  const testing::Outcome trained = run("diagnose runs/tiny --json --lags 12 --positions 4 --no-measure");
  ASSERT_EQ(trained.code, 0) << trained.err;
  const auto second = nlohmann::json::parse(trained.out);
  EXPECT_EQ(second["lengths"].size(), 13u);
  EXPECT_EQ(second["positions"], 4);
  EXPECT_EQ(second["measured"], "not asked for");
  EXPECT_NE(first["lengths"][1]["phi"], second["lengths"][1]["phi"]);

  const testing::Outcome table = run("diagnose runs/tiny");
  EXPECT_EQ(table.code, 0) << table.err;
  for (const char* part : {"estimated bias", "measured bias", "memory", "Geometric decay: met", "0.9", "0.5", "0.1",
                           "learner.tbptt.truncation ="})
    EXPECT_NE(table.out.find(part), std::string::npos) << part;
}

TEST_F(DiagnoseCommand, TakesOptionsOfTheEstimateForARun) {
  ASSERT_EQ(run("train " + config()).code, 0);
  const testing::Outcome outcome =
      run("diagnose runs/tiny --json --set learner.adaptive_tbptt.lags=9 --set "
          "learner.adaptive_tbptt.decay=max");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(nlohmann::json::parse(outcome.out)["lags"], 9);
  expect_refusal(run("diagnose runs/tiny --set model.hidden=7"), "model.hidden cannot change");
  expect_refusal(run("diagnose runs/tiny --arm a"), "--arm is for configurations");
}

TEST_F(DiagnoseCommand, TakesRowsFromAFileForARunOfAStream) {
  std::string rows = "y\n";
  for (int i = 0; i < 300; ++i) rows += std::to_string(i % 7) + "\n";
  testing::write_text(path("rows.csv"), rows);
  const std::string file = config_file(
      "[task]\nname = \"series\"\nseries.inputs = [\"y\"]\nseries.horizon = 1\n[model]\nhidden = 5\n"
      "[learner]\nname = \"tbptt\"\n[learner.tbptt]\npreset = \"original\"\ntruncation = 3\n[train]\nbatch = "
      "2\n[run]\nthreads = 1\n");
  ASSERT_EQ(run("stream " + file + " --input rows.csv").code, 0);
  expect_refusal(run("diagnose runs/tiny"), "--set task.series.path=FILE");
  const testing::Outcome outcome =
      run("diagnose runs/tiny --json --set task.series.path=rows.csv --set learner.tbptt.lags=20");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(nlohmann::json::parse(outcome.out)["lengths"].size(), 21u);
}

TEST_F(DiagnoseCommand, RefusesWhatCannotBe) {
  const std::string file = config();
  expect_refusal(run("diagnose " + file + " --set task.recall.steps=20"),
                 "longer than a row of the training data (20 steps)");
  expect_refusal(run("diagnose " + file + " --lags 1"), "lags");
  expect_refusal(run("diagnose " + file + " --set learner.adaptive_tbptt.delta=1"), "learner.adaptive_tbptt.delta");
  expect_refusal(run("diagnose " + file + " --set learner.adaptive_tbptt.shortest=200"), "K_min");
  expect_refusal(run("diagnose nowhere.toml"), "nowhere.toml");
}

}  // namespace
}  // namespace throughtime

#include <nlohmann/json.hpp>

#include "command/command_run.h"

namespace throughtime {
namespace {

class DiagnoseCommand : public testing::CommandTest {
 protected:
  std::string config() const {
    return config_file("[task]\nname = \"recall\"\nlength = 40\n[model]\nhidden = 5\n[learner]\nlags = 20\nburn_in = 5\n"
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
  for (const char* part : {"relative bias", "measured", "memory", "geometric decay", "0.9", "0.5", "0.1"})
    EXPECT_NE(table.out.find(part), std::string::npos) << part;
}

TEST_F(DiagnoseCommand, RefusesWhatCannotBe) {
  const std::string file = config();
  expect_refusal(run("diagnose " + file + " --set task.steps=20"), "longer than a row of the training data (20 steps)");
  expect_refusal(run("diagnose " + file + " --lags 1"), "lags");
  expect_refusal(run("diagnose " + file + " --set learner.delta=1"), "learner.delta");
  expect_refusal(run("diagnose " + file + " --set learner.shortest=200"), "K_min");
  expect_refusal(run("diagnose nowhere.toml"), "nowhere.toml");
}

}  // namespace
}  // namespace throughtime

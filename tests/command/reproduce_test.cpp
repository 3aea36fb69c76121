#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "command/command_run.h"

namespace throughtime {
namespace {

using testing::Outcome;
using testing::text_of;
using testing::write_text;

class Reproduce : public testing::CommandTest {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(path("experiments/paper"));
    write_text(path("experiments/paper/figure-0.toml"),
               "[task]\nlength = 4\n[model]\nhidden = 4\n[train]\niterations = 20\nbatch = 4\nreport_every = 5\n"
               "[result]\ntitle = 'Figure 0'\npaper = 'Nobody'\nclaim = 'bptt learns'\nmetric = 'train_loss'\n"
               "[result.values]\nlearns = 0.1\n[result.quick]\ntrain.iterations = 10\n"
               "[[result.rule]]\nkind = 'less'\narms = ['learns']\nthan = ['stays']\ntrend = true\n"
               "[[arm]]\nname = 'learns'\n[[arm]]\nname = 'stays'\noptimizer.rate = 0.0\n");
  }
};

TEST_F(Reproduce, RunsTheArmsJudgesAndReports) {
  const Outcome outcome = run("reproduce paper/figure-0 --engine reference --seeds 2 --store --quiet");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("paper/figure-0, quick scale: "), std::string::npos) << outcome.out;
  EXPECT_NE(text_of(path("runs/reproduce/paper/figure-0-quick/report.html")).find("Verdict: "), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(path("experiments/results/paper/figure-0.quick.json")));
  EXPECT_EQ(run("reproduce --atlas").out, run("reproduce --atlas").out);
  EXPECT_NE(run("reproduce --list").out.find("2 x 3"), std::string::npos);
}

TEST_F(Reproduce, GoesOnWithoutRedoingWhatIsFinished) {
  const std::string command = "reproduce paper/figure-0 --engine reference --seeds 2 --quiet --directory d";
  ASSERT_EQ(run(command).code, 0);
  const std::string values = text_of(path("d/values.json"));
  const auto finished = std::filesystem::last_write_time(path("d/learns/seed-1/result.json"));
  // As if it had been stopped in the last arm: no result, only its checkpoint.
  std::filesystem::remove(path("d/stays/seed-2/result.json"));
  std::filesystem::remove(path("d/values.json"));
  const Outcome again = run(command);
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(std::filesystem::last_write_time(path("d/learns/seed-1/result.json")), finished);
  EXPECT_TRUE(std::filesystem::exists(path("d/stays/seed-2/result.json")));
  EXPECT_EQ(nlohmann::json::parse(text_of(path("d/values.json")))["arms"], nlohmann::json::parse(values)["arms"]);
}

TEST_F(Reproduce, RefusesUnknownResultsAndMisspeltKeys) {
  expect_refusal(run("reproduce paper/figure-1"), "did you mean 'paper/figure-0'?");
  expect_refusal(run("reproduce"), "--list");
  const std::string file = path("experiments/paper/figure-0.toml");
  std::string text = text_of(file);
  write_text(file, text.replace(text.find("claim"), 5, "clain"));
  expect_refusal(run("reproduce --list"), "did you mean 'claim'?");
}

}  // namespace
}  // namespace throughtime

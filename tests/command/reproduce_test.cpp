#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "command/command_run.h"
#include "throughtime/engine.h"

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
               "[task.add]\nlength = 4\n[model]\nhidden = 4\n[train]\niterations = 20\nbatch = 4\nreport_every = 5\n"
               "[result]\ntitle = 'Figure 0'\npaper = 'Nobody'\nmetric = 'train_loss'\n"
               "[result.quick]\ntrain.iterations = 10\n"
               "[[result.claim]]\nsays = 'bptt learns'\nvalues = { learns = 0.1 }\n"
               "[[result.claim.rule]]\nkind = 'less'\narms = ['learns']\nthan = ['stays']\ntrend = true\n"
               "[[result.claim]]\nsays = 'a second thing'\n"
               "[[result.claim.rule]]\nkind = 'above'\narms = ['stays']\nlow = 0.0\n"
               "[[arm]]\nname = 'learns'\n[[arm]]\nname = 'stays'\noptimizer.rate = 0.0\n");
  }
};

TEST_F(Reproduce, RunsTheArmsJudgesAndReports) {
  const Outcome outcome = run("reproduce paper/figure-0 --engine reference --seeds 2 --store --quiet");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("paper/figure-0, quick scale"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("a second thing"), std::string::npos) << outcome.out;
  const std::string page = text_of(path("runs/reproduce/paper/figure-0-quick/report.html"));
  EXPECT_NE(page.find("Verdicts, quick scale"), std::string::npos);
  EXPECT_NE(page.find("a second thing"), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(path("experiments/results/paper/figure-0.quick.json")));
  EXPECT_NE(run("reproduce --atlas pages").err.find("wrote pages/reproduction/paper.md"), std::string::npos);
  const std::string details = text_of(path("pages/reproduction/paper.md"));
  EXPECT_NE(details.find("](../../experiments/paper/figure-0.toml)"), std::string::npos) << details;
  run("reproduce --atlas pages");
  EXPECT_EQ(text_of(path("pages/reproduction/paper.md")), details);
  expect_refusal(run("reproduce paper/figure-0 --atlas pages"), "it needs --store");
  EXPECT_NE(run("reproduce --list").out.find("2 x 3 runs"), std::string::npos);
}

TEST_F(Reproduce, GoesOnWithoutRedoingWhatIsFinished) {
  const std::string command =
      "reproduce paper/figure-0 --engine reference --seeds 2 --quiet --directory d --checkpoints";
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

TEST_F(Reproduce, KeepsNoWeightsUnlessItIsTold) {
  const std::string command = "reproduce paper/figure-0 --engine reference --seeds 1 --quiet --directory ";
  ASSERT_EQ(run(command + "numbers").code, 0);
  EXPECT_FALSE(std::filesystem::exists(path("numbers/learns/seed-1/checkpoints")));
  EXPECT_TRUE(std::filesystem::exists(path("numbers/learns/seed-1/metrics.jsonl")));
  ASSERT_EQ(run(command + "all --checkpoints").code, 0);
  EXPECT_TRUE(std::filesystem::exists(path("all/learns/seed-1/checkpoints/last.safetensors")));
}

TEST_F(Reproduce, ArmsThatAreAskedForJoinThoseThatWereFinishedBefore) {
  const std::string command = "reproduce paper/figure-0 --engine reference --seeds 2 --quiet --store";
  const auto stored = [&] {
    return nlohmann::json::parse(text_of(path("experiments/results/paper/figure-0.quick.json")))["arms"];
  };
  const Outcome part = run(command + " --arms stays");
  EXPECT_EQ(part.code, 0) << part.err;
  EXPECT_FALSE(std::filesystem::exists(path("runs/reproduce/paper/figure-0-quick/learns")));
  EXPECT_TRUE(stored().contains("stays") && !stored().contains("learns")) << stored();
  EXPECT_NE(run("reproduce --list").out.find("2 x 3 runs  "), std::string::npos) << "no time of half the runs";
  ASSERT_EQ(run(command + " --arms learns").code, 0);
  EXPECT_TRUE(stored().contains("stays") && stored().contains("learns")) << stored();
  expect_refusal(run(command + " --arms stay"), "did you mean 'stays'?");
  expect_refusal(run(command + " paper/figure-0 --arms stays"), "--arms belongs to one result, got 2");
}

TEST_F(Reproduce, SeveralRunsAtATimeGiveTheSameNumbers) {
  const std::string command = "reproduce paper/figure-0 --engine reference --seeds 2 --quiet --directory ";
  ASSERT_EQ(run(command + "one --jobs 1").code, 0);
  ASSERT_EQ(run(command + "many --jobs 4").code, 0);
  const auto numbers = [&](const char* name) { return nlohmann::json::parse(text_of(path(name)))["arms"]; };
  EXPECT_EQ(numbers("one/values.json"), numbers("many/values.json"));
  EXPECT_EQ(run(command + "one --jobs 4").code, 0) << "another number of runs at a time is no other configuration";
}

TEST_F(Reproduce, AnArmThatFailsDoesNotStopTheOthers) {
  // Something that is no run lies where an arm wants to go.
  std::filesystem::create_directories(path("d/stays"));
  write_text(path("d/stays/seed-1"), "a file");
  const Outcome outcome = run("reproduce paper/figure-0 --engine reference --seeds 2 --store --directory d");
  EXPECT_EQ(outcome.code, 1) << outcome.err;
  EXPECT_NE(outcome.err.find("stays/seed-1 failed: "), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("not every run of paper/figure-0 has an answer"), std::string::npos) << outcome.err;
  EXPECT_TRUE(std::filesystem::exists(path("d/stays/seed-2/result.json")));
  EXPECT_FALSE(std::filesystem::exists(path("experiments/results/paper/figure-0.quick.json")))
      << "not all there: not kept";
  std::filesystem::remove(path("d/stays/seed-1"));
  EXPECT_EQ(run("reproduce paper/figure-0 --engine reference --seeds 2 --store --quiet --directory d").code, 0);
}

TEST_F(Reproduce, ALossThatIsNoNumberIsAnAnswer) {
  std::string text = text_of(path("experiments/paper/figure-0.toml"));
  write_text(path("experiments/paper/figure-0.toml"), text.replace(text.find("rate = 0.0"), 10, "rate = 1e300"));
  const Outcome outcome = run("reproduce paper/figure-0 --engine reference --seeds 2 --directory d");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("failed: "), std::string::npos) << outcome.err;
  EXPECT_TRUE(
      nlohmann::json::parse(text_of(path("d/values.json")))["arms"]["stays"]["train_loss, last"]["1"].is_null());
}

TEST_F(Reproduce, AnInterruptLeavesEverythingToGoOn) {
  const std::string command =
      "reproduce paper/figure-0 --engine reference --quiet --scale full --seeds 2 --jobs 2 --directory ";
  std::string text = text_of(path("experiments/paper/figure-0.toml"));
  write_text(path("experiments/paper/figure-0.toml"),
             text.replace(text.find("iterations = 20"), 15, "iterations = 3000"));
  const std::string program = std::string(THROUGHTIME_COMMAND) + " " + command;
  const Outcome stopped =
      shell(program +
            "d & job=$!; while ! grep -q iteration d/learns/seed-1/metrics.jsonl; do sleep 0.02; done; "
            "kill -TERM $job; wait $job");
  EXPECT_EQ(stopped.code, 143) << stopped.err;
  EXPECT_NE(stopped.err.find("the same command goes on from there"), std::string::npos) << stopped.err;
  EXPECT_FALSE(std::filesystem::exists(path("d/values.json")));
  ASSERT_EQ(run(command + "d").code, 0);
  ASSERT_EQ(run(command + "whole").code, 0);
  const auto numbers = [&](const char* name) { return nlohmann::json::parse(text_of(path(name)))["arms"]; };
  EXPECT_EQ(numbers("d/values.json"), numbers("whole/values.json"));
}

TEST_F(Reproduce, EstimatesAreKeptForTheList) {
  ASSERT_EQ(run("reproduce paper/figure-0 --engine reference --estimate --store").code, 0);
  EXPECT_NE(run("reproduce --list").out.find("2 x 3 runs, ~"), std::string::npos) << run("reproduce --list").out;
}

/// A second result, whose quick scale can decide nothing, and a third one that is cheaper than the first.
class ReproduceAll : public Reproduce {
 protected:
  void SetUp() override {
    Reproduce::SetUp();
    const std::string text = text_of(path("experiments/paper/figure-0.toml"));
    const auto with = [&](const std::string& line) {
      std::string other = text;
      return other.insert(other.find("[result.quick]"), line);
    };
    write_text(path("experiments/paper/figure-1.toml"), with("needs_full = 'it is too short'\n"));
    write_text(path("experiments/paper/figure-2.toml"), with("quick_arms = ['stays']\n"));
    std::filesystem::create_directories(path("experiments/results"));
    write_text(path("experiments/results/costs.json"),
               R"({"paper/figure-0": {"quick": 60, "full": 7200}, "paper/figure-1": {"quick": 1, "full": 5400},
                   "paper/figure-2": {"quick": 20, "full": 3600}})");
  }
};

TEST_F(ReproduceAll, RunsWhatTheScaleCanDecideTheCheapestFirst) {
  const Outcome outcome = run("reproduce --all --engine reference --seeds 2 --jobs 1 --store");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("not run: paper/figure-1: needs full scale, ~1.5 core-hours: it is too short"),
            std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.err.find("not run: paper/figure-2, claim 1: quick scale does not run learns"), std::string::npos)
      << outcome.err;
  const std::size_t cheap = outcome.err.find("result 1 of 2: paper/figure-2; about 80 s left on 1 core"),
                    dear = outcome.err.find("result 2 of 2: paper/figure-0; about 60 s left on 1 core");
  EXPECT_NE(dear, std::string::npos) << outcome.err;
  EXPECT_LT(cheap, dear) << outcome.err;
  EXPECT_LT(outcome.err.find("not run: "), cheap) << "said beforehand";
  EXPECT_FALSE(std::filesystem::exists(path("runs/reproduce/paper/figure-1-quick")));
  EXPECT_FALSE(std::filesystem::exists(path("experiments/results/paper/figure-1.quick.json")));
  EXPECT_FALSE(std::filesystem::exists(path("runs/reproduce/paper/figure-2-quick/learns")));
  EXPECT_TRUE(std::filesystem::exists(path("experiments/results/paper/figure-0.quick.json")));
  expect_refusal(run("reproduce --all --directory d"), "--directory");
}

TEST_F(ReproduceAll, MakesTheAtlasInOneGoAndGoesOn) {
  const std::string command = "reproduce --all --engine reference --seeds 2 --quiet --store --atlas pages";
  const Outcome outcome = run(command);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const std::string overview = text_of(path("pages/reproduction.md"));
  const std::string details = text_of(path("pages/reproduction/paper.md"));
  EXPECT_TRUE(overview.starts_with("# Reproduction\n")) << overview;
  EXPECT_NE(details.find("(n = 2) | quick scale |"), std::string::npos) << details;
  EXPECT_NE(overview.find("It needs full scale: it is too short."), std::string::npos) << overview;
  EXPECT_EQ(run("reproduce --atlas again").code, 0);
  EXPECT_EQ(text_of(path("again/reproduction.md")), overview) << "the same page as that of the stored results";
  // As if it had been stopped: one run without a result.
  const auto finished =
      std::filesystem::last_write_time(path("runs/reproduce/paper/figure-2-quick/stays/seed-1/result.json"));
  std::filesystem::remove_all(path("runs/reproduce/paper/figure-0-quick/stays/seed-2"));
  EXPECT_EQ(run(command).out, outcome.out);
  EXPECT_EQ(text_of(path("pages/reproduction.md")), overview);
  EXPECT_EQ(text_of(path("pages/reproduction/paper.md")), details);
  EXPECT_EQ(std::filesystem::last_write_time(path("runs/reproduce/paper/figure-2-quick/stays/seed-1/result.json")),
            finished)
      << "not done again";
}

TEST_F(Reproduce, SaysWhichEnginesCanBeUsed) {
  expect_refusal(run("reproduce paper/figure-0 --engine cdua"), "did you mean 'cuda'?");
  if (!find_engine("cuda").usable())
    expect_refusal(run("reproduce paper/figure-0 --engine cuda"), find_engine("cuda").missing());
}

TEST_F(Reproduce, JudgesFinishedRunsOfAnEngineThatIsNotThere) {
  const std::string command = "reproduce paper/figure-0 --seeds 2 --quiet --directory d --engine ";
  const Outcome first = run(command + "reference");
  ASSERT_EQ(first.code, 0) << first.err;
  for (const std::string arm : {"learns", "stays"})
    for (const std::string seed : {"1", "2"}) {  // as if a GPU had computed them
      const std::string file = path("d/" + arm + "/seed-" + seed + "/config.toml");
      std::string text = text_of(file);
      const std::string reference = "engine = \"reference\"";
      ASSERT_NE(text.find(reference), std::string::npos) << text;
      write_text(file, text.replace(text.find(reference), reference.size(), "engine = \"cuda\""));
    }
  const Outcome again = run(command + "cuda");
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(again.out, first.out);
  if (find_engine("cuda").usable()) GTEST_SKIP() << "here it could go on";
  std::filesystem::remove(path("d/stays/seed-2/result.json"));
  expect_refusal(run(command + "cuda"), "the engine 'cuda' cannot be used here");
}

TEST_F(Reproduce, RefusesAScoreThatNoTaskHas) {
  const std::string file = path("experiments/paper/figure-0.toml"), text = text_of(file);
  const std::string metric = "metric = 'train_loss'";
  const auto with = [&](const std::string& other) {
    std::string changed = text;
    write_text(file, changed.replace(changed.find(metric), metric.size(), other));
  };
  for (const std::string name : {"best.test_mea", "metrics.test_mea", "validation_mea"}) {
    with("metric = '" + name + "'\nmeasure = 'result'");
    expect_refusal(run("reproduce --list"), "unknown score of a split 'mea'; did you mean 'mae'?");
  }
  with("metric = 'best.test_loss'\nmeasure = 'result'");
  EXPECT_EQ(run("reproduce --list").code, 0);
}

TEST_F(Reproduce, RefusesUnknownResultsAndMisspeltKeys) {
  expect_refusal(run("reproduce paper/figure-1"), "did you mean 'paper/figure-0'?");
  expect_refusal(run("reproduce"), "--list");
  const std::string file = path("experiments/paper/figure-0.toml");
  std::string text = text_of(file);
  write_text(file, text.replace(text.find("title"), 5, "titel"));
  expect_refusal(run("reproduce --list"), "did you mean 'title'?");
}

}  // namespace
}  // namespace throughtime

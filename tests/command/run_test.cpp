#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "command/command_run.h"
#include "support/metrics.h"

namespace throughtime {
namespace {

using testing::lines_in;
using testing::metrics_without_times;
using testing::Outcome;
using testing::text_of;
using testing::tiny;
using testing::write_text;

const char* const longer =
    "[task.add]\nlength = 30\n[model]\nhidden = 16\n[learner]\nname = \"tbptt\"\ntbptt.preset = \"paper\"\n"
    "tbptt.truncation = 5\n"
    "[optimizer]\nschedule = \"plateau\"\n[train]\niterations = 6000\nbatch = 8\nevaluate_every = 200\n"
    "evaluate_batches = 2\n[run]\nthreads = 1\ncheckpoint_every = 37\n";

/// The program as it runs beside the test.
class Runs : public testing::CommandTest {
 protected:
  pid_t start(std::vector<std::string> arguments) const {
    const pid_t child = fork();
    if (child != 0) return child;
    if (chdir(path("").c_str()) != 0) _exit(99);
    const int null = open("/dev/null", O_RDWR);
    const int log = open("started", O_WRONLY | O_CREAT | O_APPEND, 0666);
    dup2(null, 0);
    dup2(log, 1);
    dup2(log, 2);
    arguments.insert(arguments.begin(), THROUGHTIME_COMMAND);
    std::vector<char*> pointers;
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    execv(THROUGHTIME_COMMAND, pointers.data());
    _exit(98);
  }

  static int wait_for(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return status;
  }

  /// Waits until a file is there, at most a minute.
  void wait_for_file(const std::string& name) const {
    for (int i = 0; i < 6000 && !std::filesystem::exists(path(name)); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
};

TEST_F(Runs, ASignalFinishesTheStepSavesAndSaysHowToGoOn) {
  for (const auto& [signal, code] : {std::pair(SIGINT, 130), std::pair(SIGTERM, 143)}) {
    const std::string name = "parts" + std::to_string(code);
    config_file(longer, name);
    const pid_t child = start({"train", name + ".toml", "--set", "train.iterations=100000000"});
    wait_for_file("runs/" + name + "/checkpoints/last.safetensors");
    kill(child, signal);
    const int status = wait_for(child);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), code);
    EXPECT_NE(text_of(path("started")).find("go on with: throughtime train --resume runs/" + name), std::string::npos);
    // It goes on after the last step that was done.
    const nlohmann::json saved = nlohmann::json::parse(run("inspect --json runs/" + name).out);
    const std::string done = saved.at("metadata").at("throughtime.iteration").get<std::string>();
    const Outcome resumed = run("train --resume runs/" + name + " --set train.iterations=" + done);
    EXPECT_EQ(resumed.code, 0) << resumed.err;
    EXPECT_NE(resumed.err.find("goes on at iteration " + done), std::string::npos) << resumed.err;
  }
}

TEST_F(Runs, KilledAtAnyMomentAndResumedEqualsUninterrupted) {
  ASSERT_EQ(run("train --quiet " + config_file(longer, "whole")).code, 0);
  config_file(longer, "parts");
  const int kills = std::getenv("THROUGHTIME_FULL") != nullptr ? 100 : 10;
  std::mt19937 random(7);
  std::uniform_int_distribution<int> pause(1, 120);  // milliseconds
  for (int i = 0; i < kills; ++i) {
    const bool begun = std::filesystem::exists(path("runs/parts/config.toml"));
    const pid_t child = begun ? start({"train", "--quiet", "--resume", "runs/parts"})
                              : start({"train", "--quiet", "--force", "parts.toml"});
    std::this_thread::sleep_for(std::chrono::milliseconds(pause(random)));
    kill(child, SIGKILL);
    const int status = wait_for(child);
    if (WIFEXITED(status)) {
      ASSERT_EQ(WEXITSTATUS(status), 0) << text_of(path("started"));
    }
  }
  const bool begun = std::filesystem::exists(path("runs/parts/config.toml"));
  const Outcome last = run(begun ? "train --quiet --resume runs/parts" : "train --quiet --force parts.toml");
  ASSERT_EQ(last.code, 0) << last.err;
  EXPECT_EQ(metrics_without_times(path("runs/whole")), metrics_without_times(path("runs/parts")));
  const Outcome a = run("export runs/whole -o whole.safetensors"), b = run("export runs/parts -o parts.safetensors");
  ASSERT_EQ(a.code + b.code, 0) << a.err << b.err;
  const auto data = [&](const std::string& name) {
    const std::string text = text_of(path(name));
    std::uint64_t header = 0;
    text.copy(reinterpret_cast<char*>(&header), 8);
    return text.substr(8 + header);
  };
  EXPECT_EQ(data("whole.safetensors"), data("parts.safetensors"));
}

TEST_F(Runs, AFullDiskStopsTheRunAndKeepsTheLastCheckpoint) {
  const std::filesystem::path small = path("small");
  std::filesystem::create_directories(small);
  if (mount("tmpfs", small.c_str(), "tmpfs", 0, "size=200k") != 0) GTEST_SKIP() << "mounting needs root";
  config_file(longer);
  const Outcome outcome = run("train --quiet tiny.toml --set run.directory=small/run --set train.report_every=1");
  EXPECT_EQ(outcome.code, 1) << outcome.out << outcome.err;
  EXPECT_NE(outcome.err.find("No space left on device; make room and resume the run"), std::string::npos)
      << outcome.err;
  EXPECT_EQ(lines_in(outcome.err), 1u) << outcome.err;
  EXPECT_EQ(run("inspect small/run").code, 0);
  // With room again it goes on.
  ASSERT_EQ(mount("tmpfs", small.c_str(), "tmpfs", MS_REMOUNT, "size=4m"), 0);
  const Outcome resumed = run("train --quiet --resume small/run");
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(umount2(small.c_str(), MNT_DETACH), 0);
}

TEST_F(Runs, ARunThatDivergedSaysSo) {
  config_file(
      "[task]\nname = \"add\"\nadd.length = 10\n[model]\ncell = \"rnn_relu\"\nhidden = 4\n[learner]\nname = \"bptt\"\n"
      "[optimizer]\nname = \"adam\"\nrate = 30.0\n[train]\niterations = 20\nbatch = 4\n[run]\nthreads = 1\n",
      "wild");
  for (const char* quiet : {"", " --quiet"}) {
    const Outcome outcome = run(std::string("train wild.toml --force") + quiet);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_NE(outcome.err.find("throughtime: warning: wild has diverged, or learned nothing: its test mse is"),
              std::string::npos)
        << outcome.err;
    EXPECT_NE(outcome.out.find(", diverged"), std::string::npos) << outcome.out;
  }
  EXPECT_NE(text_of(path("runs/wild/result.json")).find("\"diverged\":true"), std::string::npos);
  EXPECT_NE(text_of(path("runs/wild/log.txt")).find("wild has diverged"), std::string::npos);
  EXPECT_NE(run("report runs/wild -o page.html").code, 2);
  EXPECT_NE(text_of(path("page.html")).find("1, 1 diverged"), std::string::npos);
}

TEST_F(Runs, ALossBeyondAllBoundsIsAFailure) {
  // Weights of a hundred thousand: the loss is finite and says nothing.
  config_file(
      "[task]\nname = \"add\"\nadd.length = 20\n[model]\ncell = \"rnn_relu\"\nhidden = 4\n[optimizer]\nname = "
      "\"adam\"\n"
      "rate = 100000.0\n[train]\niterations = 3\nbatch = 4\n[run]\nengine = \"reference\"\n",
      "wild");
  const Outcome outcome = run("train wild.toml --quiet");
  EXPECT_EQ(outcome.code, 1) << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find(", diverged"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.err.find("[train] wild ended with a test mse of "), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find(": that is no result\n"), std::string::npos) << outcome.err;
  EXPECT_NE(text_of(path("runs/wild/result.json")).find("\"diverged\":true"), std::string::npos);
}

TEST_F(Runs, AnExistingRunIsNotOverwritten) {
  config_file(tiny);
  EXPECT_EQ(run("train --quiet tiny.toml").code, 0);
  expect_refusal(run("train --quiet tiny.toml"), "--resume runs/tiny");
  EXPECT_EQ(run("train --quiet tiny.toml --force").code, 0);
  expect_refusal(run("train tiny.toml --resume runs/tiny"), "no configuration file");
  expect_refusal(run("train --resume runs/none"), "no such directory");
  expect_refusal(run("train --previous"), "nothing to train");
}

TEST_F(Runs, ADamagedCheckpointIsRefusedAndTheOlderOneOffered) {
  config_file(tiny);
  ASSERT_EQ(run("train --quiet tiny.toml --set run.checkpoint_every=5").code, 0);
  const std::string good = text_of(path("runs/tiny/checkpoints/last.safetensors"));
  write_text(path("runs/tiny/checkpoints/last.safetensors"), good.substr(0, good.size() / 2));
  expect_refusal(run("train --quiet --resume runs/tiny"), "add --previous");
  const Outcome outcome = run("train --quiet --resume runs/tiny --previous --json");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(nlohmann::json::parse(outcome.out).at("iterations"), 20);
}

TEST_F(Runs, TrainsEveryArmSideBySide) {
  config_file(
      std::string(tiny) +
      "[[arm]]\nname = \"slow\"\noptimizer.rate = 1e-5\n[[arm]]\nname = \"fast\"\noptimizer = { rate = 0.1 }\n");
  const Outcome all = run("train --quiet tiny.toml");
  EXPECT_EQ(all.code, 0) << all.err;
  EXPECT_EQ(lines_in(all.out), 4u) << all.out;
  EXPECT_TRUE(std::filesystem::exists(path("runs/tiny/slow/config.toml")));
  EXPECT_NE(text_of(path("runs/tiny/fast/config.toml")).find("rate = 0.1"), std::string::npos);
  const Outcome one = run("train --quiet tiny.toml --arm fast --force --json");
  EXPECT_EQ(nlohmann::json::parse(one.out).at("run"), "runs/tiny/fast");
  expect_refusal(run("train tiny.toml --arm fats"), "did you mean 'fast'?");
  expect_refusal(run("compare tiny.toml --learners bptt"), "pick one with --arm");
}

TEST_F(Runs, ComparesLearnersOverSeeds) {
  config_file(std::string(tiny) + "[learner.tbptt]\npreset = \"plain\"\ntruncation = 2\n");
  const Outcome table = run("compare --quiet tiny.toml --learners bptt,tbptt --seeds 2");
  EXPECT_EQ(table.code, 0) << table.err;
  EXPECT_EQ(lines_in(table.out), 4u) << table.out;
  EXPECT_NE(table.out.find("±"), std::string::npos);
  // Everything is there: the second time nothing is trained, and the numbers are the same.
  const Outcome again = run("compare tiny.toml --learners bptt,tbptt --seeds 2");
  EXPECT_EQ(again.out, table.out);
  EXPECT_EQ(again.err, "");
  const Outcome json = run("compare --quiet tiny.toml --learners bptt --seeds 2 --json");
  EXPECT_EQ(nlohmann::json::parse(json.out).at("runs").size(), 2u);
  expect_refusal(run("compare tiny.toml --learners bptt,tbpt"), "did you mean 'tbptt'?");
  // An option that one of the learners reads is taken, one that none reads is refused.
  const std::string both = "compare --quiet tiny.toml --learners bptt,tbptt --set run.name=other ";
  EXPECT_EQ(run(both + "--set learner.tbptt.truncation=3").code, 0);
  expect_refusal(run(both + "--set learner.fptt.windows=3"), "learner.fptt.windows is an option of the learner fptt");
}

TEST_F(Runs, ComparesArmsOverSeeds) {
  config_file(std::string(tiny) +
              "[[arm]]\nname = \"whole\"\n[[arm]]\nname = \"halves\"\nlearner.name = \"fptt\"\n"
              "learner.fptt.windows = 2\ntrain.iterations = 5\n");
  const Outcome table = run("compare --quiet tiny.toml --seeds 2");
  EXPECT_EQ(table.code, 0) << table.err;
  EXPECT_EQ(lines_in(table.out), 4u) << table.out;
  EXPECT_TRUE(table.out.starts_with("arm")) << table.out;
  const Outcome json = run("compare --quiet tiny.toml --seeds 2 --arms halves --json");
  const auto halves = nlohmann::json::parse(json.out);
  EXPECT_EQ(halves.at("arm"), "halves");
  EXPECT_EQ(halves.at("updates_mean"), 10) << "two windows in each of five iterations";
  EXPECT_EQ(halves.at("runs").at(1), "runs/tiny-compare/halves-seed-2");
}

TEST_F(Runs, ComparesSideBySideWhatItComparesInTurn) {
  config_file(std::string(tiny) + "[learner.tbptt]\npreset = \"plain\"\ntruncation = 2\n");
  const auto numbers = [&](const std::string& options) {
    const Outcome outcome = run("compare --quiet --json tiny.toml --learners bptt,tbptt --seeds 2 " + options);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    std::vector<double> means;
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);)
      means.push_back(nlohmann::json::parse(line).at("test_mean").get<double>());
    return means;
  };
  const std::vector<double> in_turn = numbers("--set run.name=turn");
  EXPECT_EQ(in_turn.size(), 2u);
  EXPECT_EQ(numbers("--set run.name=beside --jobs 3"), in_turn);
  EXPECT_EQ(numbers("--set run.name=reference --engine reference --jobs 2").size(), 2u);
  EXPECT_NE(text_of(path("runs/reference-compare/bptt-seed-1/config.toml")).find("engine = \"reference\""),
            std::string::npos);
  expect_refusal(run("compare tiny.toml --learners bptt --engine cpx"), "did you mean");
  // A loss that is no number is an answer, side by side too.
  const Outcome wild =
      run("compare --quiet tiny.toml --learners bptt --set run.name=wild --set optimizer.name=sgd --set "
          "optimizer.rate=1e300 "
          "--jobs 2");
  EXPECT_EQ(wild.code, 0) << wild.err;
  EXPECT_NE(wild.out.find("1       1"), std::string::npos) << wild.out;
}

TEST_F(Runs, TunesOnValidationAndTrainsTheBest) {
  config_file(std::string(tiny) + "[optimizer]\nname = \"sgd\"\n");
  expect_refusal(run("tune tiny.toml --grid optimizer.rate=0.1"), "train.evaluate_every");
  const std::string command =
      "tune --quiet tiny.toml --set train.evaluate_every=10 --grid optimizer.rate=0.0,0.1,1e200 --grid train.batch=2,4";
  const Outcome outcome = run(command + " --json");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const nlohmann::json line = nlohmann::json::parse(outcome.out);
  ASSERT_EQ(line.at("trials").size(), 6u);
  double lowest = 1e300;
  std::string best;
  for (const nlohmann::json& trial : line.at("trials")) {
    const bool wild = trial.at("setting").get<std::string>().find("1e200") != std::string::npos;
    EXPECT_EQ(trial.at("validation_loss").is_null(), wild);
    if (wild || trial.at("validation_loss").get<double>() >= lowest) continue;
    lowest = trial.at("validation_loss").get<double>();
    best = trial.at("setting").get<std::string>();
  }
  EXPECT_EQ(line.at("best"), best);
  EXPECT_TRUE(line.at("test_mse").is_number());
  // No trial has looked at the test data.
  for (const nlohmann::json& trial : line.at("trials"))
    EXPECT_EQ(text_of(path(trial.at("run").get<std::string>() + "/metrics.jsonl")).find("test"), std::string::npos);
  EXPECT_EQ(run(command + " --json").out, outcome.out);
  expect_refusal(run("tune tiny.toml --set train.evaluate_every=10 --grid optimizer.rat=1,2"),
                 "did you mean 'optimizer.rate'?");
}

TEST_F(Runs, AKilledTuneGoesOnToTheSameEnd) {
  config_file(longer, "whole");
  config_file(longer, "parts");
  const std::string arguments = " --grid optimizer.rate=0.01,0.001 --set train.iterations=400";
  const Outcome whole = run("tune --quiet --json whole.toml" + arguments);
  ASSERT_EQ(whole.code, 0) << whole.err;
  const pid_t child =
      start({"tune", "--quiet", "parts.toml", "--grid", "optimizer.rate=0.01,0.001", "--set", "train.iterations=400"});
  wait_for_file("runs/parts-tune/optimizer.rate=0.001/checkpoints/last.safetensors");  // in the second trial
  kill(child, SIGKILL);
  wait_for(child);
  const Outcome parts = run("tune --quiet --json parts.toml" + arguments);
  ASSERT_EQ(parts.code, 0) << parts.err;
  const nlohmann::json a = nlohmann::json::parse(whole.out), b = nlohmann::json::parse(parts.out);
  EXPECT_EQ(a.at("best"), b.at("best"));
  EXPECT_EQ(a.at("test_loss"), b.at("test_loss"));
  EXPECT_NE(b.at("trained_on").get<std::string>().find("nothing was held out"), std::string::npos);
  for (const char* trial : {"optimizer.rate=0.01", "optimizer.rate=0.001"})
    EXPECT_EQ(metrics_without_times(path(std::string("runs/whole-tune/") + trial)),
              metrics_without_times(path(std::string("runs/parts-tune/") + trial)));
}

}  // namespace
}  // namespace throughtime

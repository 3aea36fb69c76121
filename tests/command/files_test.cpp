// What the command does to files that are not its own, and what others do to its files.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

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

constexpr const char* command = THROUGHTIME_COMMAND;

class Files : public testing::CommandTest {
 protected:
  void make_run(const std::string& more = "") const {
    config_file(tiny);
    const Outcome outcome = run("train --quiet tiny.toml " + more);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
  }
  /// Files that are there after a command has ended beside those that should be.
  std::size_t leftovers(const std::string& folder = "") const {
    std::size_t found = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path(folder)))
      found += entry.path().string().find("partial") != std::string::npos;
    return found;
  }
};

TEST_F(Files, ForceTakesNoDirectoryThatHoldsNoRun) {
  config_file(tiny);
  for (const char* file : {"foreign/checkpoints/thesis.txt", "foreign/task/list.txt", "foreign/log.txt"}) {
    std::filesystem::create_directories(path(file).parent_path());
    write_text(path(file), "mine");
  }
  const std::string arguments = "train --quiet tiny.toml --set run.directory=" + path("foreign").string();
  expect_refusal(run(arguments), "holds no run");
  expect_refusal(run(arguments + " --force"), "holds no run");
  write_text(path("foreign/config.toml"), "[package]\n");  // other programs have one, too
  expect_refusal(run(arguments + " --force"), "holds no run");
  for (const char* file : {"foreign/checkpoints/thesis.txt", "foreign/task/list.txt", "foreign/log.txt"})
    EXPECT_EQ(text_of(path(file)), "mine");
}

TEST_F(Files, ForceOverwritesWhatARunWroteAndNothingElse) {
  make_run();
  for (const char* file : {"notes.txt", "task/notes.txt", "checkpoints/notes.txt"})
    write_text(path("runs/tiny") / file, "mine");
  std::filesystem::create_directory_symlink("/", path("runs/tiny/link"));
  const Outcome again = run("train --quiet --force tiny.toml --set train.iterations=3");
  ASSERT_EQ(again.code, 0) << again.err;
  for (const char* file : {"notes.txt", "task/notes.txt", "checkpoints/notes.txt"})
    EXPECT_EQ(text_of(path("runs/tiny") / file), "mine");
  EXPECT_EQ(nlohmann::json::parse(text_of(path("runs/tiny/result.json"))).at("iterations"), 3);
}

TEST_F(Files, OutputGoesIntoPipesAndDevicesAsTheyAre) {
  make_run();
  ASSERT_EQ(run("export runs/tiny -o plain").code, 0);
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  const Outcome piped = shell("cat pipe >copy & " + std::string(command) + " export runs/tiny -o pipe; wait");
  EXPECT_EQ(piped.code, 0) << piped.err;
  EXPECT_EQ(text_of(path("copy")), text_of(path("plain")));
  EXPECT_TRUE(std::filesystem::is_fifo(path("pipe")));

  const Outcome standard = run("report runs/tiny --format md -o /dev/stdout");
  EXPECT_EQ(standard.code, 0) << standard.err;
  EXPECT_NE(standard.out.find("tiny"), std::string::npos) << standard.out;
  EXPECT_TRUE(std::filesystem::is_symlink("/dev/stdout"));

  std::filesystem::create_symlink("/dev/null", path("nothing.md"));
  EXPECT_EQ(run("report runs/tiny -o nothing.md").code, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(path("nothing.md")));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  if (mknod(path("device.md").c_str(), S_IFCHR | 0600, makedev(1, 3)) == 0) {
    EXPECT_EQ(run("report runs/tiny -o device.md").code, 0);
    EXPECT_TRUE(std::filesystem::is_character_file(path("device.md")));
  }
  EXPECT_EQ(leftovers(), 0u);
}

TEST_F(Files, OutputFollowsNoLinkThatLiesBeside) {
  make_run();
  write_text(path("victim"), "mine");
  for (const char* name : {"page.md.partial", "weights.partial"}) std::filesystem::create_symlink("victim", path(name));
  EXPECT_EQ(run("report runs/tiny -o page.md").code, 0);
  EXPECT_EQ(run("export runs/tiny -o weights").code, 0);
  std::filesystem::create_symlink("victim", path("link.md"));
  EXPECT_EQ(run("report runs/tiny -o link.md").code, 0);
  EXPECT_EQ(text_of(path("victim")), "mine");
  EXPECT_TRUE(std::filesystem::is_regular_file(std::filesystem::symlink_status(path("weights"))));
}

TEST_F(Files, ResumeFollowsNoLinkOutOfARun) {
  make_run();
  std::string victim(100000, 'x');
  for (const char* name : {"log.txt", "metrics.jsonl", "metrics.csv", "events.out.tfevents.throughtime"}) {
    write_text(path("victim"), victim);
    std::filesystem::rename(path("runs/tiny") / name, path("kept"));
    std::filesystem::create_symlink(path("victim"), path("runs/tiny") / name);
    expect_refusal(run("train --quiet --resume runs/tiny --set train.iterations=40"), "is a link or a pipe");
    EXPECT_EQ(text_of(path("victim")), victim) << name;
    std::filesystem::rename(path("kept"), path("runs/tiny") / name);
  }
  // A pipe is not waited for.
  std::filesystem::rename(path("runs/tiny/log.txt"), path("kept"));
  ASSERT_EQ(mkfifo(path("runs/tiny/log.txt").c_str(), 0600), 0);
  expect_refusal(run("train --quiet --resume runs/tiny --set train.iterations=40"), "is a link or a pipe");
  std::filesystem::rename(path("kept"), path("runs/tiny/log.txt"));

  std::filesystem::rename(path("runs/tiny/checkpoints"), path("elsewhere"));
  std::filesystem::create_directory_symlink(path("elsewhere"), path("runs/tiny/checkpoints"));
  const std::string before = text_of(path("elsewhere/last.safetensors"));
  expect_refusal(run("train --quiet --resume runs/tiny --set train.iterations=40"), "is a link");
  EXPECT_EQ(text_of(path("elsewhere/last.safetensors")), before);
}

TEST_F(Files, ClosedDescriptorsTakeNoFileOfTheRun) {
  make_run();
  config_file(tiny, "closed");
  const std::string closed = std::string(command) + " train closed.toml <&- >&- 2>&-";
  EXPECT_EQ(shell(closed).code, 0);
  EXPECT_EQ(metrics_without_times(path("runs/closed")), metrics_without_times(path("runs/tiny")));
  EXPECT_EQ(text_of(path("runs/closed/.lock")), "");
  EXPECT_EQ(shell("printf '1,2\\n' | " + std::string(command) + " predict runs/closed >&- 2>&-").code, 0);
  EXPECT_EQ(text_of(path("runs/closed/.lock")), "");
}

TEST_F(Files, ADirectoryIsNoInput) {
  make_run();
  std::filesystem::create_directories(path("folder"));
  expect_refusal(run("predict runs/tiny folder"), "it is a directory");
}

TEST_F(Files, NamesDoNotLeadOutOfRuns) {
  config_file(std::string(tiny) + "[[arm]]\nname = \"../../escaped\"\n", "arms");
  expect_refusal(run("train arms.toml"), "leads out of runs/");
  config_file(tiny);
  expect_refusal(run("train tiny.toml --set run.name=../escaped"), "leads out of runs/");
  expect_refusal(run("train tiny.toml --set run.name=/tmp/out"), "leads out of runs/");
  EXPECT_EQ(run("train --quiet tiny.toml --set run.name=group/one").code, 0);
  EXPECT_TRUE(std::filesystem::exists(path("runs/group/one/config.toml")));
  EXPECT_FALSE(std::filesystem::exists(path("escaped")));
}

TEST_F(Files, ABeginningThatWasCutOffIsStartedOver) {
  make_run();
  const std::string whole = metrics_without_times(path("runs/tiny"));
  // Whatever was there when the process was killed, the last file is config.toml.
  for (const char* last : {"task/interface.json", "environment.json"}) {
    std::filesystem::remove_all(path("runs"));
    std::filesystem::create_directories(path("runs/tiny/task"));
    for (const char* name : {".lock", "task/.throughtime-0123456789abcdef.partial", last})
      write_text(path("runs/tiny") / name, "");
    const Outcome again = run("train --quiet tiny.toml");
    EXPECT_EQ(again.code, 0) << again.err;
    EXPECT_EQ(metrics_without_times(path("runs/tiny")), whole);
    EXPECT_EQ(leftovers("runs"), 0u);
  }
}

TEST_F(Files, AnImportThatFailsLeavesNoRun) {
  make_run();
  ASSERT_EQ(run("export runs/tiny -o weights").code, 0);
  config_file(tiny, "other");
  // No file may grow beyond 4 KiB: room for a configuration, none for a checkpoint.
  EXPECT_NE(shell("ulimit -f 8; " + std::string(command) + " import other.toml weights").code, 0);
  EXPECT_FALSE(std::filesystem::exists(path("runs/other/config.toml")));
  const Outcome again = run("import other.toml weights");
  EXPECT_EQ(again.code, 0) << again.err;
}

TEST_F(Files, AnImportSaysHowMuchFitted) {
  make_run();
  ASSERT_EQ(run("export runs/tiny -o all").code, 0);
  ASSERT_EQ(run("export runs/tiny -o recurrent --strip-prefix").code, 0);
  const Outcome all = run("import runs/tiny all"), part = run("import runs/tiny recurrent");
  EXPECT_EQ(all.code + part.code, 0) << all.err << part.err;
  EXPECT_NE(all.err.find("6 of 6 parameters were in the file\n"), std::string::npos) << all.err;
  EXPECT_NE(part.err.find("4 of 6 parameters were in the file; these stay as they were: head.weight, head.bias\n"),
            std::string::npos)
      << part.err;
  EXPECT_NE(text_of(path("runs/tiny/log.txt")).find("4 of 6 parameters"), std::string::npos);
}

TEST_F(Files, DataThatChangedIsNoticed) {
  std::string data = "y\n";
  for (int i = 0; i < 400; ++i) data += std::to_string(i % 7) + "\n";
  write_text(path("data.csv"), data);
  config_file(
      "[task]\nname = \"series\"\n[task.series]\npath = \"data.csv\"\n[model]\nhidden = 4\n[train]\niterations = 5\n"
      "batch = 2\n",
      "series");
  ASSERT_EQ(run("train --quiet series.toml").code, 0);
  const std::string resume = "train --quiet --resume runs/series --set train.iterations=";
  std::filesystem::rename(path("data.csv"), path("moved.csv"));
  const Outcome moved = run(resume + "6 --set task.series.path=moved.csv");
  EXPECT_EQ(moved.code, 0) << moved.err;
  std::string changed = data;
  changed[10] = '9';
  write_text(path("moved.csv"), changed);
  expect_refusal(run(resume + "7"), "the train data is not what it was");
  write_text(path("moved.csv"), data + "3\n");
  expect_refusal(run(resume + "7"), "data is not what it was");
  write_text(path("moved.csv"), data);
  EXPECT_EQ(run(resume + "7").code, 0);
}

/// A run that goes on until it is stopped.
class LongRuns : public Files {
 protected:
  static constexpr const char* endless =
      "[task.add]\nlength = 4\n[model]\nhidden = 4\n[train]\niterations = 100000000\nbatch = 4\nreport_every = 10\n"
      "[run]\nthreads = 1\ncheckpoint_every = 20\n";

  /// Starts it and waits for its first checkpoint.
  pid_t start(const std::string& name, const std::string& redirections) const {
    config_file(endless, name);
    const pid_t child = fork();
    if (child == 0) {
      const std::string line =
          "cd '" + path("").string() + "' && exec '" + command + "' train " + name + ".toml " + redirections;
      execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
      _exit(98);
    }
    for (int i = 0; i < 6000 && !std::filesystem::exists(checkpoint(name)); ++i) pause();
    return child;
  }
  std::filesystem::path checkpoint(const std::string& name) const {
    return path("runs/" + name + "/checkpoints/last.safetensors");
  }
  static void pause() { std::this_thread::sleep_for(std::chrono::milliseconds(10)); }
  static int wait_for(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  std::int64_t iteration(const std::string& name) const {
    const nlohmann::json saved = nlohmann::json::parse(run("inspect --json runs/" + name).out);
    return std::stoll(saved.at("metadata").at("throughtime.iteration").get<std::string>());
  }
};

TEST_F(LongRuns, AHangUpSavesAndEnds) {
  const pid_t child = start("hung", "2>said");
  kill(child, SIGHUP);
  kill(child, SIGHUP);  // a shell that goes hands it on once more
  EXPECT_EQ(wait_for(child), 129);
  EXPECT_NE(text_of(path("said")).find("go on with: throughtime train --resume runs/hung"), std::string::npos);
  EXPECT_NE(text_of(path("runs/hung/log.txt")).find("interrupted at iteration"), std::string::npos);
}

TEST_F(LongRuns, NohupGoesOn) {
  config_file(tiny);
  const Outcome outcome = shell("trap '' HUP; " + std::string(command) +
                                " train --quiet tiny.toml --set train.iterations=20000 & child=$!; sleep 0.2; "
                                "kill -HUP $child; wait $child");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(nlohmann::json::parse(text_of(path("runs/tiny/result.json"))).at("iterations"), 20000);
}

TEST_F(LongRuns, AClosedPipeEndsTheTalkNotTheRun) {
  config_file(tiny);
  ASSERT_EQ(run("train --quiet tiny.toml --set run.name=whole --set train.evaluate_every=5").code, 0);
  // `true` has gone before a line is written; the second run is trained though the first one's result has no reader.
  const Outcome outcome = shell("{ sleep 0.1; " + std::string(command) +
                                " train tiny.toml --json --set train.evaluate_every=5 2>&1; echo $? >code; } | true");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(text_of(path("code")), "1\n");  // the table could not be written
  EXPECT_EQ(metrics_without_times(path("runs/tiny")), metrics_without_times(path("runs/whole")));
  EXPECT_TRUE(std::filesystem::exists(path("runs/tiny/result.json")));
}

TEST_F(LongRuns, ARunWhoseDirectoryGoesStopsAndMakesNoOther) {
  const pid_t deleted = start("deleted", "2>said");
  std::filesystem::rename(path("runs/deleted"), path("away"));
  std::filesystem::remove_all(path("away"));
  EXPECT_EQ(wait_for(deleted), 1);
  EXPECT_FALSE(std::filesystem::exists(path("runs/deleted")));
  // Where it goes between a look at it and a write, the write says what it could not do.
  EXPECT_NE(text_of(path("said")).find("throughtime: [run]"), std::string::npos) << text_of(path("said"));
  EXPECT_NE(text_of(path("said")).rfind("runs/deleted"), std::string::npos) << text_of(path("said"));

  const pid_t renamed = start("renamed", "2>said");
  std::filesystem::rename(path("runs/renamed"), path("runs/new"));
  EXPECT_EQ(wait_for(renamed), 1);
  EXPECT_FALSE(std::filesystem::exists(path("runs/renamed")));
  // What was saved goes on in the new place.
  const std::string more = std::to_string(iteration("new") + 1);
  const Outcome resumed = run("train --quiet --resume runs/new --set train.iterations=" + more);
  EXPECT_EQ(resumed.code, 0) << resumed.err;
}

TEST_F(LongRuns, AReaderAlwaysFindsTheLastCheckpoint) {
  const pid_t child = start("read", ">/dev/null 2>&1");
  std::size_t missing = 0;
  for (int i = 0; i < 20000; ++i) missing += access(checkpoint("read").c_str(), F_OK) != 0;
  EXPECT_EQ(missing, 0u);
  kill(child, SIGTERM);
  EXPECT_EQ(wait_for(child), 143);
}

}  // namespace
}  // namespace throughtime

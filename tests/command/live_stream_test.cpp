// `throughtime stream` while rows come: partners, signals, files that grow, named pipes.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "command/stream_support.h"

namespace throughtime {
namespace {

/// The program beside the test, with pipes to and from it.
class LiveStream : public Stream {
 protected:
  void start(std::vector<std::string> arguments) {
    int in[2], out[2];
    ASSERT_EQ(pipe2(in, O_CLOEXEC), 0);
    ASSERT_EQ(pipe2(out, O_CLOEXEC), 0);
    child_ = fork();
    if (child_ == 0) {
      if (chdir(path("").c_str()) != 0) _exit(99);
      dup2(in[0], 0);
      dup2(out[1], 1);
      dup2(open("err", O_WRONLY | O_CREAT | O_APPEND, 0666), 2);
      arguments.insert(arguments.begin(), {THROUGHTIME_COMMAND, "stream"});
      std::vector<char*> pointers;
      for (std::string& argument : arguments) pointers.push_back(argument.data());
      pointers.push_back(nullptr);
      execv(THROUGHTIME_COMMAND, pointers.data());
      _exit(98);
    }
    close(in[0]);
    close(out[1]);
    to_ = in[1];
    from_ = out[0];
  }
  void TearDown() override {
    hang_up();
    if (from_ >= 0) close(from_);
    if (child_ > 0) kill(child_, SIGKILL), waitpid(child_, nullptr, 0);
  }
  void send(const std::string& text) {
    ASSERT_EQ(write(to_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  std::string receive_line() {
    std::string line;
    for (char letter; read(from_, &letter, 1) == 1 && letter != '\n';) line += letter;
    return line;
  }
  void hang_up() {
    if (to_ >= 0) close(to_);
    to_ = -1;
  }
  void stop_listening() { close(from_), from_ = -1; }
  /// The exit code.
  int ended() {
    int status = 0;
    waitpid(child_, &status, 0);
    child_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  pid_t child_ = -1;
  int to_ = -1, from_ = -1;
};

TEST_F(LiveStream, APartnerGetsItsAnswerAtOnceAndRowsMayComeInPieces) {
  start({"small.toml"});
  send("y\n");
  for (int t = 0; t < 5; ++t) {
    const std::string row = value(t) + "\n";
    send(row.substr(0, 3));
    send(row.substr(3));
    EXPECT_NE(receive_line(), "");
  }
  std::string burst;
  for (int t = 5; t < 3000; ++t) burst += value(t) + "\n";
  std::thread writer([&] { send(burst); });
  for (int t = 5; t < 3000; ++t) ASSERT_NE(receive_line(), "");
  writer.join();
  hang_up();
  EXPECT_EQ(ended(), 0);
}

TEST_F(LiveStream, ASignalSavesAndTheRestEqualsNoInterruption) {
  const Outcome whole = stream("small.toml --set run.name=whole", series(0, 50));
  for (const auto& [signal, code] : {std::pair(SIGTERM, 143), std::pair(SIGINT, 130)}) {
    std::filesystem::remove_all(path("runs/small"));
    start({"small.toml"});
    send(series(0, 33));
    std::string answers;
    for (int t = 0; t < 33; ++t) answers += receive_line() + "\n";
    kill(child_, signal);  // while it waits for a row
    EXPECT_EQ(ended(), code);
    EXPECT_NE(text_of(path("err")).find("go on with throughtime stream --resume runs/small"), std::string::npos);
    hang_up();
    close(from_);
    EXPECT_EQ(answers + stream("--resume runs/small", series(33, 50, "")).out, whole.out);
  }
  from_ = -1;
}

TEST_F(LiveStream, ASignalAsksForACheckpointAndTheStreamGoesOn) {
  start({"small.toml"});
  send(series(0, 5));
  for (int t = 0; t < 5; ++t) receive_line();
  EXPECT_FALSE(std::filesystem::exists(path("runs/small/checkpoints/last.safetensors")));
  kill(child_, SIGUSR1);
  for (int i = 0; i < 1000 && !std::filesystem::exists(path("runs/small/checkpoints/last.safetensors")); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_TRUE(std::filesystem::exists(path("runs/small/checkpoints/last.safetensors")));
  send(value(5) + "\n");
  EXPECT_NE(receive_line(), "");
}

TEST_F(LiveStream, ATimerSavesWithoutBeingAsked) {
  start({"small.toml", "--set", "stream.checkpoint_seconds=0.05"});
  send(series(0, 5));
  for (int i = 0; i < 1000 && !std::filesystem::exists(path("runs/small/checkpoints/last.safetensors")); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_TRUE(std::filesystem::exists(path("runs/small/checkpoints/last.safetensors")));
}

TEST_F(LiveStream, AReaderThatGoesAwayEndsTheRunWithWhatWasLearned) {
  start({"small.toml"});
  send(series(0, 5));
  for (int t = 0; t < 5; ++t) receive_line();
  stop_listening();
  send(series(5, 6, ""));
  EXPECT_EQ(ended(), 1);
  EXPECT_NE(text_of(path("err")).find("nobody reads the output any more; 6 rows"), std::string::npos);
  EXPECT_EQ(stream("--resume runs/small", series(6, 10, "")).code, 0);
}

TEST_F(LiveStream, FollowsAFileThatGrows) {
  write_text(path("grows.csv"), series(0, 3));
  start({"small.toml", "--input", "grows.csv", "--follow"});
  for (int t = 0; t < 3; ++t) receive_line();
  for (int t = 3; t < 6; ++t) {
    std::ofstream(path("grows.csv"), std::ios::app) << value(t) << "\n";
    EXPECT_NE(receive_line(), "");
  }
  kill(child_, SIGTERM);
  EXPECT_EQ(ended(), 143);
}

TEST_F(LiveStream, FollowsAFileThatIsRotatedAndGoesOnInTheNewOne) {
  write_text(path("log.csv"), series(0, 3));
  start({"small.toml", "--input", "log.csv", "--follow"});
  for (int t = 0; t < 3; ++t) receive_line();
  std::filesystem::rename(path("log.csv"), path("log.csv.1"));
  write_text(path("log.csv"), series(3, 5));
  for (int t = 3; t < 5; ++t) EXPECT_TRUE(std::isfinite(std::stod(receive_line())));  // its header is no row
  write_text(path("log.csv"), series(5, 6));
  EXPECT_TRUE(std::isfinite(std::stod(receive_line())));
  kill(child_, SIGTERM);
  EXPECT_EQ(ended(), 143);
  const std::string said = text_of(path("err"));
  EXPECT_NE(said.find("replaced or cut short after row 3"), std::string::npos) << said;
  EXPECT_NE(said.find("replaced or cut short after row 5"), std::string::npos) << said;
  // One row more in the last file: the five before it are not looked for there.
  write_text(path("log.csv"), series(5, 7));
  const Outcome resumed = shell(std::string(THROUGHTIME_COMMAND) + " stream --resume runs/small --input log.csv");
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(lines_in(resumed.out), 1u) << resumed.out;
}

TEST_F(LiveStream, ReadsANamedPipeFromSeveralWriters) {
  ASSERT_EQ(mkfifo(path("rows").c_str(), 0600), 0);
  start({"small.toml", "--input", "rows", "--follow"});
  for (int writer = 0; writer < 3; ++writer) {
    std::ofstream(path("rows")) << (writer == 0 ? "y\n" : "") << value(writer) << "\n" << std::flush;
    EXPECT_NE(receive_line(), "");
  }
  kill(child_, SIGTERM);
  EXPECT_EQ(ended(), 143);
}

TEST_F(LiveStream, AnEndlessStreamNeedsNoMoreMemory) {
  const bool full = std::getenv("THROUGHTIME_FULL") != nullptr;
  const int rows = full ? 10'000'000 : 300'000;
  config_file(std::string(small) + "engine = \"cpu\"\n", "endless");
  start({"endless.toml", "--format", "raw", "--set", "task.series.inputs=[\"0\"]", "--set", "model.cell=rnn_tanh",
         "--quiet", "--set", "stream.metrics_every=100000"});
  const auto resident = [&] {
    std::istringstream words(text_of("/proc/" + std::to_string(child_) + "/statm"));
    long size = 0, pages = 0;
    words >> size >> pages;
    return pages * 4;
  };
  std::vector<float> block(1000);
  char answers[1 << 16];
  std::atomic<bool> over = false;
  std::thread reader([&] {
    while (read(from_, answers, sizeof(answers)) > 0 && !over) {
    }
  });
  long early = 0;
  for (int t = 0; t < rows; t += 1000) {
    for (int i = 0; i < 1000; ++i) block[static_cast<std::size_t>(i)] = static_cast<float>(std::sin(0.01 * (t + i)));
    ASSERT_EQ(write(to_, block.data(), 4000), 4000);
    if (t == 50'000) early = resident();
  }
  const long late = resident();
  hang_up();
  EXPECT_EQ(ended(), 0);
  over = true;
  reader.join();
  EXPECT_GT(early, 0);
  EXPECT_LE(late, early + 256) << "KiB";
}

}  // namespace
}  // namespace throughtime

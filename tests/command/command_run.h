#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "support/scratch.h"

namespace throughtime::testing {

struct Outcome {
  int code = -1;  // -1: a signal ended it
  std::string out;
  std::string err;
};

inline std::size_t lines_in(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

inline const char* const tiny =
    "[task.add]\nlength = 4\n[model]\nhidden = 4\n[train]\niterations = 20\nbatch = 4\n[run]\nengine = \"reference\"\n";

/// Runs the program in an empty directory of the test.
class CommandTest : public ::testing::Test {
 protected:
  /// Runs a shell command there.
  Outcome shell(const std::string& command) const {
    const std::string all = "cd " + directory_.path().string() + " && { " + command + "; } >out 2>err";
    const int status = std::system(all.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text_of(path("out")), text_of(path("err"))};
  }
  /// Runs `throughtime ARGUMENTS` without a terminal.
  Outcome run(const std::string& arguments, const std::string& input = "/dev/null") const {
    return shell(std::string(THROUGHTIME_COMMAND) + " " + arguments + " <" + input);
  }
  std::filesystem::path path(const std::string& name) const { return directory_ / name; }
  std::string config_file(const std::string& text, const std::string& name = "tiny") const {
    write_text(path(name + ".toml"), text);
    return name + ".toml";
  }

  /// A refusal is one line on stderr and nothing on stdout.
  static void expect_refusal(const Outcome& outcome, const std::string& part) {
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(lines_in(outcome.err), 1u) << outcome.err;
    EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
  }

 private:
  ScratchDirectory directory_;
};

}  // namespace throughtime::testing

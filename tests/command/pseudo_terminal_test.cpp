#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "command/command_run.h"
#include "report/text.h"

namespace throughtime {
namespace {

class PseudoTerminal : public testing::CommandTest {
 protected:
  /// What the program writes to a terminal of that many columns.
  std::string show(const std::string& arguments, unsigned short columns, bool color) const {
    winsize size{.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    int terminal = -1;
    const pid_t child = forkpty(&terminal, nullptr, nullptr, &size);
    if (child == 0) {
      setenv("TERM", "xterm", 1);
      setenv("LC_ALL", "C.UTF-8", 1);
      if (color)
        unsetenv("NO_COLOR");
      else
        setenv("NO_COLOR", "1", 1);
      const std::string command = "cd " + path("").string() + " && exec " THROUGHTIME_COMMAND " " + arguments;
      execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
      _exit(98);
    }
    std::string text;
    char block[4096];
    for (ssize_t count = 0; (count = read(terminal, block, sizeof block)) > 0;)
      text.append(block, static_cast<std::size_t>(count));
    close(terminal);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << text;
    return text;
  }
};

const char* const slow =
    "[task.add]\nlength = 40\n[model]\nhidden = 32\n[train]\niterations = 100\nbatch = 16\n[run]\nengine = "
    "\"reference\"\n";

TEST_F(PseudoTerminal, TheBarIsRedrawnInPlace) {
  config_file(slow);
  const std::string text = show("train tiny.toml --set train.report_every=1", 100, true);
  std::size_t redraws = 0;
  for (std::size_t at = text.find('\r'); at != std::string::npos; at = text.find('\r', at + 1))
    if (at + 1 < text.size() && text[at + 1] != '\n') ++redraws;
  EXPECT_GE(redraws, 2u);
  EXPECT_NE(text.find("━"), std::string::npos);
  EXPECT_NE(text.find("\x1b[32m"), std::string::npos);
  EXPECT_NE(text.find("100/100"), std::string::npos);
  EXPECT_NE(text.find("ETA"), std::string::npos);
  EXPECT_NE(text.find("┌"), std::string::npos);  // the table on stdout
}

TEST_F(PseudoTerminal, NoColourWhenAskedAndNothingWiderThanTheTerminal) {
  config_file(slow);
  const std::string text = show("train tiny.toml --set train.report_every=1", 50, false);
  EXPECT_EQ(text.find("\x1b[32m"), std::string::npos);
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find_first_of("\r\n", begin), text.size());
    std::string line = text.substr(begin, end - begin);
    if (const std::size_t erase = line.find("\x1b[K"); erase != std::string::npos) {
      line.resize(erase);
      const auto width = std::count_if(line.begin(), line.end(), [](char byte) { return (byte & 0xC0) != 0x80; });
      EXPECT_LT(width, 50) << line;
    }
    begin = end + 1;
  }
}

/// Bytes that a terminal would obey, in a name of a run, of a tensor and of a column, in ids and in an error.
TEST_F(PseudoTerminal, NamesCannotSteerIt) {
  const std::string escaped = "\\u001b]0;owned\\u0007\\u009b2J\\rx";  // as TOML writes it
  config_file(std::string(testing::tiny) + "name = \"" + escaped + "\"\ndirectory = \"run\"\n");
  const auto expect_clean = [&](std::string text, const std::string& part) {
    for (const char* ours : {"\x1b[K", "\x1b[32m", "\x1b[0m", "\x1b[2m"})  // the progress bar
      for (std::size_t at; (at = text.find(ours)) != std::string::npos;) text.erase(at, std::string(ours).size());
    EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
    EXPECT_EQ(text.find('\x07'), std::string::npos) << text;
    EXPECT_EQ(text.find("\xc2\x9b"), std::string::npos) << text;
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  expect_clean(show("train tiny.toml", 200, true), "\\x1b]0;owned\\x07\\xc2\\x9b2J\\x0dx");
  expect_clean(show("inspect run", 200, true), "\\xc2\\x9b2J");
  testing::write_text(path("rows.jsonl"), "{\"id\": \"" + escaped + "\", \"a\": 1}\n{\"id\": \"x\", \"a\": 2}\n");
  const std::string stream = config_file(
      "[task]\nname = \"series\"\n[task.series]\ninputs = [\"a\"]\nhorizon = 1\n[learner]\nname = \"tbptt\"\n"
      "[learner.tbptt]\npreset = \"plain\"\ntruncation = 3\n"
      "[stream]\nformat = \"jsonl\"\nid = \"id\"\n[model]\nhidden = 4\n",
      "stream");
  const std::string answers = show("stream " + stream + " < rows.jsonl", 200, true);
  EXPECT_EQ(answers.find("\xc2\x9b"), std::string::npos) << answers;
  EXPECT_NE(answers.find("\\u001b]0;owned"), std::string::npos) << answers;  // JSON's own escape
  EXPECT_NE(answers.find("\\xc2\\x9b"), std::string::npos) << answers;       // and ours, where it has none
}

TEST_F(PseudoTerminal, QuietDrawsNothing) {
  config_file(slow);
  EXPECT_EQ(show("train --quiet --json tiny.toml", 100, true).find("\x1b"), std::string::npos);
}

/// The widest line of a text, in columns.
std::size_t widest(const std::string& text, const std::string& until = "\n\n\n") {
  std::size_t columns = 0;
  std::istringstream lines(text.substr(0, text.find(until)));
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with('\r')) line.pop_back();
    columns = std::max(columns, text_width(line));
  }
  return columns;
}

TEST_F(PseudoTerminal, HelpIsBrokenBetweenWords) {
  for (const char* command : {"", "train ", "plot ", "predict ", "reproduce ", "compare "}) {
    const std::string help = show(std::string(command) + "--help", 80, true);
    EXPECT_LE(widest(help, "Example"), 80u) << help;
    EXPECT_EQ(help.find("INT in ["), std::string::npos) << help;
  }
  const std::string predict = show("predict --help", 80, true);
  EXPECT_NE(predict.find("\n                              "), std::string::npos) << "below their own column";
  EXPECT_LE(widest(show("help options", 80, true)), 80u);
}

TEST_F(PseudoTerminal, ForecastsHaveColoursAndNoEscapesAsText) {
  std::string rows = "y\n";
  for (int t = 0; t < 200; ++t) rows += fmt::format("{}\n", t % 7);
  testing::write_text(path("y.csv"), rows);
  config_file(
      "[task]\nname = \"series\"\n[task.series]\npath = \"y.csv\"\nlength = 10\n[model]\nhidden = 4\n[train]\n"
      "iterations = 4\nbatch = 2\nevaluate_every = 2\n[run]\ndirectory = \"run\"\n");
  const std::string training = show("train tiny.toml", 80, true);
  EXPECT_NE(training.find("rows of"), std::string::npos) << training;
  const std::string colour = show("plot run --forecast", 80, true), plain = show("plot run --forecast", 80, false);
  EXPECT_NE(colour.find("\x1b[38;5;"), std::string::npos);
  EXPECT_EQ(colour.find("\\x1b"), std::string::npos) << colour;
  EXPECT_EQ(plain.find('\x1b'), std::string::npos);
  EXPECT_LE(widest(plain), 80u) << plain;
  EXPECT_LE(widest(show("evaluate run", 80, false)), 80u);
}

TEST_F(PseudoTerminal, SomeTwentyValidationsHaveLines) {
  config_file(std::string(slow) + "directory = \"run\"\n");
  const std::string text =
      show("train tiny.toml --set train.evaluate_every=1 --set train.evaluate_batches=1", 100, true);
  std::size_t lines = 0;
  for (std::size_t at = 0; (at = text.find(": validation mse", at)) != std::string::npos; ++at) ++lines;
  EXPECT_GE(lines, 19u) << text;
  EXPECT_LE(lines, 22u) << text;
  EXPECT_EQ(testing::lines_in(testing::text_of(path("run/metrics.jsonl"))) > 100, true) << "the file has them all";
}

}  // namespace
}  // namespace throughtime

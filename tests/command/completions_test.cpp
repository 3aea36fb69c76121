// What zsh and fish offer behind a line, asked of the shells themselves; help_test.cpp asks bash.

#include <gtest/gtest.h>

#include <sstream>
#include <utility>
#include <vector>

#include "command/command_run.h"

namespace throughtime {
namespace {

using testing::Outcome;
using testing::write_text;

/// Lines that have one way to go on, and what their last word becomes.
const std::vector<std::pair<std::string, std::string>> lines = {
    {"throughtime tr", "train"},
    {"throughtime --vers", "--version"},
    {"throughtime train --resu", "--resume"},
    {"throughtime data ch", "check"},
    {"throughtime data list --js", "--json"},
    {"throughtime train --set learner.tbptt.trunc", "learner.tbptt.truncation="},
    {"throughtime evaluate run --split v", "validation"},
    {"throughtime compare x.toml --learners fpt", "fptt"},
    {"throughtime train a_fi", "a_file.toml"},
};

class Completions : public testing::CommandTest {
 protected:
  bool has(const std::string& program) const { return shell("command -v " + program).code == 0; }
  /// Writes the shell's script as `file`, which knows commands and flags.
  void write_script(const std::string& shell_name, const std::string& file) const {
    const Outcome script = run("completions " + shell_name);
    EXPECT_EQ(script.code, 0) << script.err;
    for (const char* part : {"reproduce", "sample", "learner.fptt.windows", "temperature", "input-format"})
      EXPECT_NE(script.out.find(part), std::string::npos) << part;
    write_text(path(file), script.out);
    write_text(path("a_file.toml"), "");
  }
};

TEST_F(Completions, OfFishGoOnWithCommandsFlagsKeysAndNames) {
  write_script("fish", "throughtime.fish");
  if (!has("fish")) GTEST_SKIP() << "no fish in PATH (scripts/setup installs it)";
  const auto offered = [&](const std::string& line) {
    const Outcome outcome =
        shell("HOME=$PWD fish --no-config -c 'source throughtime.fish; complete -C \"" + line + "\"'");
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    std::vector<std::string> words;
    std::istringstream all(outcome.out);
    for (std::string word; std::getline(all, word);) words.push_back(word.substr(0, word.find('\t')));
    return words;
  };
  for (const auto& [line, word] : lines) EXPECT_EQ(offered(line), std::vector<std::string>{word}) << line;
  const std::vector<std::string> first = offered("throughtime "), inner = offered("throughtime data ");
  for (const char* command : {"train", "predict", "data", "completions"})
    EXPECT_NE(std::find(first.begin(), first.end(), command), first.end()) << command;
  EXPECT_NE(std::find(inner.begin(), inner.end(), "check"), inner.end());
  EXPECT_EQ(std::find(inner.begin(), inner.end(), "train"), inner.end());
}

/// A shell that is typed to: for each line Tab, then a key that says what the line has become.
const char* const typist = R"(zmodload zsh/zpty
mkfifo answers
zpty typing zsh -f -i
zpty -w typing "fpath=($PWD \$fpath); autoload -Uz compinit; compinit -u -D; \
  answer() { print -r -- \"\$BUFFER\" >answers; BUFFER= }; zle -N answer; bindkey '^X' answer; \
  bindkey '^I' complete-word; print ready >answers"
exec 3<>answers
read -t 60 -u 3 ready || exit 3
while read -r line; do
  zpty -n -w typing "$line"$'\t'$'\x18'
  read -r -t 60 -u 3 answer || exit 4
  print -r -- "$answer"
done
zpty -d typing
)";

TEST_F(Completions, OfZshGoOnWithCommandsFlagsKeysAndNames) {
  write_script("zsh", "_throughtime");
  if (!has("zsh")) GTEST_SKIP() << "no zsh in PATH (scripts/setup installs it)";
  std::string typed, wanted;
  for (const auto& [line, word] : lines) {
    typed += line + "\n";
    wanted += line.substr(0, line.rfind(' ') + 1) + word + "\n";
  }
  write_text(path("typist.zsh"), typist);
  write_text(path("lines"), typed);
  const Outcome outcome = shell("zsh -f typist.zsh <lines");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, wanted);
}

}  // namespace
}  // namespace throughtime

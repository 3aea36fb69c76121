#include <gtest/gtest.h>

#include <sstream>
#include <vector>

#include "command/command_run.h"

namespace throughtime {
namespace {

using testing::lines_in;
using testing::Outcome;
using testing::text_of;
using testing::write_text;

class Help : public testing::CommandTest {
 protected:
  /// The names below "Subcommands:" of a help text.
  static std::vector<std::string> commands_in(const std::string& help) {
    std::vector<std::string> names;
    std::istringstream lines(help.substr(std::min(help.find("Subcommands:"), help.size())));
    std::string line, name;
    std::getline(lines, line);
    while (std::getline(lines, line) && line.starts_with("  "))
      if (line.size() > 2 && line[2] != ' ') names.push_back(line.substr(2, line.find(' ', 2) - 2));
    return names;
  }
  /// Every command, those of commands too: "train", "data list", ...
  std::vector<std::string> all_commands() const {
    std::vector<std::string> all;
    for (const std::string& name : commands_in(run("--help").out)) {
      all.push_back(name);
      for (const std::string& inner : commands_in(run(name + " --help").out)) all.push_back(name + " " + inner);
    }
    return all;
  }
  /// The words that bash offers for a line.
  std::string offered(const std::string& line) const {
    write_text(path("complete.bash"), "source ./throughtime.bash\nCOMP_WORDS=(" + line +
                                          ")\n[[ $1 == next ]] && COMP_WORDS+=('')\n"
                                          "COMP_CWORD=$((${#COMP_WORDS[@]} - 1))\ncompopt() { :; }\n_throughtime\n"
                                          "echo \"${COMPREPLY[@]}\"\n");
    return shell(line.ends_with(' ') ? "bash complete.bash next" : "bash complete.bash").out;
  }
};

TEST_F(Help, EveryCommandHasExamplesWithItsOwnFlags) {
  const std::vector<std::string> commands = all_commands();
  ASSERT_GT(commands.size(), 20u);
  for (const std::string& command : commands) {
    const std::string help = run(command + " --help").out;
    const std::size_t place = help.find("Example");
    ASSERT_NE(place, std::string::npos) << command;
    std::istringstream words(help.substr(place));
    EXPECT_NE(help.find("  throughtime " + command, place), std::string::npos) << help;
    for (std::string word; words >> word;)
      if (word.starts_with("--")) {
        EXPECT_LT(help.find(word), place) << command << " has no " << word;
      }
  }
}

TEST_F(Help, FlagsHaveNeighbours) {
  expect_refusal(run("train x.toml --resum runs/x"), "[train] unknown option '--resum'; did you mean '--resume'?");
  expect_refusal(run("predict runs/x --formt=npy"), "[predict] unknown option '--formt'; did you mean '--format'?");
  expect_refusal(run("list cells --jsno"), "[cells] unknown option '--jsno'; did you mean '--json'?");
  expect_refusal(run("--versoin"), "[throughtime] unknown option '--versoin'; did you mean '--version'?");
}

TEST_F(Help, ACommandThatIsMissingIsAskedFor) {
  expect_refusal(run(""), "[throughtime] give a command: train, stream, ");
  expect_refusal(run("data"), "[data] give a command: list, ");
  expect_refusal(run("train none.toml"), "[config] cannot read none.toml: there is no such file");
  std::filesystem::create_directory(path("folder"));
  expect_refusal(run("train folder"), "[config] cannot read folder: it is a directory, not a file");
}

TEST_F(Help, BashCompletesCommandsFlagsKeysAndNames) {
  const Outcome script = run("completions bash");
  EXPECT_EQ(script.code, 0) << script.err;
  write_text(path("throughtime.bash"), script.out);
  EXPECT_EQ(offered("throughtime tr"), "train\n");
  const std::string first = offered("throughtime ");
  for (const std::string& command : commands_in(run("--help").out))
    EXPECT_NE(first.find(command), std::string::npos) << first;
  EXPECT_EQ(offered("throughtime train --res"), "--resume\n");
  EXPECT_EQ(offered("throughtime data ch"), "check\n");
  EXPECT_EQ(offered("throughtime data list --js"), "--json\n");
  EXPECT_EQ(offered("throughtime train --set learner.tbptt.trunc"), "learner.tbptt.truncation=\n");
  EXPECT_EQ(offered("throughtime evaluate run --split v"), "validation\n");
  EXPECT_EQ(offered("throughtime compare x.toml --learners fpt"), "fptt\n");
  EXPECT_EQ(offered("throughtime reproduce x --scale f"), "full\n");
  EXPECT_EQ(offered("throughtime train some"), "\n") << "files are the shell's";
  expect_refusal(run("completions csh"), "unknown shell 'csh'");
}

TEST_F(Help, TheManualPageHasEveryCommandAndKeyAndNothingThatManStumblesOver) {
  const Outcome page = run("help --man");
  EXPECT_EQ(page.code, 0) << page.err;
  for (const std::string& command : all_commands())
    EXPECT_NE(page.out.find(".SS \"throughtime " + command + "\"\n"), std::string::npos) << command;
  for (const char* part : {".B \"learner.fptt.windows\"", ".B \"\\-\\-temperature NUMBER", ".SH EXIT STATUS"})
    EXPECT_NE(page.out.find(part), std::string::npos) << part;
  if (shell("command -v groff").code != 0) GTEST_SKIP() << "no groff here";
  write_text(path("throughtime.1"), page.out);
  const Outcome shown = shell("groff -man -ww -Tutf8 throughtime.1 2>warnings; cat warnings >&2");
  EXPECT_EQ(shown.err, "");
  EXPECT_NE(shown.out.find("throughtime sample"), std::string::npos);
}

}  // namespace
}  // namespace throughtime

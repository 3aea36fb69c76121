// Every command of every guide, and of a page that shows some, is run, in the order of the page, in a directory of its
// own.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "command/command_run.h"
#include "command/guides.h"

namespace throughtime {
namespace {

using testing::Guide;
using testing::Outcome;
using testing::read_guide;
using testing::text_of;
using testing::words_without_numbers;
using testing::write_text;

std::vector<std::string> guides() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(THROUGHTIME_TEST_DIRECTORY "/../docs/guides"))
    if (entry.path().extension() == ".md") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

class Guides : public testing::CommandTest, public ::testing::WithParamInterface<std::string> {
 protected:
  /// With the program under test as `throughtime`.
  Outcome typed(const std::string& command) const {
    return shell("mkdir -p .bin && ln -sf " THROUGHTIME_COMMAND " .bin/throughtime && PATH=$PWD/.bin:$PATH && " +
                 command);
  }

  /// Of that page.
  void run_all(const std::string& page) const {
    const Guide guide = read_guide(text_of(THROUGHTIME_TEST_DIRECTORY "/../" + page));
    ASSERT_FALSE(guide.commands.empty());
    const bool pictures = typed("command -v gnuplot").code == 0;
    for (const auto& [name, text] : guide.files) write_text(path(name), text);
    std::string printed;
    for (std::size_t i = 0; i < guide.commands.size(); ++i) {
      const std::string& command = guide.commands[i];
      const bool draws = command.find("--svg") != std::string::npos || command.find("--png") != std::string::npos;
      if (draws && !pictures) continue;
      const Outcome outcome = typed(command);
      ASSERT_EQ(outcome.code, 0) << command << "\n" << outcome.out << outcome.err;
      printed += outcome.out + outcome.err;
      for (const auto& [commands, text] : guide.shown) {
        if (commands != i + 1) continue;
        for (const std::string& word : words_without_numbers(text))
          EXPECT_NE(printed.find(word), std::string::npos) << word << " of\n" << text << "is not in\n" << printed;
      }
    }
  }
};

TEST_P(Guides, EveryCommandWorks) { run_all("docs/guides/" + GetParam() + ".md"); }

INSTANTIATE_TEST_SUITE_P(All, Guides, ::testing::ValuesIn(guides()), [](const auto& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

/// What a page shows beside the guides.
class Pages : public Guides {};

TEST_P(Pages, EveryCommandWorks) { run_all("docs/" + GetParam() + ".md"); }

INSTANTIATE_TEST_SUITE_P(All, Pages, ::testing::Values("tasks"));

TEST(ChoosingGuide, ShowsTheFileOfItsExperiment) {
  const std::string root = THROUGHTIME_TEST_DIRECTORY "/../";
  const Guide guide = read_guide(text_of(root + "docs/guides/choosing-a-method.md"));
  ASSERT_FALSE(guide.files.empty());
  EXPECT_EQ(guide.files[0].first, "machine.awk");
  EXPECT_EQ(guide.files[0].second, text_of(root + "experiments/choosing/machine.awk"));
}

TEST(AudioGuide, ShowsTheFilesOfItsExperiment) {
  const std::string root = THROUGHTIME_TEST_DIRECTORY "/../";
  const Guide guide = read_guide(text_of(root + "docs/guides/audio.md"));
  ASSERT_EQ(guide.files.size(), 2u);
  for (const auto& [name, text] : guide.files) EXPECT_EQ(text_of(root + "experiments/audio/" + name), text) << name;
}

TEST(ReadGuide, FindsFilesAndCommands) {
  const Guide guide = read_guide(
      "# A page\n\n```toml own.toml\na = 1\n```\ntext\n```sh\nfirst \\\n  part\n# a remark\nsecond\n```\n"
      "```text\nnot a command\n```\n    indented\n```sh\nthird\n```\n");
  ASSERT_EQ(guide.files.size(), 1u);
  EXPECT_EQ(guide.files[0].first, "own.toml");
  EXPECT_EQ(guide.files[0].second, "a = 1\n");
  EXPECT_EQ(guide.commands, (std::vector<std::string>{"first   part", "second", "third"}));
  ASSERT_EQ(guide.shown.size(), 1u);
  EXPECT_EQ(guide.shown[0].commands, 2u);
  EXPECT_EQ(guide.shown[0].text, "not a command\n");
  EXPECT_EQ(words_without_numbers("mse 0.5 x naive"), (std::vector<std::string>{"mse", "x", "naive"}));
  EXPECT_TRUE(read_guide("no blocks\n").commands.empty());
}

}  // namespace
}  // namespace throughtime

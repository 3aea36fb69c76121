#include <gtest/gtest.h>

#include <sstream>

#include "command/command_run.h"

namespace throughtime {
namespace {

using testing::Outcome;
using testing::text_of;

/// A block of a page between fences: `sh` holds commands, one without a name what the commands before it show.
struct Block {
  std::string language;
  std::string text;
};

std::vector<Block> blocks_of(const std::string& page) {
  std::vector<Block> blocks;
  std::istringstream lines(page);
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) {
      inside = !inside;
      if (inside) blocks.push_back({line.substr(3), ""});
    } else if (inside) {
      blocks.back().text += line + "\n";
    }
  }
  return blocks;
}

class ClassifyGuide : public testing::CommandTest {};

/// Every command of the page, in its order, in a directory that has nothing but the program and the experiments. What
/// the page shows must begin its lines with the same words; numbers may differ from machine to machine.
TEST_F(ClassifyGuide, IsRunFromTheFirstCommandToTheLast) {
  const std::filesystem::path root = std::filesystem::path(THROUGHTIME_TEST_DIRECTORY).parent_path();
  std::filesystem::create_directory_symlink(root / "experiments", path("experiments"));
  std::filesystem::create_directory(path("bin"));
  std::filesystem::create_symlink(THROUGHTIME_COMMAND, path("bin/throughtime"));
  std::string shown;
  int commands = 0, checked = 0;
  for (const Block& block : blocks_of(text_of(root / "docs/guides/classify.md"))) {
    if (block.language == "sh") {
      const Outcome outcome = shell("PATH=\"$PWD/bin:$PATH\"; set -e\n" + block.text);
      ASSERT_EQ(outcome.code, 0) << block.text << outcome.err;
      shown = "\n" + outcome.out + outcome.err;
      ++commands;
    } else if (block.language.empty()) {
      std::istringstream lines(block.text);
      for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string word;
        words >> word;
        word = word.substr(0, word.find_first_of("0123456789,"));
        EXPECT_NE(shown.find(word), std::string::npos) << line << "\nis not in\n" << shown;
        ++checked;
      }
    }
  }
  EXPECT_GE(commands, 7);
  EXPECT_GE(checked, 10);
  for (const char* file : {"report.html", "both.html", "runs/gestures/result.json"})
    EXPECT_TRUE(std::filesystem::exists(path(file))) << file;
}

}  // namespace
}  // namespace throughtime

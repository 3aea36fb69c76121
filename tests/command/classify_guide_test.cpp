#include <gtest/gtest.h>

#include <sstream>

#include "command/command_run.h"

namespace throughtime {
namespace {

using testing::Outcome;
using testing::text_of;
using testing::write_text;

/// A block of a page between fences: one with a name is a file, one of `sh` is commands, and one without a language is
/// what the commands before it show.
struct PageBlock {
  std::string language, name, text;
};

std::vector<PageBlock> blocks_of(const std::string& page) {
  std::vector<PageBlock> blocks;
  std::istringstream lines(page);
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) {
      inside = !inside;
      if (inside) std::istringstream(line.substr(3)) >> blocks.emplace_back().language >> blocks.back().name;
    } else if (inside) {
      blocks.back().text += line + "\n";
    }
  }
  return blocks;
}

class ClassifyGuide : public testing::CommandTest {};

const std::filesystem::path root = std::filesystem::path(THROUGHTIME_TEST_DIRECTORY).parent_path();

/// Every command of the page, in its order, in a directory that has nothing but the program and the page's own files.
/// What the page shows must begin its lines with the same words; numbers may differ from machine to machine.
TEST_F(ClassifyGuide, IsRunFromTheFirstCommandToTheLast) {
  std::filesystem::create_directory(path("bin"));
  std::filesystem::create_symlink(THROUGHTIME_COMMAND, path("bin/throughtime"));
  std::string shown;
  int commands = 0, checked = 0;
  for (const PageBlock& block : blocks_of(text_of(root / "docs/guides/classify.md"))) {
    if (!block.name.empty()) {
      write_text(path(block.name), block.text);
    } else if (block.language == "sh") {
      const Outcome outcome = shell("PATH=\"$PWD/bin:$PATH\"; set -e\n" + block.text + ":");
      ASSERT_EQ(outcome.code, 0) << block.text << outcome.err;
      shown = outcome.out + outcome.err;
      ++commands;
    } else if (block.language.empty()) {
      std::istringstream lines(block.text);
      for (std::string line; std::getline(lines, line);) {
        std::string word;
        std::istringstream(line) >> word;
        word = word.substr(0, word.find_first_of("0123456789,"));
        EXPECT_NE(shown.find(word), std::string::npos) << line << "\nis not in\n" << shown;
        ++checked;
      }
    }
  }
  EXPECT_GE(commands, 6);
  EXPECT_GE(checked, 20);
  for (const char* file : {"report.html", "both.html", "runs/gestures/result.json"})
    EXPECT_TRUE(std::filesystem::exists(path(file))) << file;
}

TEST_F(ClassifyGuide, ShowsTheFilesOfTheExperiment) {
  int files = 0;
  for (const PageBlock& block : blocks_of(text_of(root / "docs/guides/classify.md")))
    if (!block.name.empty()) {
      EXPECT_EQ(text_of(root / "experiments/sequences" / block.name), block.text) << block.name;
      ++files;
    }
  EXPECT_EQ(files, 2);
}

}  // namespace
}  // namespace throughtime

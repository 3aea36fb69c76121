// Every command of every guide, and of a page that shows some, is run, in the order of the page, in a directory of its
// own. What the page shows is compared with what they print, and the files that they promise must be there and whole.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

#include "command/command_run.h"
#include "command/guides.h"
#include "command/shown_lines.h"
#include "command/whole_files.h"

namespace throughtime {
namespace {

using testing::Allowance;
using testing::first_line_not_printed;
using testing::Guide;
using testing::Outcome;
using testing::read_guide;
using testing::text_of;
using testing::trouble_of;
using testing::write_text;

const std::filesystem::path root = std::filesystem::path(THROUGHTIME_TEST_DIRECTORY).parent_path();

Guide guide_of(const std::string& page) { return read_guide(text_of(root / "docs" / (page + ".md"))); }

std::vector<std::string> guides() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(root / "docs/guides"))
    if (entry.path().extension() == ".md") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

/// Pictures, pages and sounds that a text names.
std::set<std::string> files_named_in(const std::string& text) {
  std::set<std::string> files;
  std::istringstream words(text);
  for (std::string word; words >> word;)
    for (const char* ending : {".svg", ".png", ".html", ".wav"})
      if (word.ends_with(ending)) files.insert(word);
  return files;
}

class Guides : public testing::CommandTest, public ::testing::WithParamInterface<std::string> {
 protected:
  /// With the program under test as `throughtime`. Both streams are `out`, in their order, as in a terminal.
  Outcome typed(const std::string& command) const {
    return shell("exec 2>&1; mkdir -p .bin && ln -sf " THROUGHTIME_COMMAND
                 " .bin/throughtime && PATH=$PWD/.bin:$PATH && " +
                 command);
  }

  static void expect_printed(const Guide::Shown& shown, const std::string& printed) {
    const std::optional<Allowance> allowance = Allowance::from(shown.allowance);
    ASSERT_TRUE(allowance) << "```text " << shown.allowance << ": not `words`, nor `within=` a number between 0 and 1";
    const std::string line = first_line_not_printed(shown.text, printed, *allowance);
    EXPECT_EQ(line, "") << "of\n" << shown.text << "is not, in its place, in\n" << printed;
  }

  /// Of that page.
  void run_all(const std::string& page) const {
    const Guide guide = guide_of(page);
    ASSERT_FALSE(guide.commands.empty());
    const bool pictures = typed("command -v gnuplot").code == 0;
    for (const auto& [name, text] : guide.files) write_text(path(name), text);
    std::string printed;  // since the page showed something
    std::set<std::string> promised;
    for (std::size_t i = 0; i < guide.commands.size(); ++i) {
      const std::string& command = guide.commands[i];
      const bool draws = command.find("--svg") != std::string::npos || command.find("--png") != std::string::npos;
      if (draws && !pictures) continue;
      const Outcome outcome = typed(command);
      ASSERT_EQ(outcome.code, 0) << command << "\n" << outcome.out;
      printed += outcome.out;
      promised.merge(files_named_in(command + "\n" + outcome.out));
      bool shown_here = false;
      for (const Guide::Shown& shown : guide.shown)
        if (shown.commands == i + 1) {
          expect_printed(shown, printed);
          shown_here = true;
        }
      if (shown_here) printed.clear();
    }
    for (const std::string& file : promised)
      if (pictures || !file.ends_with(".html")) {
        EXPECT_EQ(trouble_of(path(file)), "") << file;
      }
    if (!pictures) GTEST_SKIP() << "no gnuplot in PATH: all but the pictures";
  }
};

/// A guide without a line of what it prints would be compared with nothing.
TEST_P(Guides, ShowsWhatItPrintsAndDraws) {
  const Guide guide = guide_of("guides/" + GetParam());
  std::size_t lines = 0;
  for (const Guide::Shown& shown : guide.shown) {
    lines += testing::lines_in(shown.text);
    EXPECT_GT(shown.commands, 0u) << shown.text;
  }
  EXPECT_GE(lines, 3u);
  std::set<std::string> files;
  for (const std::string& command : guide.commands) files.merge(files_named_in(command));
  EXPECT_FALSE(files.empty());
}

TEST_P(Guides, EveryCommandWorks) { run_all("guides/" + GetParam()); }

INSTANTIATE_TEST_SUITE_P(All, Guides, ::testing::ValuesIn(guides()), [](const auto& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

/// What a page shows beside the guides.
class Pages : public Guides {};

TEST_P(Pages, EveryCommandWorks) { run_all(GetParam()); }

INSTANTIATE_TEST_SUITE_P(All, Pages, ::testing::Values("tasks"));

/// The files that a page shows are those of its experiment.
void expect_files_of(const std::string& page, const std::string& experiment, std::size_t first, std::size_t count) {
  const Guide guide = guide_of(page);
  ASSERT_GE(guide.files.size(), first + count);
  for (std::size_t i = first; i < first + count; ++i) {
    const auto& [name, text] = guide.files[i];
    EXPECT_EQ(text_of(root / "experiments" / experiment / name), text) << name;
  }
}

class Readme : public testing::CommandTest {};

/// All but the numbers, which take minutes: the lines and columns are those that the demo prints.
TEST_F(Readme, ShowsWhatTheDemoPrints) {
  std::istringstream lines(text_of(root / "README.md"));
  std::string shown;
  for (std::string line; std::getline(lines, line);) {
    if (shown.empty() && !line.starts_with("    demo/fptt:")) continue;
    if (!line.starts_with("    ")) break;
    if (line != "      ...") shown += line.substr(4) + "\n";
  }
  EXPECT_GT(testing::lines_in(shown), 8u) << shown;
  const std::string demo = (root / "experiments/demo.toml").string();
  const Outcome outcome =
      shell("exec 2>&1; " THROUGHTIME_COMMAND " train " + demo +
            " --set train.iterations=2 --set train.evaluate_every=1 --set train.evaluate_batches=1");
  ASSERT_EQ(outcome.code, 0) << outcome.out;
  EXPECT_EQ(first_line_not_printed(shown, outcome.out, *Allowance::from("words")), "") << shown << outcome.out;
}

TEST(ChoosingGuide, ShowsTheFileOfItsExperiment) { expect_files_of("guides/choosing-a-method", "choosing", 0, 1); }
TEST(AudioGuide, ShowsTheFilesOfItsExperiment) { expect_files_of("guides/audio", "audio", 0, 2); }
TEST(ClassifyGuide, ShowsTheFilesOfItsExperiment) { expect_files_of("guides/classify", "sequences", 0, 2); }

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
  EXPECT_EQ(guide.shown[0].allowance, "");
  EXPECT_EQ(read_guide("```text within=0.2\na 1.5\n```\n").shown.at(0).allowance, "within=0.2");
  EXPECT_TRUE(read_guide("no blocks\n").commands.empty());
}

TEST(Allowance, IsANumberOrWords) {
  EXPECT_EQ(Allowance::from("")->relative, Allowance::usual);
  EXPECT_EQ(Allowance::from("within=0.2")->relative, 0.2);
  EXPECT_TRUE(Allowance::from("words")->words_only);
  for (const char* wrong : {"within", "within=", "within=0", "within=2", "within=0.2x", "word"})
    EXPECT_FALSE(Allowance::from(wrong)) << wrong;
}

std::string wrong(const std::string& shown, const std::string& printed, const std::string& allowance = "") {
  return first_line_not_printed(shown, printed, *Allowance::from(allowance));
}

TEST(ShownLines, NumbersMayDifferAsFarAsIsSaid) {
  EXPECT_EQ(wrong("mse 0.500\n", "mse 0.504\n"), "");
  EXPECT_EQ(wrong("mse 0.500\n", "mse 0.510\n"), "mse 0.500");
  EXPECT_EQ(wrong("mse 0.500\n", "mse 0.610\n", "within=0.2"), "");
  EXPECT_EQ(wrong("mse 0.500\n", "mse -0.500\n", "within=0.2"), "mse 0.500");
  EXPECT_EQ(wrong("mse 1.5e-4\n", "mse 0.000151\n"), "") << "0.00015 and 0.000151 are rounded to the same";
  EXPECT_EQ(wrong("mse 1.5e-4\n", "mse 0.000171\n"), "mse 1.5e-4");
  EXPECT_EQ(wrong("mse 0.500\n", "rmse 0.500\n"), "mse 0.500");
  EXPECT_EQ(wrong("16 rows\n", "17 rows\n", "within=0.2"), "16 rows") << "whole numbers are what they are";
  EXPECT_EQ(wrong("mse 0.5, as rows of 7\n", "mse 9, as rows of 8\n", "words"), "");
  EXPECT_EQ(wrong("mse 0.5, as rows\n", "mse 0.5, as lines\n", "words"), "rows");
}

TEST(ShownLines, ComeInTheirOrderAndMayLackColumns) {
  EXPECT_EQ(wrong("b 2\n", "a 1\nb 2\n"), "");
  EXPECT_EQ(wrong("b 2\na 1\n", "a 1\nb 2\n"), "a 1");
  EXPECT_EQ(wrong("arm  mse\n---  ---\na    1.5\n", "arm    steps  mse\n-----  -----  ---\na          7  1.5\n"), "");
  EXPECT_EQ(wrong("arm  mse\na    1.5\n", "arm  steps  mse\na    1.5     7\n"), "") << "columns are not told apart";
  EXPECT_EQ(wrong("x,y\nup,0.5\n", "x,y\nup,0.7\n"), "up,0.5");
  EXPECT_EQ(wrong("\n\na\n", "a\n"), "");
}

TEST(ShownLines, TimesAndThreadsBelongToTheMachine) {
  EXPECT_EQ(wrong("60 rows in 0.6 s\n", "60 rows in 12.5 s\n"), "");
  EXPECT_EQ(wrong("engine cpu, 2 threads\n", "engine cpu, 1 thread\n"), "");
  EXPECT_EQ(wrong("mse 0.5 ± 0.1\n", "mse 0.5 ± 0.4\n"), "");
  EXPECT_EQ(wrong("mse 0.5 ± 0.1\n", "mse 0.7 ± 0.1\n"), "mse 0.5 ± 0.1");
  const std::string head = "rate  seconds  loss\n----  -------  ----\n";
  EXPECT_EQ(wrong(head + "a         0.5   1.5\n", head + "a        12.5   1.5\n"), "");
  EXPECT_EQ(wrong(head + "a         0.5   1.5\n", head + "a         0.5   1.7\n"), "a         0.5   1.5");
}

TEST(WholeFiles, AreToldFromTornOnes) {
  const testing::ScratchDirectory room;
  const auto trouble = [&](const std::string& name, const std::string& text) {
    return trouble_of(room.write(name, text));
  };
  EXPECT_EQ(trouble_of(room / "none.svg"), "is not there");
  EXPECT_EQ(trouble("a.svg", "<svg><path d=\"M0 0\"/></svg>\n"), "");
  EXPECT_NE(trouble("a.svg", "<svg><path d=\"M0 0\"/></svg"), "");
  EXPECT_NE(trouble("a.svg", "<svg></svg>"), "");
  EXPECT_NE(trouble("a.html", "<!DOCTYPE html><p>no pictures</p></html>"), "");
  std::string png = {"\x89PNG\r\n\x1a\n", 8};
  for (const std::string chunk : {"IHDR1234567890123", "IDATabc", "IEND"}) {
    const auto sum = static_cast<std::uint32_t>(
        crc32(0, reinterpret_cast<const Bytef*>(chunk.data()), static_cast<uInt>(chunk.size())));
    png += std::string{'\0', '\0', '\0', static_cast<char>(chunk.size() - 4)} + chunk;
    for (const int shift : {24, 16, 8, 0}) png += static_cast<char>(sum >> shift & 0xFF);
  }
  EXPECT_EQ(trouble("a.png", png), "");
  EXPECT_NE(trouble("a.png", png.substr(0, png.size() - 12)), "") << "without its end";
  EXPECT_NE(trouble("a.png", png + "x"), "");
  png[20] = static_cast<char>(png[20] + 1);
  EXPECT_NE(trouble("a.png", png), "") << "a changed byte";
  EXPECT_NE(trouble("a.wav", "RIFF"), "");
}

}  // namespace
}  // namespace throughtime

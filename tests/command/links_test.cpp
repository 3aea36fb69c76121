#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>
#include <sstream>

#include "reproduce/atlas.h"
#include "support/scratch.h"

namespace throughtime::testing {
namespace {

/// A page without its blocks of code, in which brackets mean something else.
std::string prose_of(const std::string& markdown) {
  std::istringstream lines(markdown);
  std::string text;
  bool code = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) code = !code;
    if (!code && !line.starts_with("    ")) text += std::regex_replace(line, std::regex("`[^`]*`"), "`") + "\n";
  }
  return text;
}

std::set<std::string> anchors_of(const std::filesystem::path& page) {
  std::istringstream lines(text_of(page));
  std::set<std::string> anchors;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("#")) anchors.insert(anchor_of(line.substr(std::min(line.find(' ') + 1, line.size()))));
  return anchors;
}

/// What is wrong with a link of a page; empty: nothing. What is on other machines is not looked at.
std::string trouble_of(const std::filesystem::path& page, const std::string& link) {
  if (link.starts_with("http:") || link.starts_with("https:") || link.starts_with("mailto:")) return "";
  const std::size_t hash = link.find('#');
  const std::filesystem::path target = hash == 0 ? page : page.parent_path() / link.substr(0, hash);
  if (!std::filesystem::exists(target)) return "there is no such file";
  if (hash == std::string::npos || target.extension() != ".md") return "";
  return anchors_of(target).contains(link.substr(hash + 1)) ? "" : "the page has no such heading";
}

std::vector<std::string> links_of(const std::filesystem::path& page) {
  static const std::regex pattern(R"(\]\(([^)\s]+)\))");
  const std::string text = prose_of(text_of(page));
  std::vector<std::string> links;
  for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at) links.push_back((*at)[1]);
  return links;
}

TEST(Links, BrokenOnesAreSeen) {
  const ScratchDirectory scratch;
  scratch.write("b.md", "# One heading\n");
  scratch.write("a.md",
                "[x](b.md) [x](b.md#one-heading) [x](b.md#none) [x](c.md) `[x](d.md)`\n    [x](e.md)\n"
                "[x](#here)\n## Here\n[x](https://a.example/b)\n");
  std::vector<std::string> broken;
  for (const std::string& link : links_of(scratch / "a.md"))
    if (!trouble_of(scratch / "a.md", link).empty()) broken.push_back(link);
  EXPECT_EQ(broken, (std::vector<std::string>{"b.md#none", "c.md"}));
}

TEST(Links, OfAllPagesLeadSomewhere) {
  const std::filesystem::path root = std::filesystem::path(THROUGHTIME_TEST_DIRECTORY).parent_path();
  std::vector<std::filesystem::path> pages;
  for (const char* name : {"README.md", "CONTRIBUTING.md"}) pages.push_back(root / name);
  for (const char* directory : {"docs", "experiments", "examples", "python", "tests"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / directory))
      if (entry.path().extension() == ".md") pages.push_back(entry.path());
  std::size_t links = 0;
  for (const std::filesystem::path& page : pages)
    for (const std::string& link : links_of(page)) {
      EXPECT_EQ(trouble_of(page, link), "") << page << ": " << link;
      ++links;
    }
  EXPECT_GT(links, 100u);
}

}  // namespace
}  // namespace throughtime::testing

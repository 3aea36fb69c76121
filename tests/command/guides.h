#pragma once

#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace throughtime::testing {

/// What a reader of a guide does with it: files to write, then commands to type.
struct Guide {
  std::vector<std::pair<std::string, std::string>> files;  // name, text
  std::vector<std::string> commands;
  struct Shown {
    std::size_t commands;  // so many of them come before it
    std::string text;
    std::string allowance;  // what stands behind ```text, such as within=0.2 (shown_lines.h)
  };
  std::vector<Shown> shown;  // what they print, as the page says
};

/// Reads a guide in Markdown. A block that is fenced with ```toml NAME, or any language and a NAME, is a file; the
/// lines of a block ```sh are commands (one that ends with \ goes on in the next line). A block ```text, or one that
/// says nothing, shows what the commands before it print; ```text ALLOWANCE says how close the numbers are.
inline Guide read_guide(const std::string& markdown) {
  Guide guide;
  std::istringstream text(markdown);
  std::string line, language, name, block;
  bool inside = false;
  while (std::getline(text, line)) {
    if (!line.starts_with("```")) {
      if (inside) block += line + "\n";
      continue;
    }
    const bool shows = language == "text" || language.empty();
    if (inside && !name.empty() && !shows) guide.files.emplace_back(name, block);
    if (inside && name.empty() && language == "sh") {
      std::istringstream lines(block);
      std::string command;
      for (std::string part; std::getline(lines, part);) {
        const bool more = part.ends_with("\\");
        command += more ? part.substr(0, part.size() - 1) : part;
        if (more) continue;
        if (!command.empty() && command[0] != '#') guide.commands.push_back(command);
        command.clear();
      }
    }
    if (inside && shows) guide.shown.push_back({guide.commands.size(), block, name});
    inside = !inside;
    std::istringstream fence(line.substr(3));
    language.clear(), name.clear(), block.clear();
    fence >> language >> name;
  }
  return guide;
}

}  // namespace throughtime::testing

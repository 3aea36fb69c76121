#include "help_text.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include "terminal.h"
#include "throughtime/index.h"

namespace throughtime {
namespace {

std::string names_of(const std::set<CLI::Option*>& options) {
  std::vector<std::string> names;
  for (const CLI::Option* option : options) names.push_back(option->get_name());
  std::sort(names.begin(), names.end());
  return fmt::format("{}", fmt::join(names, ", "));
}

/// A line of help; its description begins at `column`.
std::string folded_line(const std::string& line, std::size_t column, std::size_t width) {
  constexpr std::size_t narrowest = 20;
  if (text_width(line) <= width) return line;
  if (line.size() <= column || line[column - 1] != ' ' || column + narrowest > width) return folded(line, width);
  std::string text = line.substr(0, column);
  const std::vector<std::string> parts = wrapped(line.substr(column), width - column);
  for (std::size_t i = 0; i < parts.size(); ++i) text += (i == 0 ? "" : "\n" + std::string(column, ' ')) + parts[i];
  return text;
}

}  // namespace

std::string value_name(const CLI::Option& option) {
  if (option.get_type_size() == 0) return "";
  std::string name = option.get_type_name();
  // What CLI11 writes of a check, "N:INT in [1 - 9]", is left to the message of one that fails.
  if (const std::size_t check = name.find(':'); check != std::string::npos) {
    if (name[check + 1] == '{') return name.substr(check + 1);
    name.erase(check);
  }
  return name == "INT" || name == "UINT" ? "N" : name == "FLOAT" ? "NUMBER" : name;
}

std::string HelpText::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const {
  const std::string text = Formatter::make_help(app, std::move(name), mode);
  const Style style = style_of(STDOUT_FILENO);
  if (!style.terminal) return text;
  std::istringstream lines(text);
  std::string result;
  bool examples = false;  // they stay lines that can be copied
  for (std::string line; std::getline(lines, line);) {
    examples = examples || line.starts_with("Example");
    result += (examples ? line : folded_line(line, column_width_, elements(style.width))) + "\n";
  }
  return result;
}

std::string HelpText::make_option_opts(const CLI::Option* option) const {
  std::string text;
  if (option->get_type_size() != 0) {
    if (const std::string name = value_name(*option); !name.empty()) text += " " + name;
    if (!option->get_default_str().empty()) text += "=" + option->get_default_str();
    if (option->get_expected_max() == CLI::detail::expected_max_vector_size) text += " ...";
  }
  return text;
}

std::string HelpText::make_option_desc(const CLI::Option* option) const {
  std::string text = option->get_description();
  if (option->get_required()) text += " (required)";
  if (const auto& needed = option->get_needs(); !needed.empty() && text.find("ith --") == std::string::npos)
    text += fmt::format(" (with {})", names_of(needed));
  if (const auto& excluded = option->get_excludes(); !excluded.empty())
    text += fmt::format(" (not with {})", names_of(excluded));
  return text;
}

std::string folded_options(const std::string& text, std::size_t width) {
  constexpr std::size_t indent = 6;
  std::istringstream lines(text);
  std::string result;
  for (std::string line; std::getline(lines, line); result += "\n") {
    const std::size_t key_end = line.find(' ', 2);
    const std::size_t value = line.find_first_not_of(' ', std::min(key_end, line.size()));
    const std::size_t value_end = line.find("  ", value);
    const bool option = line.starts_with("  ") && value_end != std::string::npos;
    if (!option || text_width(line) <= width) {
      result += folded(line, width);
      continue;
    }
    result += line.substr(0, key_end) + " = " + line.substr(value, value_end - value);
    for (const std::string& part : wrapped(line.substr(line.find_first_not_of(' ', value_end)), width - indent))
      result += "\n" + std::string(indent, ' ') + part;
  }
  return result;
}

}  // namespace throughtime

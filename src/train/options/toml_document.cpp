#include "train/options/toml_document.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <sstream>
#include <string_view>

#include "core/names.h"
#include "data/printable.h"
#include "throughtime/error.h"
#include "throughtime/index.h"

namespace throughtime {

namespace {

constexpr int deepest_key = 32;  // dots of a key; toml++ and those who walk its tables go down by one call for each

/// The end of the string or comment that begins at `at`; `at` itself where none does.
std::size_t end_of_text(std::string_view text, std::size_t at) {
  const auto after = [&](std::string_view end, std::size_t from) {
    const std::size_t found = text.find(end, from);
    return found == text.npos ? text.size() : found + end.size();
  };
  if (text[at] == '#') return std::min(text.find('\n', at), text.size());
  if (text[at] != '"' && text[at] != '\'') return at;
  const std::string_view quote = text.substr(at, 1);
  const std::string three(3, text[at]);
  if (text.substr(at).starts_with(three)) return after(three, at + 3);
  if (quote == "'") return std::min(after(quote, at + 1), text.size());
  while (++at < text.size() && text[at] != '"' && text[at] != '\n')
    if (text[at] == '\\') ++at;
  return std::min(at + 1, text.size());
}

bool begins_key(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '"' || c == '\'';
}

/// Refuses a header of a table, at the bracket `at`, that does not go on with a name: the parser takes that for
/// granted.
void check_header(std::string_view text, std::size_t at, const std::string& where, std::size_t line) {
  const auto skip_blanks = [&] { at = std::min(text.find_first_not_of(" \t", at), text.size()); };
  ++at;
  skip_blanks();
  if (at < text.size() && text[at] == '[') {
    ++at;
    skip_blanks();
  }
  if (at < text.size() && text[at] != ']' && !begins_key(text[at]))
    refuse("config", "{}:{}: a table's name must follow [, such as [train]", where, line);
}

/// Refuses what the parser does not: a key that goes so deep that it may run out of stack, and headers without a name.
void check_shape(std::string_view text, const std::string& where) {
  int dots = 0, depth = 0;  // depth: of brackets that are open
  bool fresh = true;        // nothing but blanks since the line began
  std::size_t line = 1;
  for (std::size_t at = text.starts_with("\xef\xbb\xbf") ? 3 : 0; at < text.size(); ++at) {  // a mark of UTF-8
    const std::size_t end = end_of_text(text, at);
    line += elements(std::count(text.begin() + at, text.begin() + end, '\n'));
    if (end > at) {
      at = end - 1;
      fresh = false;
      continue;
    }
    const char c = text[at];
    if (c == ' ' || c == '\t') continue;
    if (c == '\n') ++line;
    if (fresh && depth == 0 && c == '[') check_header(text, at, where, line);
    fresh = c == '\n';
    depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
    const bool name = std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-';
    dots = c == '.' ? dots + 1 : name ? dots : 0;
    if (dots > deepest_key) refuse("config", "{}:{}: a key may have {} dots at most", where, line, deepest_key);
  }
}

}  // namespace

toml::table parse_toml(const std::string& text, const std::string& where) {
  check_shape(text, where);
  return toml::parse(text);
}

toml::table parse_document(const std::string& text, const std::string& where) {
  try {
    return parse_toml(text, where);
  } catch (const toml::parse_error& error) {
    // It quotes what it met, line ends among it.
    refuse("config", "{}: {}", at_line(where, error.source()), printable(error.description()));
  }
}

std::string at_line(const std::string& where, const toml::source_region& region) {
  return fmt::format("{}:{}", where, region.begin.line);
}

std::string kind_text(const toml::node& node) {
  if (node.is_string()) return "the text \"" + node.as_string()->get() + "\"";
  if (node.is_table()) return "a table";
  if (node.is_array()) return "a list";
  std::ostringstream text;
  if (node.is_integer()) text << node.as_integer()->get();
  if (node.is_floating_point()) text << node.as_floating_point()->get();
  if (node.is_boolean()) text << (node.as_boolean()->get() ? "true" : "false");
  return text.str().empty() ? "a date or time" : text.str();
}

std::string real_text(double value) {
  std::string text = fmt::format("{}", value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string value_text(const toml::node& node) {
  if (const auto* number = node.as_floating_point()) return real_text(number->get());
  if (const toml::array* list = node.as_array()) {
    std::vector<std::string> items;
    for (const toml::node& item : *list) items.push_back(value_text(item));
    return fmt::format("[{}]", fmt::join(items, ", "));
  }
  std::ostringstream text;
  node.visit([&](const auto& value) { text << value; });
  return text.str();
}

std::vector<std::pair<std::string, const toml::node*>> values_under(const toml::table& table) {
  std::vector<std::pair<std::string, const toml::node*>> values;
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    if (const toml::table* inner = node.as_table())
      for (const auto& [below, value] : values_under(*inner)) values.emplace_back(name + "." + below, value);
    else
      values.emplace_back(name, &node);
  }
  return values;
}

void refuse_name(const std::string& where, const std::string& what, const std::string& given,
                 const std::vector<std::string>& known) {
  const std::string nearest = nearest_name(given, known);
  std::vector<std::string> names;
  for (const std::string& name : known) names.push_back(name.empty() ? "\"\"" : name);
  refuse("config", "{}: unknown {} '{}';{} known: {}", where, what, given,
         nearest.empty() ? "" : fmt::format(" did you mean '{}'?", nearest), fmt::join(names, ", "));
}

}  // namespace throughtime

#include "train/options/toml_document.h"

#include <fmt/ranges.h>

#include <sstream>

#include "core/names.h"
#include "throughtime/error.h"

namespace throughtime {

toml::table parse_document(const std::string& text, const std::string& where) {
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    refuse("config", "{}: {}", at_line(where, error.source()), error.description());
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
  refuse("config", "{}: unknown {} '{}';{} known: {}", where, what, given,
         nearest.empty() ? "" : fmt::format(" did you mean '{}'?", nearest), fmt::join(known, ", "));
}

}  // namespace throughtime

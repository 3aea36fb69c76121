#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "train/options/options.h"
#include "train/options/toml_document.h"

namespace throughtime {
namespace {

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char character : text) {
    if (character == '"' || character == '\\') {
      result += '\\';
      result += character;
    } else if (static_cast<unsigned char>(character) < 0x20 || character == 0x7f) {
      result += fmt::format("\\u{:04X}", static_cast<unsigned>(character));
    } else {
      result += character;
    }
  }
  return result + '"';
}

std::string toml_text(bool value) { return value ? "true" : "false"; }
std::string toml_text(int value) { return std::to_string(value); }
std::string toml_text(std::int64_t value) { return std::to_string(value); }
std::string toml_text(std::uint64_t value) { return std::to_string(value); }
std::string toml_text(const std::string& value) { return quoted(value); }
std::string toml_text(double value) { return real_text(value); }
template <Choice Enum>
std::string toml_text(Enum value) {
  return quoted(std::string(name_of(value)));
}

template <class T>
std::string toml_text(const std::vector<T>& values) {
  if (values.size() == 1) return toml_text(values.front());
  std::string text;
  for (const T& value : values) text += (text.empty() ? "" : ", ") + toml_text(value);
  return "[" + text + "]";
}

std::string bound_text(double bound) { return fmt::format("{}", bound); }

struct TypeName {
  std::string operator()(FieldOf<bool>) const { return "true or false"; }
  std::string operator()(FieldOf<int>) const { return "integer"; }
  std::string operator()(FieldOf<std::int64_t>) const { return "integer"; }
  std::string operator()(FieldOf<std::uint64_t>) const { return "integer"; }
  std::string operator()(FieldOf<double>) const { return "number"; }
  std::string operator()(FieldOf<std::string>) const { return "text"; }
  std::string operator()(FieldOf<ScheduleRule>) const { return "text"; }
  std::string operator()(FieldOf<InitialiseRule>) const { return "text"; }
  std::string operator()(FieldOf<std::vector<int>>) const { return "integer or list of integers"; }
  std::string operator()(FieldOf<std::vector<double>>) const { return "number or list of numbers"; }
  std::string operator()(FieldOf<std::vector<std::string>>) const { return "text or list of texts"; }
};

bool is_number(const Option& option) {
  return !std::holds_alternative<FieldOf<bool>>(option.field) &&
         !std::holds_alternative<FieldOf<std::string>>(option.field) &&
         !std::holds_alternative<FieldOf<ScheduleRule>>(option.field) &&
         !std::holds_alternative<FieldOf<InitialiseRule>>(option.field) &&
         !std::holds_alternative<FieldOf<std::vector<std::string>>>(option.field);
}

}  // namespace

std::string Range::text() const {
  const bool bounded_low = std::isfinite(low);
  const bool bounded_high = std::isfinite(high);
  const std::string lower = (open_low ? "above " : "at least ") + bound_text(low);
  const std::string upper = (open_high ? "below " : "at most ") + bound_text(high);
  if (bounded_low && bounded_high) {
    if (!open_low && !open_high) return "between " + bound_text(low) + " and " + bound_text(high);
    return lower + " and " + upper;
  }
  if (bounded_low) return lower;
  return bounded_high ? upper : "";
}

std::string type_name(const Option& option) { return std::visit(TypeName{}, option.field); }

std::string allowed_text(const Option& option) {
  if (is_number(option)) return option.range.text();
  std::string text;
  if (option.names != nullptr)
    for (const std::string& name : option.names()) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::string value_text(const Option& option, const RunConfig& config) {
  RunConfig copy = config;  // accessors hand out mutable fields
  return std::visit([&](auto field) { return toml_text(field(copy)); }, option.field);
}

std::string options_text() {
  const RunConfig defaults;
  std::size_t key_width = 0;
  std::size_t value_width = 0;
  for (const Option& option : all_options()) {
    key_width = std::max(key_width, option.key.size());
    value_width = std::max(value_width, value_text(option, defaults).size());
  }
  std::string text;
  std::string table;
  for (const Option& option : all_options()) {
    if (option.table() != table) {
      table = option.table();
      text += fmt::format("{}[{}]\n", text.empty() ? "" : "\n", table);
    }
    const std::string allowed = allowed_text(option);
    text += fmt::format("  {:<{}}  {:<{}}  {}{}\n", option.key, key_width, value_text(option, defaults), value_width,
                        option.help, allowed.empty() ? "" : " (" + allowed + ")");
  }
  return text;
}

std::string options_markdown() {
  const RunConfig defaults;
  std::string text =
      "# Options\n\n"
      "Every option of a configuration file, and of `--set table.name=value` on the command line. This page is the "
      "output of\n"
      "`throughtime help options --markdown`.\n";
  std::string table;
  for (const Option& option : all_options()) {
    if (option.table() != table) {
      table = option.table();
      text += fmt::format(
          "\n## [{}]\n\n| option | type | default | allowed | meaning |\n| --- | --- | --- | --- | --- |\n", table);
    }
    text += fmt::format("| `{}` | {} | `{}` | {} | {} |\n", option.name(), type_name(option),
                        value_text(option, defaults), allowed_text(option), option.help);
  }
  return text;
}

}  // namespace throughtime

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "train/options/config.h"

namespace throughtime {

/// Bounds of a number; an open end is excluded.
struct Range {
  double low = 0;
  double high = 0;
  bool open_low = false;
  bool open_high = false;

  bool holds(double value) const;
  std::string text() const;  // "at least 1", "from 0 up to 1, excluding 1", ...
};

/// Where an option lives in a RunConfig; the type of the field is the type of the option.
template <class T>
using FieldOf = T& (*)(RunConfig&);
using Field = std::variant<FieldOf<bool>, FieldOf<int>, FieldOf<std::int64_t>, FieldOf<std::uint64_t>, FieldOf<double>,
                           FieldOf<std::string>, FieldOf<std::vector<int>>, FieldOf<std::vector<double>>,
                           FieldOf<std::vector<std::string>>, FieldOf<ScheduleRule>, FieldOf<InitialiseRule>>;

/// One option, declared once: parsing, defaults, help, the documentation page and the resolved text come from it.
struct Option {
  std::string key;  // "table.name"
  Field field;
  std::string help;
  Range range = {};                               // numbers only
  std::vector<std::string> (*names)() = nullptr;  // text only; null: any text

  std::string table() const { return key.substr(0, key.find('.')); }
  std::string name() const { return key.substr(key.find('.') + 1); }
};

/// All options, grouped by table.
const std::vector<Option>& all_options();
/// The option of that key; refuses unknown keys with the nearest known one, beginning with `where`.
const Option& find_option(const std::string& key, const std::string& where);

/// "integer", "text", "list of numbers", ...
std::string type_name(const Option& option);
/// What values are right: a range or the known names; empty where anything goes.
std::string allowed_text(const Option& option);
/// The value of an option as TOML text.
std::string value_text(const Option& option, const RunConfig& config);

/// The listing of `help options`, and the page docs/options.md.
std::string options_text();
std::string options_markdown();

}  // namespace throughtime

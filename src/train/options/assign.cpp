#include "train/options/assign.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "throughtime/error.h"
#include "train/options/options.h"
#include "train/options/toml_document.h"

namespace throughtime {
namespace {

/// Puts a TOML value into the field of an option, or says what would be right.
class Assignment {
 public:
  Assignment(const Option& option, const toml::node& node, const std::string& where)
      : option_(option), node_(node), where_(where) {}

  template <class T>
  void operator()(T* field) const {
    convert(node_, *field);
  }
  void operator()(const ChoiceField& field) const {
    std::vector<std::string> names;
    if (field.list) {
      convert(node_, names);
    } else {
      convert(node_, names.emplace_back());
    }
    field.set(names);
  }

 private:
  [[noreturn]] void refuse_type(const toml::node& node) const {
    refuse("config", "{}: {} must be {}, got {}", where_, option_.key, type_with_article(), kind_text(node));
  }

  std::string type_with_article() const {
    const std::string type = type_name(option_);
    if (type.starts_with("true")) return type;
    return (type.starts_with("integer") ? "an " : "a ") + type;
  }

  void check_range(double value, const toml::node& node) const {
    if (option_.range.holds(value)) return;
    const std::string range = option_.range.text();
    refuse("config", "{}: {} must be {}, got {}", where_, option_.key, range.empty() ? "finite" : range,
           kind_text(node));
  }

  void convert(const toml::node& node, bool& out) const {
    if (!node.is_boolean()) refuse_type(node);
    out = node.as_boolean()->get();
  }

  template <std::integral T>
  void convert(const toml::node& node, T& out) const {
    if (!node.is_integer()) refuse_type(node);
    const std::int64_t value = node.as_integer()->get();
    check_range(static_cast<double>(value), node);
    if (!std::in_range<T>(value))
      refuse("config", "{}: {} must be at most {}, got {}", where_, option_.key, std::numeric_limits<T>::max(), value);
    out = static_cast<T>(value);
  }

  void convert(const toml::node& node, double& out) const {
    const std::optional<double> value = node.value<double>();
    if (!node.is_number() || !value) refuse_type(node);
    check_range(*value, node);
    out = *value;
  }

  void convert(const toml::node& node, std::string& out) const {
    if (!node.is_string()) refuse_type(node);
    out = node.as_string()->get();
    const std::vector<std::string>& names = option_.names;
    if (!names.empty() && std::find(names.begin(), names.end(), out) == names.end())
      refuse_name(where_, option_.key, out, names);
  }

  /// A single value is a list of one.
  template <class T>
  void convert(const toml::node& node, std::vector<T>& out) const {
    std::vector<T> values;
    if (const toml::array* list = node.as_array()) {
      for (const toml::node& entry : *list) convert(entry, values.emplace_back());
    } else {
      convert(node, values.emplace_back());
    }
    out = std::move(values);
  }

  const Option& option_;
  const toml::node& node_;
  const std::string& where_;
};

void assign(const Option& option, const toml::node& node, const std::string& where) {
  std::visit(Assignment(option, node, where), option.field);
}

bool takes_text(const Option& option) { return type_name(option).starts_with("text"); }

/// The value of `--set`: TOML where it is TOML, else the text as it stands, so that names need no quotes.
toml::table parse_value(const Option& option, const std::string& text) {
  try {
    toml::table parsed = parse_toml("value = " + text, option.key);
    const toml::node* value = parsed.get("value");
    const bool fits = value != nullptr && (!takes_text(option) || value->is_string() || value->is_array());
    if (parsed.size() == 1 && fits) return parsed;
  } catch (const toml::parse_error&) {
  }
  return toml::table{{"value", text}};
}

/// "learner", "learner.fptt", ...: every table that an option is in, or a table of it.
std::vector<std::string> table_names(const OptionList& list) {
  std::vector<std::string> names;
  for (const Option& option : list.options())
    for (std::string table = option.table(); !table.empty();
         table = table.substr(0, std::max<std::size_t>(1, table.rfind('.') + 1) - 1))
      if (std::find(names.begin(), names.end(), table) == names.end()) names.push_back(table);
  return names;
}

/// The tables of a document, walked to their values.
class TableWalk {
 public:
  TableWalk(RunConfig& config, const std::string& where)
      : list_(options_of(config)), tables_(table_names(list_)), where_(where) {}

  void walk(const toml::table& table, const std::string& prefix) const {
    for (const auto& [key, node] : table) {
      const std::string name = prefix + std::string(key.str());
      const std::string place = at_line(where_, key.source());
      const bool is_table = std::find(tables_.begin(), tables_.end(), name) != tables_.end();
      if (const toml::table* inner = node.as_table()) {
        if (!is_table) refuse_name(place, "table", name, tables_);
        walk(*inner, name + ".");
      } else if (is_table) {
        refuse("config", "{}: {} must be a table, got {}", place, name, kind_text(node));
      } else if (prefix.empty()) {
        refuse_name(place, "table", name, tables_);
      } else {
        assign(find_option(list_, name, place), node, place);
      }
    }
  }

 private:
  OptionList list_;
  std::vector<std::string> tables_;
  const std::string& where_;
};

}  // namespace

void assign_tables(RunConfig& config, const toml::table& document, const std::string& where) {
  TableWalk(config, where).walk(document, "");
}

void set_option(RunConfig& config, const std::string& assignment, const std::string& where) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string::npos)
    refuse("config", "{}: expected key=value, such as train.batch=64, got \"{}\"", where, assignment);
  const OptionList list = options_of(config);
  const Option& option = find_option(list, assignment.substr(0, equals), where);
  assign(option, *parse_value(option, assignment.substr(equals + 1)).get("value"), where);
}

}  // namespace throughtime

#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "core/names.h"
#include "reproduce/claims/rule.h"
#include "throughtime/error.h"
#include "train/options/toml_document.h"

/// Tables of a file whose keys are declared once: their reading and their documentation come from that.
namespace throughtime::table_keys {

/// One key of a table, declared once: its reading and its documentation come from it.
template <class Owner>
struct Key {
  using Field = std::variant<std::string Owner::*, double Owner::*, int Owner::*, bool Owner::*,
                             std::vector<std::string> Owner::*, std::vector<double> Owner::*, MeasureHow Owner::*,
                             RuleKind Owner::*>;
  std::string name;
  Field field;
  std::string help;
};

struct KeyType {
  template <class Owner>
  std::string operator()(std::string Owner::*) const {
    return "text";
  }
  template <class Owner>
  std::string operator()(double Owner::*) const {
    return "number";
  }
  template <class Owner>
  std::string operator()(int Owner::*) const {
    return "integer, at least 1";
  }
  template <class Owner>
  std::string operator()(bool Owner::*) const {
    return "true or false";
  }
  template <class Owner>
  std::string operator()(std::vector<std::string> Owner::*) const {
    return "list of texts";
  }
  template <class Owner>
  std::string operator()(std::vector<double> Owner::*) const {
    return "list of numbers";
  }
  template <class Owner, Choice Enum>
  std::string operator()(Enum Owner::*) const {
    return fmt::format("text: {}", fmt::join(all_names<Enum>(), ", "));
  }
};

inline bool convert(const toml::node& node, std::string& out) {
  if (node.is_string()) out = node.as_string()->get();
  return node.is_string();
}
inline bool convert(const toml::node& node, double& out) {
  if (node.is_number()) out = *node.value<double>();
  return node.is_number();
}
inline bool convert(const toml::node& node, int& out) {
  out = node.is_integer() ? static_cast<int>(std::clamp<std::int64_t>(node.as_integer()->get(), 0, 1000000)) : 0;
  return out >= 1;
}
inline bool convert(const toml::node& node, bool& out) {
  if (node.is_boolean()) out = node.as_boolean()->get();
  return node.is_boolean();
}
template <class Entry>
bool convert(const toml::node& node, std::vector<Entry>& out) {
  const toml::array* list = node.as_array();
  return list != nullptr && std::all_of(list->begin(), list->end(),
                                        [&](const toml::node& entry) { return convert(entry, out.emplace_back()); });
}

/// Whether a node is a text; one that is no name of the choice is refused.
template <Choice Enum>
bool convert(const toml::node& node, Enum& out, const std::string& where, const std::string& what) {
  std::string name;
  if (!convert(node, name)) return false;
  const std::vector<std::string> known = all_names<Enum>();
  const auto found = std::find(known.begin(), known.end(), name);
  if (found == known.end()) refuse_name(where, what, name, known);
  out = static_cast<Enum>(found - known.begin());
  return true;
}

/// Reads one entry into the field of its key; false where no key has that name.
template <class Owner>
bool assign(const std::vector<Key<Owner>>& keys, Owner& owner, const std::string& name, const toml::node& node,
            const std::string& where) {
  const auto key = std::find_if(keys.begin(), keys.end(), [&](const Key<Owner>& one) { return one.name == name; });
  if (key == keys.end()) return false;
  const bool fits = std::visit(
      [&](auto field) {
        if constexpr (Choice<std::remove_reference_t<decltype(owner.*field)>>)
          return convert(node, owner.*field, where, name);
        else
          return convert(node, owner.*field);
      },
      key->field);
  if (!fits)
    refuse("config", "{}: {} must be a value of type {}, got {}", where, name, std::visit(KeyType{}, key->field),
           kind_text(node));
  return true;
}

template <class Owner>
void add_names(const std::vector<Key<Owner>>& keys, std::vector<std::string>& names) {
  for (const Key<Owner>& key : keys) names.push_back(key.name);
}

template <class Owner>
std::string keys_table(const std::vector<Key<Owner>>& keys) {
  std::string text;
  for (const Key<Owner>& key : keys)
    text += fmt::format("| `{}` | {} | {} |\n", key.name, std::visit(KeyType{}, key.field), key.help);
  return text;
}

}  // namespace throughtime::table_keys

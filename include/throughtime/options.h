#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "throughtime/choice.h"
#include "throughtime/range.h"

namespace throughtime {

/// What may be the one that reads an option.
enum class UserKind { task, learner, cell, head, optimizer, average, schedule, initialise, command };
constexpr auto names_of(UserKind) {
  return choice_names("task", "learner", "cell", "head", "optimizer", "average", "schedule", "initialise", "command");
}

/// Who reads an option: names of one kind.
struct OptionUsers {
  UserKind kind;
  std::vector<std::string> names;
};

/// A choice or a list of choices, by the names of its values.
struct ChoiceField {
  std::function<std::vector<std::string>()> get;
  std::function<void(const std::vector<std::string>&)> set;  // takes known names only
  bool list = false;
};

/// One option: a field of somebody's configuration, and everything that a file, an error or the help says about it.
struct Option {
  using Field = std::variant<bool*, int*, std::int64_t*, std::uint64_t*, double*, std::string*, std::vector<int>*,
                             std::vector<double>*, std::vector<std::string>*, ChoiceField>;

  std::string key;  // "learner.fptt.windows"
  Field field;
  std::string help;
  Range range = {};                     // numbers only
  std::vector<std::string> names = {};  // text only; empty: any text
  std::vector<OptionUsers> users = {};  // it is read where one of each kind is at work; empty: always

  std::string table() const { return key.substr(0, key.rfind('.')); }
  std::string name() const { return key.substr(key.rfind('.') + 1); }
};

/// The options of a configuration. Whoever owns a struct of options lists its fields once, in `describe`:
///
///   void describe(FpttConfig& config, OptionList& list) {
///     list.add("windows", config.windows, "K, windows of a sequence", at_least(0));
///     list.add("form", config.form, "running estimate lambda, Algorithm 2 to the letter, or no regulariser");
///   }
///
/// The list points into that struct: setting an option sets the field.
class OptionList {
 public:
  template <class Field>
  requires(!Choice<Field>) void add(std::string_view name, Field& field, const std::string& help, Range range = {}) {
    options_.push_back(
        {.key = prefix_ + std::string(name), .field = &field, .help = help, .range = range, .users = users_});
  }

  template <Choice Enum>
  void add(std::string_view name, Enum& field, const std::string& help) {
    ChoiceField choice{
        .get = [&field] { return std::vector<std::string>{std::string(name_of(field))}; },
        .set = [&field](const std::vector<std::string>& names) { field = choice_of<Enum>(names.front(), "", ""); }};
    add_choice(name, std::move(choice), help, all_names<Enum>());
  }

  template <Choice Enum>
  void add(std::string_view name, std::vector<Enum>& field, const std::string& help) {
    ChoiceField choice{.get =
                           [&field] {
                             std::vector<std::string> names;
                             for (const Enum value : field) names.emplace_back(name_of(value));
                             return names;
                           },
                       .set =
                           [&field](const std::vector<std::string>& names) {
                             field.clear();
                             for (const std::string& one : names) field.push_back(choice_of<Enum>(one, "", ""));
                           },
                       .list = true};
    add_choice(name, std::move(choice), help, all_names<Enum>());
  }

  /// A text, or a list of texts, each of which must be one of `names`: the rows of a registry.
  template <class Text>
  void add_name(std::string_view name, Text& field, const std::string& help, std::vector<std::string> names) {
    add(name, field, help);
    options_.back().names = std::move(names);
  }

  /// The option that was added last is read by these only.
  void used_by(UserKind kind, std::vector<std::string> names) {
    options_.back().users.push_back({kind, std::move(names)});
  }

  const std::vector<Option>& options() const& { return options_; }
  const std::vector<Option>& options() && = delete;  // they would be gone

  /// Keys of what is added while it lives begin with `table.` (empty: as before); `users` says who reads them, where
  /// not everybody does.
  class Scope {
   public:
    Scope(OptionList& list, std::string_view table, std::vector<OptionUsers> users = {});
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    OptionList& list_;
    std::size_t length_, users_;
  };

 private:
  void add_choice(std::string_view name, ChoiceField field, const std::string& help, std::vector<std::string> names) {
    options_.push_back({.key = prefix_ + std::string(name),
                        .field = std::move(field),
                        .help = help,
                        .names = std::move(names),
                        .users = users_});
  }

  std::vector<Option> options_;
  std::string prefix_;
  std::vector<OptionUsers> users_;
};

}  // namespace throughtime

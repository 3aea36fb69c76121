#include <fmt/ranges.h>

#include <algorithm>

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

template <class T>
std::string toml_text(const std::vector<T>& values) {
  if (values.size() == 1) return toml_text(values.front());
  std::string text;
  for (const T& value : values) text += (text.empty() ? "" : ", ") + toml_text(value);
  return "[" + text + "]";
}

struct TypeName {
  std::string operator()(const bool*) const { return "true or false"; }
  std::string operator()(const int*) const { return "integer"; }
  std::string operator()(const std::int64_t*) const { return "integer"; }
  std::string operator()(const std::uint64_t*) const { return "integer"; }
  std::string operator()(const double*) const { return "number"; }
  std::string operator()(const std::string*) const { return "text"; }
  std::string operator()(const std::vector<int>*) const { return "integer or list of integers"; }
  std::string operator()(const std::vector<double>*) const { return "number or list of numbers"; }
  std::string operator()(const std::vector<std::string>*) const { return "text or list of texts"; }
  std::string operator()(const ChoiceField& choice) const { return choice.list ? "text or list of texts" : "text"; }
};

struct ValueText {
  template <class T>
  std::string operator()(const T* field) const {
    return toml_text(*field);
  }
  std::string operator()(const ChoiceField& choice) const {
    return choice.list ? toml_text(choice.get()) : toml_text(choice.get().front());
  }
};

/// What most people set, first in the help.
constexpr const char* common_keys[] = {"task.name",
                                       "task.series.path",
                                       "task.series.inputs",
                                       "task.series.targets",
                                       "model.cell",
                                       "model.hidden",
                                       "model.layers",
                                       "learner.name",
                                       "learner.tbptt.preset",
                                       "learner.tbptt.truncation",
                                       "learner.fptt.windows",
                                       "learner.fptt.alpha",
                                       "optimizer.name",
                                       "optimizer.rate",
                                       "optimizer.clip",
                                       "train.iterations",
                                       "train.epochs",
                                       "train.batch",
                                       "train.seed",
                                       "train.evaluate_every"};

/// The options in the order of the help: those that most people need, then all, table by table.
struct Section {
  std::string title;  // "the twenty that most people need", "[learner.fptt]"
  bool common = false;
  std::vector<const Option*> options = {};
};

std::vector<Section> sections(const OptionList& list) {
  std::vector<Section> all = {{.title = "What most people set", .common = true}};
  for (const char* key : common_keys) all.front().options.push_back(&find_option(list, key, "help"));
  for (const Option& option : list.options()) {
    const std::string title = fmt::format("[{}]", option.table());
    if (all.back().title != title) all.push_back({.title = title});
    all.back().options.push_back(&option);
  }
  return all;
}

/// "optimizer adam: ", where it is not the table that says who reads the option.
std::string users_text(const Option& option) {
  std::string text;
  for (const OptionUsers& users : option.users)
    if (users.kind != UserKind::learner && users.kind != UserKind::task && users.kind != UserKind::command)
      text += fmt::format("{} {}: ", name_of(users.kind), fmt::join(users.names, ", "));
  return text;
}

}  // namespace

std::string type_name(const Option& option) { return std::visit(TypeName{}, option.field); }

std::string allowed_text(const Option& option) {
  if (option.names.empty()) return option.range.text();
  std::vector<std::string> names = option.names;
  std::replace(names.begin(), names.end(), std::string(), std::string("empty"));
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string value_text(const Option& option) { return std::visit(ValueText{}, option.field); }

std::string options_text() {
  RunConfig defaults;
  const OptionList list = options_of(defaults);
  std::size_t key_width = 0;
  std::size_t value_width = 0;
  for (const Option& option : list.options()) {
    key_width = std::max(key_width, option.key.size());
    value_width = std::max(value_width, value_text(option).size());
  }
  std::string text;
  for (const Section& section : sections(list)) {
    text += fmt::format("{}{}\n", text.empty() ? "" : "\n", section.title);
    for (const Option* option : section.options) {
      const std::string allowed = allowed_text(*option);
      text += fmt::format("  {:<{}}  {:<{}}  {}{}{}\n", option->key, key_width, value_text(*option), value_width,
                          users_text(*option), option->help, allowed.empty() ? "" : " (" + allowed + ")");
    }
  }
  return text;
}

std::string options_markdown() {
  RunConfig defaults;
  const OptionList list = options_of(defaults);
  std::string text =
      "# Options\n\n"
      "Every option of a configuration file, and of `--set table.name=value` on the command line. A training method "
      "and\n"
      "a task have tables of their own: a file may hold those of several, and `learner.name` and `task.name` say "
      "whose\n"
      "are read. On the command line an option that nobody reads is refused. This page is the output of\n"
      "`throughtime help options --markdown`.\n"
      "\n"
      "A meaning that begins with `preset = custom:` or `cell antisymmetric:` says when the option is read. One that "
      "begins\n"
      "with `estimates:` is about the measurement of how fast gradients decay ([adaptive "
      "truncation](adaptive-tbptt.md)). Plain\n"
      "`tbptt` makes estimates with `logged_estimates`, and `fptt` with `window = \"adaptive\"`.\n";
  for (const Section& section : sections(list)) {
    text += fmt::format("\n## {}\n\n| option | type | default | allowed | meaning |\n| --- | --- | --- | --- | --- |\n",
                        section.title);
    for (const Option* option : section.options)
      text += fmt::format("| `{}` | {} | `{}` | {} | {}{} |\n", section.common ? option->key : option->name(),
                          type_name(*option), value_text(*option), allowed_text(*option), users_text(*option),
                          option->help);
  }
  return text;
}

}  // namespace throughtime

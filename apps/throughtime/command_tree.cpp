#include "command_tree.h"

#include "help_text.h"
#include "throughtime/cell.h"
#include "throughtime/engine.h"
#include "throughtime/learner.h"
#include "throughtime/task.h"
#include "train/options/options.h"

namespace throughtime {
namespace {

template <class Types>
std::vector<std::string> names_in(const Types& types) {
  std::vector<std::string> names;
  for (const auto* type : types) names.push_back(type->name);
  return names;
}

/// Values that are known wherever a flag of that name stands.
std::vector<std::string> choices_of(const std::string& flag) {
  if (flag == "--set") return option_keys();
  if (flag == "--learners" || flag == "--learner") return names_in(all_learners());
  if (flag == "--engine") return names_in(usable_engines());
  if (flag == "--cell") return names_in(all_cells());
  if (flag == "--split") {
    std::vector<std::string> names;
    for (const std::string_view name : names_of(Split())) names.emplace_back(name);
    return names;
  }
  return {};
}

CommandFlag flag_of(const CLI::Option& option) {
  CommandFlag flag{.names = {},
                   .by_place = option.get_positional(),
                   .value = option.get_items_expected_max() == 0 ? "" : value_name(option),
                   .text = option.get_description(),
                   .fallback = option.get_default_str(),
                   .choices = {}};
  for (const std::string& name : option.get_lnames()) flag.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) flag.names.push_back("-" + name);
  if (flag.by_place)
    flag.names = {option.get_name()};
  else
    flag.choices = choices_of(flag.names.front());
  if (flag.choices.empty() && flag.value.starts_with("{"))
    flag.choices = CLI::detail::split(flag.value.substr(1, flag.value.size() - 2), ',');
  return flag;
}

CommandNode node_of(const CLI::App& app, const std::string& path) {
  CommandNode node{.path = path,
                   .name = app.get_name(),
                   .text = app.get_description(),
                   .examples = app.get_footer(),
                   .flags = {},
                   .inner = {}};
  for (const CLI::Option* option : app.get_options()) node.flags.push_back(flag_of(*option));
  for (const CLI::App* inner : app.get_subcommands([](const CLI::App*) { return true; }))
    node.inner.push_back(node_of(*inner, path.empty() ? inner->get_name() : path + " " + inner->get_name()));
  return node;
}

void collect(const CommandNode& node, std::vector<const CommandNode*>& found) {
  found.push_back(&node);
  for (const CommandNode& inner : node.inner) collect(inner, found);
}

}  // namespace

CommandNode command_tree(const CLI::App& app) { return node_of(app, ""); }

std::vector<const CommandNode*> all_nodes(const CommandNode& root) {
  std::vector<const CommandNode*> found;
  collect(root, found);
  return found;
}

std::vector<std::string> option_keys() {
  RunConfig config;
  std::vector<std::string> keys;
  const OptionList options = options_of(config);
  for (const Option& option : options.options()) keys.push_back(option.key);
  return keys;
}

}  // namespace throughtime

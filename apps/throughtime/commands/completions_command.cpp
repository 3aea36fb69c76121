#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <set>
#include <string>

#include "command_tree.h"
#include "commands.h"
#include "terminal.h"
#include "throughtime/choice.h"

namespace throughtime {
namespace {

enum class Shell { bash, zsh, fish };
constexpr auto names_of(Shell) { return choice_names("bash", "zsh", "fish"); }

/// In single quotes, for any shell; `inner`: how a quote is written within them.
std::string quoted(const std::string& text, const std::string& inner = "'\\''") {
  std::string safe = "'";
  for (const char letter : text) safe += letter == '\'' ? inner : std::string(1, letter);
  return safe + "'";
}

/// Commands that stand below `node`, then its flags.
std::vector<std::string> words_of(const CommandNode& node) {
  std::vector<std::string> words;
  for (const CommandNode& inner : node.inner) words.push_back(inner.name);
  for (const CommandFlag& flag : node.flags)
    if (!flag.by_place) words.insert(words.end(), flag.names.begin(), flag.names.end());
  return words;
}

/// Lines of a `case` that follows the words of a command line from command to command.
std::string steps_of(const CommandNode& root) {
  std::string text;
  for (const CommandNode* node : all_nodes(root))
    for (const CommandNode& inner : node->inner)
      text += fmt::format("      {}) command={} ;;\n", quoted(node->path + " " + inner.name), quoted(inner.path));
  return text;
}

/// `use(flag)` for every flag with known values, once.
template <class Use>
void for_each_choice(const CommandNode& root, Use use) {
  std::set<std::string> seen;
  for (const CommandNode* node : all_nodes(root))
    for (const CommandFlag& flag : node->flags)
      if (!flag.choices.empty() && seen.insert(flag.names.front()).second) use(flag);
}

std::string bash_text(const CommandNode& root) {
  std::string choices, words;
  for_each_choice(root, [&](const CommandFlag& flag) {
    const bool keys = flag.names.front() == "--set";
    choices += fmt::format("    {}) {}words='{}{}' ;;\n", flag.names.front(), keys ? "compopt -o nospace; " : "",
                           fmt::join(flag.choices, keys ? "= " : " "), keys ? "=" : "");
  });
  // Behind a command that has none below it, a word without a dash is a file: the shell's business.
  for (const CommandNode* node : all_nodes(root))
    words += fmt::format("    {}) {}words={} ;;\n", quoted(node->path),
                         node->inner.empty() ? "[[ $current == -* ]] && " : "",
                         quoted(fmt::format("{}", fmt::join(words_of(*node), " "))));
  return fmt::format(R"(# Completion of throughtime for bash, made by: throughtime completions bash
_throughtime() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} command= word words=
  COMPREPLY=()
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "$command $word" in
{}    esac
  done
  case $previous in
{}  esac
  [[ -n $words ]] || case $command in
{}  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o bashdefault -o default -F _throughtime throughtime
)",
                     steps_of(root), choices, words);
}

std::string zsh_text(const CommandNode& root) {
  std::string choices, words;
  for_each_choice(root, [&](const CommandFlag& flag) {
    const bool keys = flag.names.front() == "--set";
    choices += fmt::format("    {}) compadd {}-- {}; return ;;\n", flag.names.front(), keys ? "-S = " : "",
                           fmt::join(flag.choices, " "));
  });
  for (const CommandNode* node : all_nodes(root)) {
    words += fmt::format("    {})\n", quoted(node->path));
    for (const CommandNode& inner : node->inner)
      words += fmt::format("      commands+=({})\n", quoted(inner.name + ":" + inner.text));
    for (const CommandFlag& flag : node->flags)
      for (const std::string& name : flag.names)
        if (!flag.by_place) words += fmt::format("      flags+=({})\n", quoted(name + ":" + flag.text));
    words += "      ;;\n";
  }
  return fmt::format(R"(#compdef throughtime
# Completion of throughtime for zsh, made by: throughtime completions zsh
_throughtime() {{
  local command= word
  local -a commands flags
  for word in ${{words[2,CURRENT-1]}}; do
    case "$command $word" in
{}    esac
  done
  case $words[CURRENT-1] in
{}  esac
  case $command in
{}  esac
  if [[ $PREFIX == -* ]]; then
    _describe option flags
  elif (( $#commands )); then
    _describe command commands
  else
    _files
  fi
}}
_throughtime "$@"
)",
                     steps_of(root), choices, words);
}

/// When a fish shell is behind the words of `path`.
std::string fish_condition(const CommandNode& node) {
  if (node.path.empty()) return "__fish_use_subcommand";
  std::string text;
  for (std::size_t begin = 0; begin <= node.path.size();) {
    const std::size_t end = std::min(node.path.find(' ', begin), node.path.size());
    text += (text.empty() ? "" : "; and ") + ("__fish_seen_subcommand_from " + node.path.substr(begin, end - begin));
    begin = end + 1;
  }
  return text;
}

/// The function that prints the known values of a flag.
std::string fish_choices(const CommandFlag& flag) { return "__throughtime_" + flag.names.front().substr(2); }

std::string fish_flag(const CommandNode& node, const CommandFlag& flag) {
  std::string text = fmt::format("complete -c throughtime -n {}", quoted(fish_condition(node), "\\'"));
  for (const std::string& name : flag.names)
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (!flag.value.empty()) text += " -r";
  if (!flag.choices.empty()) text += fmt::format(" -f -a '({})'", fish_choices(flag));
  return text + fmt::format(" -d {}\n", quoted(flag.text, "\\'"));
}

std::string fish_text(const CommandNode& root) {
  std::string text = "# Completion of throughtime for fish, made by: throughtime completions fish\n";
  for_each_choice(root, [&](const CommandFlag& flag) {
    const char* after = flag.names.front() == "--set" ? "=" : "";
    text += fmt::format("function {}\n  printf '%s{}\\n' {}\nend\n", fish_choices(flag), after,
                        fmt::join(flag.choices, " "));
  });
  for (const CommandNode* node : all_nodes(root)) {
    for (const CommandNode& inner : node->inner)
      text += fmt::format("complete -c throughtime -f -n {} -a {} -d {}\n", quoted(fish_condition(*node), "\\'"),
                          inner.name, quoted(inner.text, "\\'"));
    for (const CommandFlag& flag : node->flags)
      if (!flag.by_place) text += fish_flag(*node, flag);
  }
  return text;
}

void print_completions(const CLI::App& app, const std::string& name) {
  const CommandNode root = command_tree(app);
  switch (choice_of<Shell>(name, "completions", "shell")) {
    case Shell::bash:
      return show("{}", bash_text(root));
    case Shell::zsh:
      return show("{}", zsh_text(root));
    case Shell::fish:
      return show("{}", fish_text(root));
  }
}

}  // namespace

void add_completions_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("completions", "Print what makes a shell complete commands and options");
  const auto shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "bash, zsh or fish")->required();
  command->callback([&app, shell] { print_completions(app, *shell); });
}

}  // namespace throughtime

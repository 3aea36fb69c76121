#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace throughtime {

/// An option of a command, as its help shows it.
struct CommandFlag {
  std::vector<std::string> names;  // "--output", "-o"; of an argument by place its name
  bool by_place = false;
  std::string value;  // what follows it; empty: nothing
  std::string text;
  std::string fallback;              // what it is without being given; empty: nothing
  std::vector<std::string> choices;  // known values; empty: any
};

/// A command with its options and those below it: what completions and the manual are made of.
struct CommandNode {
  std::string path;  // "data list"; of the program itself empty
  std::string name;
  std::string text;
  std::string examples;
  std::vector<CommandFlag> flags;
  std::vector<CommandNode> inner;
};

CommandNode command_tree(const CLI::App& app);
/// The program's node and all below it.
std::vector<const CommandNode*> all_nodes(const CommandNode& root);

/// Every key of a configuration: "task.name", "train.batch", ...
std::vector<std::string> option_keys();

/// Gives every command a few examples at the end of its help.
void add_examples(CLI::App& app);

/// The manual page in the language of man.
std::string manual_page(const CommandNode& root);

}  // namespace throughtime

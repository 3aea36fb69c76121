#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "command_tree.h"
#include "commands.h"
#include "core/names.h"
#include "help_text.h"
#include "terminal.h"
#include "throughtime/index.h"
#include "train/options/options.h"

namespace throughtime {
namespace {

struct HelpArguments {
  std::vector<std::string> words;
  bool markdown = false;
  bool manual = false;
};

/// The help of `throughtime WORD WORD ...`, as `throughtime WORD WORD ... --help` prints it.
std::string command_help(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* command = &app;
  std::string name = app.get_name();
  for (const std::string& word : words) {
    std::vector<std::string> known;
    const CLI::App* found = nullptr;
    for (const CLI::App* each : command->get_subcommands([](const CLI::App*) { return true; })) {
      known.push_back(each->get_name());
      if (each->get_name() == word) found = each;
    }
    if (command == &app) known.push_back("options");
    if (found == nullptr) refuse_unknown("help", "command", word, known);
    command = found;
    name += " " + word;
  }
  // App::help would explain the subcommand that was parsed: this one.
  return command->get_formatter()->make_help(command, name, CLI::AppFormatMode::Normal);
}

}  // namespace

void add_help_command(CLI::App& app) {
  CLI::App* help = app.add_subcommand("help", "Explain a command, or every option of a configuration file");
  const auto arguments = std::make_shared<HelpArguments>();
  help->add_option("words", arguments->words, "A command, such as train or `data list`; or the word options");
  help->add_flag("--markdown", arguments->markdown, "The options as the page docs/options.md");
  help->add_flag("--man", arguments->manual, "All of it as a manual page");
  help->callback([&app, arguments] {
    if (arguments->manual) return show("{}", manual_page(command_tree(app)));
    if (arguments->words != std::vector<std::string>{"options"}) return show("{}", command_help(app, arguments->words));
    if (arguments->markdown) return show("{}", options_markdown());
    const Style style = style_of(STDOUT_FILENO);
    show("{}", style.terminal ? folded_options(options_text(), elements(style.width)) : options_text());
  });
}

}  // namespace throughtime

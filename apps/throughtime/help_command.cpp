#include <fmt/format.h>

#include <memory>

#include "commands.h"
#include "train/options.h"

namespace throughtime {

void add_help_command(CLI::App& app) {
  CLI::App* help = app.add_subcommand("help", "Explain something at length");
  help->require_subcommand(1);
  CLI::App* options = help->add_subcommand("options", "Every option of a configuration file");
  const auto markdown = std::make_shared<bool>(false);
  options->add_flag("--markdown", *markdown, "As the page docs/options.md");
  options->callback([markdown] { fmt::print("{}", *markdown ? options_markdown() : options_text()); });
}

}  // namespace throughtime

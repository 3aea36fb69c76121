#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "terminal.h"
#include "throughtime/error.h"
#include "train/run/session.h"

namespace throughtime {
namespace {

struct ImportArguments {
  std::string target;
  std::string file;
  std::vector<std::string> overrides;
  std::string arm;
  bool force = false;
};

void read_weights(const ImportArguments& arguments) {
  const TensorFile weights = read_tensors(arguments.file);
  if (std::filesystem::is_directory(arguments.target)) {
    if (!arguments.overrides.empty() || !arguments.arm.empty() || arguments.force)
      refuse("import", "--set, --arm and --force belong to a configuration file, {} is a run", arguments.target);
    const std::string share = replace_parameters(arguments.target, weights).text();
    tell("{}\ngo on with: throughtime train --resume {}\n", share, arguments.target);
    return;
  }
  const RunConfig config = load_config(arguments.target, arguments.overrides, arguments.arm);
  const std::string share = start_run_with(config, weights, arguments.force).text();
  tell("{}\ntrain it with: throughtime train --resume {}\n", share, run_directory(config));
}

}  // namespace

void add_import_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("import", "Put weights of a safetensors file into a run");
  const auto arguments = std::make_shared<ImportArguments>();
  command->add_option("target", arguments->target, "Directory of a run, or a configuration file to start one with")
      ->required();
  command->add_option("file", arguments->file, "Safetensors file; parameters that it does not name stay")->required();
  command->add_option("--set", arguments->overrides, "An option that overrides the configuration file")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command->add_option("--arm", arguments->arm, "The [[arm]] of the configuration file")->type_name("NAME");
  command->add_flag("--force", arguments->force, "Overwrite a run that is there already");
  command->callback([arguments] { read_weights(*arguments); });
}

}  // namespace throughtime

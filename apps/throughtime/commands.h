#pragma once

#include <CLI/CLI.hpp>

namespace throughtime {

// Each adds one subcommand. A command throws InvalidInput (exit code 2) or RunFailure (exit code 1).
void add_train_command(CLI::App& app);
void add_list_command(CLI::App& app);
void add_gradcheck_command(CLI::App& app);
void add_bench_command(CLI::App& app);
void add_help_command(CLI::App& app);

}  // namespace throughtime

#pragma once

#include <CLI/CLI.hpp>
#include <memory>

#include "throughtime/communicator.h"

namespace throughtime {

// Each adds one subcommand. A command throws InvalidInput (exit code 2), RunFailure (exit code 1) or Interrupted.
// `ranks`: the processes that work together; null: this is the only one. Commands without it run alone.
void add_train_command(CLI::App& app, std::shared_ptr<Communicator> ranks);
void add_stream_command(CLI::App& app);
void add_evaluate_command(CLI::App& app);
void add_predict_command(CLI::App& app);
void add_sample_command(CLI::App& app);
void add_inspect_command(CLI::App& app);
void add_export_command(CLI::App& app);
void add_import_command(CLI::App& app);
void add_compare_command(CLI::App& app);
void add_tune_command(CLI::App& app);
void add_plot_command(CLI::App& app);
void add_report_command(CLI::App& app);
void add_reproduce_command(CLI::App& app);
void add_diagnose_command(CLI::App& app);
void add_list_command(CLI::App& app);
void add_gradcheck_command(CLI::App& app);
void add_bench_command(CLI::App& app, std::shared_ptr<Communicator> ranks);
void add_data_command(CLI::App& app);
void add_completions_command(CLI::App& app);
void add_help_command(CLI::App& app);

}  // namespace throughtime

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "commands.h"
#include "core/names.h"
#include "interrupt.h"
#include "throughtime/error.h"

namespace {

constexpr int run_failed = 1;
constexpr int bad_input = 2;

int complain(int code, const char* message) {
  fmt::print(stderr, "throughtime: {}\n", message);
  return code;
}

/// Refuses a word that stands where a subcommand of `app`, or of its parsed subcommand, should be.
void refuse_unknown_command(const CLI::App& app) {
  for (const CLI::App* parsed : app.get_subcommands()) return refuse_unknown_command(*parsed);
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  const std::vector<std::string> unknown = app.remaining();
  if (!names.empty() && !unknown.empty())
    throughtime::refuse_unknown(app.get_name(), "command", unknown.front(), names);
}

/// A usage error is one line; help that was asked for goes to stdout.
int answer(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) return app.exit(error);
  try {
    refuse_unknown_command(app);
  } catch (const throughtime::InvalidInput& unknown) {
    return complain(bad_input, unknown.what());
  }
  return complain(bad_input, fmt::format("{} (see throughtime --help)", error.what()).c_str());
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Train recurrent networks on sequences of any length, in the memory you choose.", "throughtime");
  app.require_subcommand(1);
  throughtime::add_train_command(app);
  throughtime::add_stream_command(app);
  throughtime::add_evaluate_command(app);
  throughtime::add_predict_command(app);
  throughtime::add_compare_command(app);
  throughtime::add_tune_command(app);
  throughtime::add_plot_command(app);
  throughtime::add_report_command(app);
  throughtime::add_reproduce_command(app);
  throughtime::add_diagnose_command(app);
  throughtime::add_inspect_command(app);
  throughtime::add_export_command(app);
  throughtime::add_import_command(app);
  throughtime::add_list_command(app);
  throughtime::add_gradcheck_command(app);
  throughtime::add_bench_command(app);
  throughtime::add_data_command(app);
  throughtime::add_help_command(app);
  try {
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::ParseError& error) {
    return answer(app, error);
  } catch (const throughtime::Interrupted& stop) {
    return complain(stop.exit_code(), stop.what());
  } catch (const throughtime::InvalidInput& error) {
    return complain(bad_input, error.what());
  } catch (const std::bad_alloc&) {
    return complain(run_failed, "not enough memory; try a smaller train.batch, task.length or model.hidden");
  } catch (const std::exception& error) {
    return complain(run_failed, error.what());
  }
}

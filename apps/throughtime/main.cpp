#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "command_tree.h"
#include "commands.h"
#include "core/launch.h"
#include "core/names.h"
#include "help_text.h"
#include "interrupt.h"
#include "terminal.h"
#include "throughtime/error.h"
#include "train/run/environment.h"

namespace {

constexpr int run_failed = 1;
constexpr int bad_input = 2;
constexpr const char* no_memory = "not enough memory; try a smaller train.batch, length of the task or model.hidden";

std::terminate_handler usual_end = std::abort;

/// Destructors of libraries may ask for memory (nlohmann::json does, and what the standard library promises not to
/// throw), and then nobody can catch that there is none. The process ends at once, as if it were killed, but with a
/// line.
[[noreturn]] void end_without_memory() {
  try {
    const std::exception_ptr error = std::current_exception();
    if (error == nullptr) throw std::bad_alloc();  // nothing else is known to end here without an error
    std::rethrow_exception(error);
  } catch (const std::bad_alloc&) {
    std::fputs("throughtime: not enough memory, not even to end in good order\n", stderr);
    _exit(run_failed);
  } catch (...) {
  }
  usual_end();
  std::abort();
}

/// Where stdin, stdout or stderr is closed, the next file would be opened in its place and get what is printed.
void open_standard_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(descriptor, F_GETFD) < 0 && errno == EBADF)
      if (open("/dev/null", O_RDWR) != descriptor) _exit(run_failed);
}

/// Of several ranks that all fail alike the first one speaks; one that fails alone speaks and ends the others, which
/// would wait for it for ever.
int complain(int code, const char* message, throughtime::Communicator* ranks = nullptr) {
  constexpr double patience = 2;  // seconds
  const bool together = ranks == nullptr || ranks->meet(patience);
  if (!together) throughtime::tell("throughtime: rank {}: {}\n", ranks->rank(), message);
  if (!together) ranks->abort(code);
  if (ranks == nullptr || ranks->rank() == 0) throughtime::tell("throughtime: {}\n", message);
  return code;
}

/// Commands that would do the same thing on every rank.
void refuse_on_ranks(CLI::App& app, const std::vector<std::string>& shared) {
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    const std::string name = command->get_name();
    if (std::find(shared.begin(), shared.end(), name) != shared.end()) continue;
    command->preparse_callback([name, shared](std::size_t) {
      throughtime::refuse(name, "runs in one process; on several ranks there are only {}", fmt::join(shared, " and "));
    });
  }
}

/// Refuses that there is nothing where a subcommand of `app`, or of its parsed subcommand, should be.
void refuse_no_command(const CLI::App& app) {
  for (const CLI::App* parsed : app.get_subcommands()) return refuse_no_command(*parsed);
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  if (!names.empty())
    throughtime::refuse(app.get_name(), "give a command: {}; --help explains them", fmt::join(names, ", "));
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

/// Refuses an option that the parsed subcommand does not have.
void refuse_unknown_flag(const CLI::App& app) {
  for (const CLI::App* parsed : app.get_subcommands()) return refuse_unknown_flag(*parsed);
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  for (const std::string& given : app.remaining())
    if (given.starts_with("-"))
      throughtime::refuse_unknown(app.get_name(), "option", given.substr(0, given.find('=')), names);
}

/// An answer that could not be written is none.
void finish_output() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    throughtime::fail("output", "cannot write all of it: {}", std::strerror(errno));
}

/// "throughtime data list": what was asked for, as far as it was understood.
std::string asked_command(const CLI::App& app) {
  for (const CLI::App* parsed : app.get_subcommands()) return app.get_name() + " " + asked_command(*parsed);
  return app.get_name();
}

/// A usage error is one line; help that was asked for goes to stdout.
int answer(const CLI::App& app, const CLI::ParseError& error, throughtime::Communicator* ranks) {
  const bool first = ranks == nullptr || ranks->rank() == 0;
  if (error.get_exit_code() == 0) return first ? app.exit(error) : 0;
  try {
    refuse_unknown_flag(app);
    refuse_unknown_command(app);
    if (error.get_name() == "RequiredError") refuse_no_command(app);
  } catch (const throughtime::InvalidInput& unknown) {
    return complain(bad_input, unknown.what(), ranks);
  }
  return complain(bad_input, fmt::format("{} (see {} --help)", error.what(), asked_command(app)).c_str(), ranks);
}

/// Makes the commands and does what the arguments ask for.
int run(int argc, char** argv, const std::shared_ptr<throughtime::Communicator>& ranks) {
  CLI::App app("Train recurrent networks on sequences of any length, in the memory you choose.", "throughtime");
  app.formatter(std::make_shared<throughtime::HelpText>());
  app.require_subcommand(1);
  app.set_version_flag("--version", [] {
    return fmt::format("throughtime {} ({}); MPI: {}", throughtime::version(), throughtime::commit(),
                       throughtime::mpi_text());
  });
  throughtime::add_train_command(app, ranks);
  throughtime::add_stream_command(app);
  throughtime::add_evaluate_command(app);
  throughtime::add_predict_command(app);
  throughtime::add_sample_command(app);
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
  throughtime::add_bench_command(app, ranks);
  throughtime::add_data_command(app);
  throughtime::add_completions_command(app);
  throughtime::add_help_command(app);
  throughtime::add_examples(app);
  if (ranks) refuse_on_ranks(app, {"train", "bench"});
  try {
    app.parse(argc, argv);
    finish_output();
    return 0;
  } catch (const CLI::ParseError& error) {
    return answer(app, error, ranks.get());
  }
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_descriptors();
  usual_end = std::set_terminate(end_without_memory);
  std::shared_ptr<throughtime::Communicator> ranks;
  try {
    ranks = throughtime::join_ranks();
    return run(argc, argv, ranks);
  } catch (const throughtime::Interrupted& stop) {
    return complain(stop.exit_code(), stop.what(), ranks.get());
  } catch (const throughtime::InvalidInput& error) {
    return complain(bad_input, error.what(), ranks.get());
  } catch (const std::bad_alloc&) {
    if (ranks) return complain(run_failed, no_memory, ranks.get());
    for (const char* part : {"throughtime: ", no_memory, "\n"})
      std::fputs(part, stderr);  // a message would need memory
    return run_failed;
  } catch (const std::exception& error) {
    return complain(run_failed, error.what(), ranks.get());
  }
}

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "commands.h"
#include "narrator.h"
#include "study/tuning.h"
#include "terminal.h"
#include "throughtime/error.h"

namespace throughtime {
namespace {

struct TuneArguments {
  TuningRequest request;
  bool quiet = false;
  bool json = false;
};

std::string number_text(double value) { return std::isfinite(value) ? fmt::format("{:.5f}", value) : ""; }

std::string table_text(const std::vector<Trial>& trials, const Trial& best) {
  const bool other = is_other_score(best);
  std::vector<Table::Column> columns = {{"setting", false}, {"iterations"},      {"seconds"},
                                        {"best at"},        {"validation loss"}, {"validation " + best.outcome.metric}};
  if (other) columns.push_back({"validation " + best.config.train.best_by});
  columns.push_back({"", false});
  Table table(std::move(columns));
  for (const Trial& trial : trials) {
    std::vector<std::string> row = {trial.setting,
                                    fmt::format("{}", trial.outcome.iterations),
                                    seconds_text(trial.outcome.seconds),
                                    fmt::format("{}", trial.outcome.best_iteration),
                                    number_text(trial.outcome.validation_loss),
                                    number_text(trial.outcome.validation_metric)};
    if (other) row.push_back(number_text(trial.outcome.validation_score));
    row.push_back(&trial == &best ? "best" : trial.outcome.failure.empty() ? "" : "failed");
    table.add_row(std::move(row));
  }
  return table.text(style_of(STDOUT_FILENO));
}

void tune(const TuneArguments& arguments) {
  std::vector<Trial> trials = make_trials(arguments.request);
  for (Trial& trial : trials) trial.outcome = run_narrated_trial(trial.config, false, arguments.quiet, "tune");
  const Trial& best = best_trial(trials);
  FinalRun last = final_run(best, arguments.request);
  if (!arguments.quiet) tell("best: {}; trained once more on {}\n", best.setting, last.data);
  last.outcome = run_narrated_trial(last.config, true, arguments.quiet, "tune");
  if (!last.outcome.failure.empty()) fail("tune", "the best setting failed: {}", last.outcome.failure);
  if (arguments.json) {
    show("{}\n", tuning_json(trials, best, last));
    return;
  }
  show("{}", table_text(trials, best));
  show_note(fmt::format("best: {}\ntrained once more in {} on {}: test {} {}\n", printable(best.setting),
                        last.outcome.run, last.data, last.outcome.metric, number_text(last.outcome.test_metric)));
}

}  // namespace

void add_tune_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("tune", "Try settings, choose by validation, train the best one");
  const auto arguments = std::make_shared<TuneArguments>();
  command->add_option("config", arguments->request.config, "TOML file")->required();
  command
      ->add_option("--grid", arguments->request.grid,
                   "Values of an option to try: optimizer.rate=0.01,0.001 (repeatable)")
      ->type_name("KEY=A,B,C")
      ->required()
      ->allow_extra_args(false);
  command->add_option("--set", arguments->request.overrides, "An option that overrides the file: train.batch=64")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command->add_option("--arm", arguments->request.arm, "The [[arm]] of the file")->type_name("NAME");
  command->add_flag("--quiet", arguments->quiet, "No progress on stderr");
  command->add_flag("--json", arguments->json, "One JSON object instead of a table");
  command->callback([arguments] { tune(*arguments); });
}

}  // namespace throughtime

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "commands.h"
#include "narrator.h"
#include "terminal.h"
#include "throughtime/error.h"
#include "throughtime/index.h"
#include "train/files/result_file.h"
#include "train/run/session.h"

namespace throughtime {
namespace {

struct TrainArguments {
  std::vector<std::string> configs;
  std::vector<std::string> overrides;
  std::string arm;
  std::string data;
  std::string resume;
  std::string from;
  bool previous = false;
  bool force = false;
  bool quiet = false;
  bool json = false;
  std::shared_ptr<Communicator> ranks = nullptr;
  bool first_rank() const { return !ranks || ranks->rank() == 0; }
};

std::string number_text(double value) { return fmt::format("{:.5f}", value); }

std::string test_text(const RunResult& result, const Evaluation& test) {
  const bool last = result.test && &test == &*result.test;
  return fmt::format("{} {}{}", result.plan.metric, number_text(test.metric),
                     last && !divergence(result).empty() ? ", diverged" : "");
}

/// Of the test that counts, where the baseline is of the same split.
double result_skill(const RunResult& result) {
  const std::optional<Evaluation>& test = chosen_test(result);
  if (!test) return std::nan("");
  return skill_of(test->metric, result.plan.baseline, result.plan.is_error);
}

/// The test of the weights that validation chose is the result, that of the last ones is beside it.
std::string summary(const std::vector<RunResult>& results) {
  const bool chosen =
      std::any_of(results.begin(), results.end(), [](const RunResult& result) { return result.best_test.has_value(); });
  std::vector<Table::Column> columns({{"run", false},
                                      {"task", false},
                                      {"cell", false},
                                      {"learner", false},
                                      {"parameters"},
                                      {"iterations"},
                                      {"updates"},
                                      {"tape"},
                                      {"seconds"},
                                      {"train loss"},
                                      {chosen ? "test, best validation" : "test metric"}});
  if (chosen) columns.push_back({"test, last weights"});
  columns.push_back({"baseline"});
  const bool errors = std::any_of(results.begin(), results.end(),
                                  [](const RunResult& result) { return std::isfinite(result_skill(result)); });
  if (errors) columns.push_back({"x naive"});
  Table table(columns);
  for (const RunResult& result : results) {
    const RunPlan& plan = result.plan;
    std::vector<std::string> row = {plan.name,
                                    fmt::format("{} {}", plan.task, plan.steps),
                                    plan.cell,
                                    plan.learner,
                                    fmt::format("{}", plan.parameters),
                                    fmt::format("{}", result.iteration),
                                    fmt::format("{}", result.updates),
                                    bytes_text(plan.activation_bytes),
                                    seconds_text(result.seconds),
                                    number_text(result.train_loss)};
    if (chosen) row.push_back(result.best_test ? test_text(result, *result.best_test) : "");
    row.push_back(result.test ? test_text(result, *result.test) : "");
    row.push_back(result.test ? number_text(plan.baseline) : "");  // else it is of another split
    if (errors) row.push_back(std::isfinite(result_skill(result)) ? fmt::format("{:.3f}", result_skill(result)) : "");
    table.add_row(std::move(row));
  }
  return table.text(style_of(STDOUT_FILENO));
}

std::vector<RunConfig> load_configs(const TrainArguments& arguments) {
  std::vector<RunConfig> configs = load_files(arguments.configs, arguments.overrides, arguments.arm);
  std::set<std::string> directories;
  for (const RunConfig& config : configs) {
    const std::string directory = run_directory(config);
    if (!directories.insert(directory).second)
      refuse("train", "two runs would write into {}; give them different names (run.name)", directory);
    on_first_rank(arguments.ranks.get(), [&] { RunDirectory(directory).require_free(arguments.force); });
  }
  // What the last file asks for must not be refused only after the first has been trained.
  if (configs.size() > 1)
    for (const RunConfig& config : configs) check_run(config, arguments.ranks ? arguments.ranks->ranks() : 1);
  return configs;
}

template <class Train>
RunResult narrated(const TrainArguments& arguments, const std::string& directory, Train train) {
  const bool silent = arguments.quiet || !arguments.first_rank();
  const std::unique_ptr<Observer> observer =
      silent ? std::make_unique<StopWatch>() : std::unique_ptr<Observer>(new Narrator(directory));
  RunResult result;
  try {
    result = train(*observer);
  } catch (const DeviceFailure& failure) {
    if (RunDirectory(directory).checkpoints().empty()) throw;
    throw DeviceFailure(fmt::format("{}; go on from the last checkpoint with: throughtime train --resume {}",
                                    failure.what(), directory));
  }
  throw_if_interrupted(result, directory);
  if (silent && arguments.first_rank()) warn_of_end(result);
  if (arguments.json && arguments.first_rank()) show("{}\n", result_json(result, directory));
  std::fflush(stdout);
  return result;
}

std::vector<RunResult> resume(const TrainArguments& arguments) {
  if (!arguments.configs.empty() || arguments.force || !arguments.arm.empty() || !arguments.from.empty())
    refuse("train",
           "--resume takes the configuration of the run: no configuration file, --arm, --from or --force beside it");
  return {narrated(arguments, arguments.resume, [&](Observer& observer) {
    return resume_run(arguments.resume, arguments.overrides, observer, arguments.previous, true, arguments.ranks);
  })};
}

void train(TrainArguments arguments) {
  if (!arguments.data.empty())
    arguments.overrides.push_back("task.data=" + std::filesystem::absolute(arguments.data).string());
  if (arguments.resume.empty() && arguments.configs.empty())
    refuse("train", "nothing to train: give a configuration file, or --resume RUN");
  if (arguments.resume.empty() && arguments.previous) refuse("train", "--previous belongs to --resume RUN");
  std::vector<RunResult> results;
  if (!arguments.resume.empty()) {
    results = resume(arguments);
  } else {
    for (const RunConfig& config : load_configs(arguments))
      results.push_back(narrated(arguments, run_directory(config), [&](Observer& observer) {
        return train_run(config, observer, arguments.force, true, arguments.ranks, arguments.from);
      }));
  }
  if (!arguments.json && arguments.first_rank()) show("{}", summary(results));
  for (const RunResult& result : results)
    if (exploded(result))
      fail("train", "{} ended with a {} of {:.3g}: that is no result", result.plan.name,
           chosen_test(result) ? "test " + result.plan.metric : "training loss",
           chosen_test(result) ? chosen_test(result)->metric : result.train_loss);
}

}  // namespace

void add_train_command(CLI::App& app, std::shared_ptr<Communicator> ranks) {
  CLI::App* command = app.add_subcommand("train", "Train what configuration files describe, one after the other");
  const auto arguments = std::make_shared<TrainArguments>();
  arguments->ranks = std::move(ranks);
  command->add_option("config", arguments->configs, "TOML files (throughtime help options)");
  command->add_option("--set", arguments->overrides, "An option that overrides the files: train.batch=64")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command->add_option("--arm", arguments->arm, "Only this [[arm]] of the files; else all of them")->type_name("NAME");
  command->add_option("--data", arguments->data, "Data directory (task.data)")->type_name("DIRECTORY");
  command->add_option("--resume", arguments->resume, "Go on with the run in this directory")->type_name("RUN");
  command
      ->add_option("--from", arguments->from, "Begin with the best weights of this run, whose model has the same shape")
      ->type_name("RUN");
  command->add_flag("--previous", arguments->previous, "With --resume: from the checkpoint before the last");
  command->add_flag("--force", arguments->force, "Overwrite a run that is there already");
  command->add_flag("--quiet", arguments->quiet, "No progress on stderr");
  command->add_flag("--json", arguments->json, "One JSON object per run on stdout instead of a table");
  command->callback([arguments] { train(*arguments); });
}

}  // namespace throughtime

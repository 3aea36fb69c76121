#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "commands.h"
#include "narrator.h"
#include "terminal.h"
#include "throughtime/error.h"
#include "train/run/run_directory.h"
#include "train/run/trials.h"

namespace throughtime {
namespace {

struct TuneArguments {
  std::string config;
  std::vector<std::string> grid;
  std::vector<std::string> overrides;
  std::string arm;
  bool quiet = false;
  bool json = false;
};

struct Trial {
  std::string setting;  // "optimizer.rate=0.01 model.hidden=32"
  std::string name;     // the same as the name of a directory
  RunConfig config;
  Outcome outcome = {};
};

/// A trial's directory is named after its setting, so that a larger grid finds the trials of a smaller one.
std::string directory_name(const std::vector<std::string>& point) {
  std::string name = fmt::format("{}", fmt::join(point, "_"));
  std::replace(name.begin(), name.end(), '/', '-');
  return name;
}

std::vector<Trial> make_trials(const TuneArguments& arguments) {
  std::vector<GridAxis> axes;
  for (const std::string& text : arguments.grid) {
    axes.push_back(parse_axis(text));
    if (axes.back().key.starts_with("run."))
      refuse("tune", "{} does not change what is learned; it cannot be tuned", axes.back().key);
  }
  std::vector<Trial> trials;
  for (const std::vector<std::string>& point : grid_points(axes)) {
    std::vector<std::string> overrides = arguments.overrides;
    overrides.insert(overrides.end(), point.begin(), point.end());
    Trial trial{fmt::format("{}", fmt::join(point, " ")), directory_name(point),
                load_config(arguments.config, overrides, arguments.arm)};
    if (trial.config.train.evaluate_every == 0)
      refuse("tune",
             "trials are compared on validation data: set train.evaluate_every (--set train.evaluate_every=100)");
    const std::string part = "-tune/" + trial.name;
    trial.config.run.directory = run_directory(trial.config) + part;
    trial.config.run.name += part;
    trials.push_back(std::move(trial));
  }
  // What the last trial asks for must not be refused only after the first has been trained.
  for (const Trial& trial : trials)
    if (!RunDirectory(trial.config.run.directory).is_run()) Trainer{trial.config};
  return trials;
}

/// The run of the best setting, and what it learns from.
struct Final {
  RunConfig config;
  std::string data;  // in words
  Outcome outcome = {};
};

/// The best setting on all training data: what was held out of it is given back, where the task can do that.
Final final_run(const Trial& best, const TuneArguments& arguments) {
  Final last{.config = best.config};
  const RunConfig base = load_config(arguments.config, arguments.overrides, arguments.arm);
  const std::string part = "-tune/best/" + best.name;
  last.config.run.directory = run_directory(base) + part;
  last.config.run.name = base.run.name + part;
  const HeldOut held_out = give_back_validation(last.config.task);
  if (held_out == HeldOut::nothing) {
    last.data = "the same budget again: validation data is generated, nothing was held out";
  } else if (held_out == HeldOut::kept) {
    last.data = fmt::format("the same budget again: {} cannot join its validation data to its training data",
                            last.config.task.name);
  } else {
    // Nothing is left to stop by: as many iterations as were best.
    TrainOptions& train = last.config.train;
    train.iterations = best.outcome.best_iteration;
    train.epochs = 0;
    train.evaluate_every = 0;
    train.patience = 0;
    last.data = fmt::format("training and validation data, {} iterations, which were best", train.iterations);
  }
  return last;
}

std::string number_text(double value) { return std::isfinite(value) ? fmt::format("{:.5f}", value) : ""; }

std::string table_text(const std::vector<Trial>& trials, const Trial& best) {
  Table table({{"setting", false},
               {"iterations"},
               {"seconds"},
               {"best at"},
               {"validation loss"},
               {"validation " + best.outcome.metric},
               {"", false}});
  for (const Trial& trial : trials)
    table.add_row({trial.setting, fmt::format("{}", trial.outcome.iterations),
                   fmt::format("{:.1f}", trial.outcome.seconds), fmt::format("{}", trial.outcome.best_iteration),
                   number_text(trial.outcome.validation_loss), number_text(trial.outcome.validation_metric),
                   &trial == &best                 ? "best"
                   : trial.outcome.failure.empty() ? ""
                                                   : "failed"});
  return table.text(style_of(STDOUT_FILENO));
}

std::string json_text(const std::vector<Trial>& trials, const Trial& best, const Final& last) {
  nlohmann::ordered_json line = {{"best", best.setting},
                                 {"metric", best.outcome.metric},
                                 {"validation_loss", best.outcome.validation_loss},
                                 {"test_loss", last.outcome.test_loss},
                                 {"test_" + best.outcome.metric, last.outcome.test_metric},
                                 {"run", last.outcome.run},
                                 {"trained_on", last.data},
                                 {"trials", nlohmann::ordered_json::array()}};
  for (const Trial& trial : trials)
    line["trials"].push_back({{"setting", trial.setting},
                              {"validation_loss", trial.outcome.validation_loss},
                              {"run", trial.outcome.run},
                              {"failure", trial.outcome.failure}});
  return line.dump() + "\n";
}

void tune(const TuneArguments& arguments) {
  std::vector<Trial> trials = make_trials(arguments);
  for (Trial& trial : trials) {
    trial.outcome = run_narrated_trial(trial.config, false, arguments.quiet, "tune");
    if (!trial.outcome.failure.empty() && !arguments.quiet) fmt::print(stderr, "  failed: {}\n", trial.outcome.failure);
  }
  const Trial* best = nullptr;
  for (const Trial& trial : trials)
    if (std::isfinite(trial.outcome.validation_loss) &&
        (best == nullptr || trial.outcome.validation_loss < best->outcome.validation_loss))
      best = &trial;
  if (best == nullptr)
    fail("tune", "none of the {} trials has a validation loss: {}", trials.size(), trials.front().outcome.failure);
  Final last = final_run(*best, arguments);
  if (!arguments.quiet) fmt::print(stderr, "best: {}; trained once more on {}\n", best->setting, last.data);
  last.outcome = run_narrated_trial(last.config, true, arguments.quiet, "tune");
  if (!last.outcome.failure.empty()) fail("tune", "the best setting failed: {}", last.outcome.failure);
  if (arguments.json) {
    fmt::print("{}", json_text(trials, *best, last));
    return;
  }
  fmt::print("{}best: {}\ntrained once more in {} on {}: test {} {}\n", table_text(trials, *best), best->setting,
             last.outcome.run, last.data, last.outcome.metric, number_text(last.outcome.test_metric));
}

}  // namespace

void add_tune_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("tune", "Try settings, choose by validation, train the best one");
  const auto arguments = std::make_shared<TuneArguments>();
  command->add_option("config", arguments->config, "TOML file")->required();
  command->add_option("--grid", arguments->grid, "Values of an option to try: optimizer.rate=0.01,0.001 (repeatable)")
      ->type_name("KEY=A,B,C")
      ->required()
      ->allow_extra_args(false);
  command->add_option("--set", arguments->overrides, "An option that overrides the file: train.batch=64")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command->add_option("--arm", arguments->arm, "The [[arm]] of the file")->type_name("NAME");
  command->add_flag("--quiet", arguments->quiet, "No progress on stderr");
  command->add_flag("--json", arguments->json, "One JSON object instead of a table");
  command->callback([arguments] { tune(*arguments); });
}

}  // namespace throughtime

#include "dynamic_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "terminal.h"
#include "throughtime/error.h"
#include "weight_choice.h"

namespace throughtime {
namespace {

using Json = nlohmann::ordered_json;

// Around the values that are good for Penn Treebank.
const std::vector<double> usual_rates = {3e-5, 4e-5, 5e-5, 6e-5, 7e-5, 8e-5, 9e-5, 1e-4};
const std::vector<double> usual_decays = {1e-3, 2e-3, 3e-3, 5e-3};

/// Both evaluations of a split, and how the settings of one were chosen.
struct Compared {
  Evaluation still = {}, moving = {};
  std::vector<DynamicTrial> trials = {};  // none: nothing was chosen
  double rate = 0, decay = 0;
};

DynamicConfig config_of(const DynamicArguments& arguments) {
  DynamicConfig config = arguments.config;
  config.scaling = choice_of<GradientScaling>(arguments.scaling, "evaluate", "--scaling");
  const auto one = [&](const std::vector<double>& values, const char* what) {
    if (values.size() > 1 && !arguments.tune)
      refuse("evaluate", "{} has {} values; --tune chooses one", what, values.size());
    for (const double value : values)
      if (!(value >= 0)) refuse("evaluate", "{} must be 0 or more, got {}", what, value);
    return values.empty() ? -1.0 : values.front();
  };
  config.rate = one(arguments.rates, "--rate");
  config.decay = one(arguments.decays, "--decay");
  if (arguments.tune && config.scaling == GradientScaling::sum && (arguments.rates.empty() || arguments.decays.empty()))
    refuse("evaluate", "--tune with --scaling sum needs the values to try: --rate A,B,C --decay D,E");
  return settled(config);
}

void require_data(DynamicRun& run, const EvaluatedRun& asked, bool tune) {
  if (!run.task().has(asked.split))
    refuse("evaluate", "the task {} has no {} split", run.config().task.name, asked.split_name);
  if (!tune) return;
  if (!run.task().has(Split::validation))
    refuse("evaluate", "--tune chooses on validation data, and this task has none; give --rate and --decay one value");
  if (asked.split != Split::test)
    refuse("evaluate", "--tune chooses on validation data and then tests once: leave out --split {}", asked.split_name);
}

void collect(DynamicRun& run) {
  const GradientStatistics& found = run.evaluation().collect();
  tell("gradients of {} segments of {} steps in {} columns\n", found.segments, run.evaluation().config().segment,
       found.columns);
}

Compared compare(DynamicRun& run, const EvaluatedRun& asked, const DynamicArguments& arguments) {
  DynamicEvaluation& evaluation = run.evaluation();
  Compared result{.rate = evaluation.config().rate, .decay = evaluation.config().decay};
  if (arguments.tune) {
    result.trials = tune(evaluation, arguments.rates.empty() ? usual_rates : arguments.rates,
                         arguments.decays.empty() ? usual_decays : arguments.decays, [](const DynamicTrial& trial) {
                           tell("rate {:g}, decay {:g}: validation {} {}\n", trial.rate, trial.decay,
                                trial.failed ? "failed" : trial.validation.scores.front().name,
                                trial.failed ? "" : fmt::format("{:.6g}", trial.validation.metric));
                         });
    const DynamicTrial& best = best_of(result.trials);
    result.rate = best.rate;
    result.decay = best.decay;
  }
  result.still = evaluation.evaluate_static(asked.split);
  result.moving = evaluation.evaluate(asked.split, result.rate, result.decay);
  return result;
}

Json scores_json(const Evaluation& evaluation) {
  Json scores = {{"loss", evaluation.loss}};
  for (const Score& score : evaluation.scores) scores[score.name] = score.value;
  return scores;
}

Json compared_json(const EvaluatedRun& asked, const DynamicConfig& config, const Compared& result) {
  Json line = {{"run", asked.run}, {"split", asked.split_name}, {"best", asked.best}};
  line.update(scores_json(result.moving));
  line["static"] = scores_json(result.still);
  line["dynamic"] = {{"scaling", name_of(config.scaling)},
                     {"rate", result.rate},
                     {"decay", result.decay},
                     {"epsilon", config.epsilon},
                     {"segment", config.segment}};
  for (const DynamicTrial& trial : result.trials)
    line["trials"].push_back({{"rate", trial.rate},
                              {"decay", trial.decay},
                              {"validation", trial.failed ? Json() : scores_json(trial.validation)}});
  return line;
}

void show_trials(const Compared& result) {
  const DynamicTrial& best = best_of(result.trials);
  Table table({{"rate"}, {"decay"}, {"validation " + best.validation.scores.front().name}, {"", false}});
  for (const DynamicTrial& trial : result.trials)
    table.add_row({fmt::format("{:g}", trial.rate), fmt::format("{:g}", trial.decay),
                   trial.failed ? "" : fmt::format("{:.6g}", trial.validation.metric),
                   &trial == &best ? "best"
                   : trial.failed  ? "failed"
                                   : ""});
  show("{}\n", table.text(style_of(STDOUT_FILENO)));
}

void show_scores(const EvaluatedRun& asked, const DynamicConfig& config, const Compared& result) {
  Table table({{"metric", false}, {asked.split_name + ", static"}, {asked.split_name + ", dynamic"}});
  table.add_row({"loss", fmt::format("{:.6g}", result.still.loss), fmt::format("{:.6g}", result.moving.loss)});
  for (std::size_t i = 0; i < result.moving.scores.size(); ++i)
    table.add_row({result.moving.scores[i].name, fmt::format("{:.6g}", result.still.scores[i].value),
                   fmt::format("{:.6g}", result.moving.scores[i].value)});
  show("{}", table.text(style_of(STDOUT_FILENO)));
  show("rate {:g}, decay {:g}, epsilon {:g} (scaling {}), segments of {} steps, one column\n", result.rate,
       result.decay, config.epsilon, name_of(config.scaling), config.segment);
}

}  // namespace

void add_dynamic_options(CLI::App& command, DynamicArguments& arguments) {
  CLI::Option* dynamic = command.add_flag("--dynamic", arguments.asked,
                                          "Go on learning from each segment of the split once it has been scored");
  const auto of_dynamic = [&](CLI::Option* option) { return option->needs(dynamic); };
  of_dynamic(command.add_flag("--tune", arguments.tune,
                              "--dynamic: choose rate and decay on the validation data, then test once"));
  of_dynamic(command.add_option("--rate", arguments.rates, "--dynamic: eta, how far a segment moves the weights"))
      ->type_name("A,B,C")
      ->delimiter(',')
      ->allow_extra_args(false);
  of_dynamic(
      command.add_option("--decay", arguments.decays, "--dynamic: lambda, how fast they go back to the trained ones"))
      ->type_name("A,B,C")
      ->delimiter(',')
      ->allow_extra_args(false);
  of_dynamic(command.add_option("--epsilon", arguments.config.epsilon, "--dynamic: added to the size of a gradient"))
      ->type_name("NUMBER");
  of_dynamic(command.add_option("--scaling", arguments.scaling,
                                "--dynamic: sizes of gradients are means over segments, or sums (the older settings)"))
      ->type_name("mean|sum");
  of_dynamic(command.add_option("--segment", arguments.config.segment, "--dynamic: steps of a segment"))
      ->capture_default_str();
  of_dynamic(command.add_option("--columns", arguments.config.columns,
                                "--dynamic: rows of the training data that its statistics read side by side"))
      ->capture_default_str();
}

void evaluate_dynamically(const EvaluatedRun& asked, const DynamicArguments& arguments) {
  const DynamicConfig config = config_of(arguments);
  DynamicRun run(asked.run, asked.best, asked.overrides, config);
  require_data(run, asked, arguments.tune);
  collect(run);
  const Compared result = compare(run, asked, arguments);
  say_weights(asked.run, asked.best);
  if (asked.json) return show("{}\n", compared_json(asked, config, result).dump());
  if (!result.trials.empty()) show_trials(result);
  show_scores(asked, config, result);
}

}  // namespace throughtime

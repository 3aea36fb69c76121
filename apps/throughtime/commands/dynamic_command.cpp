#include "commands/dynamic_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include "terminal.h"
#include "weight_choice.h"

namespace throughtime {
namespace {

void tell_statistics(const GradientStatistics& found, int segment) {
  tell("gradients of {} segment{} of {} steps in {} column{}\n", found.segments, found.segments == 1 ? "" : "s",
       segment, found.columns, found.columns == 1 ? "" : "s");
}

void tell_trial(const DynamicTrial& trial) {
  tell("rate {:g}, decay {:g}: validation {} {}\n", trial.rate, trial.decay,
       trial.failed ? "failed" : trial.validation.scores.front().name,
       trial.failed ? "" : fmt::format("{:.6g}", trial.validation.metric));
}

void show_trials(const DynamicComparison& result) {
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

void show_scores(const EvaluationRequest& asked, const DynamicComparison& result) {
  const DynamicConfig& config = result.config;
  Table table({{"metric", false}, {asked.split + ", static"}, {asked.split + ", dynamic"}});
  table.add_row({"loss", fmt::format("{:.6g}", result.still.loss), fmt::format("{:.6g}", result.moving.loss)});
  for (std::size_t i = 0; i < result.moving.scores.size(); ++i)
    table.add_row({result.moving.scores[i].name, fmt::format("{:.6g}", result.still.scores[i].value),
                   fmt::format("{:.6g}", result.moving.scores[i].value)});
  show("{}", table.text(style_of(STDOUT_FILENO)));
  show("rate {:g}, decay {:g}, epsilon {:g} (scaling {}), segments of {} steps, one column\n", config.rate,
       config.decay, config.epsilon, name_of(config.scaling), config.segment);
}

}  // namespace

void add_dynamic_options(CLI::App& command, DynamicArguments& arguments) {
  CLI::Option* dynamic = command.add_flag("--dynamic", arguments.asked,
                                          "Go on learning from each segment of the split once it has been scored");
  const auto of_dynamic = [&](CLI::Option* option) { return option->needs(dynamic); };
  of_dynamic(command.add_flag("--tune", arguments.request.tune,
                              "--dynamic: choose rate and decay on the validation data, then test once"));
  of_dynamic(
      command.add_option("--rate", arguments.request.rates, "--dynamic: eta, how far a segment moves the weights"))
      ->type_name("A,B,C")
      ->delimiter(',')
      ->allow_extra_args(false);
  of_dynamic(command.add_option("--decay", arguments.request.decays,
                                "--dynamic: lambda, how fast they go back to the trained ones"))
      ->type_name("A,B,C")
      ->delimiter(',')
      ->allow_extra_args(false);
  of_dynamic(
      command.add_option("--epsilon", arguments.request.config.epsilon, "--dynamic: added to the size of a gradient"))
      ->type_name("NUMBER");
  of_dynamic(command.add_option("--scaling", arguments.scaling,
                                "--dynamic: sizes of gradients are means over segments, or sums (the older settings)"))
      ->type_name("mean|sum");
  of_dynamic(command.add_option("--segment", arguments.request.config.segment, "--dynamic: steps of a segment"))
      ->capture_default_str();
  of_dynamic(command.add_option("--columns", arguments.request.config.columns,
                                "--dynamic: rows of the training data that its statistics read side by side"))
      ->capture_default_str();
}

void evaluate_dynamically(const EvaluationRequest& asked, const DynamicArguments& arguments, bool json) {
  DynamicRequest request = arguments.request;
  request.config.scaling = choice_of<GradientScaling>(arguments.scaling, "evaluate", "--scaling");
  const DynamicComparison result = compare_dynamically(
      asked, request,
      {.collected = [&](const GradientStatistics& found) { tell_statistics(found, request.config.segment); },
       .tried = tell_trial});
  say_weights(asked.run, asked.best);
  if (json) return show("{}\n", comparison_json(asked, result));
  if (!result.trials.empty()) show_trials(result);
  show_scores(asked, result);
}

}  // namespace throughtime

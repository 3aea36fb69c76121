#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "commands.h"
#include "core/names.h"
#include "terminal.h"
#include "throughtime/error.h"
#include "train/run/session.h"

namespace throughtime {
namespace {

struct EvaluateArguments {
  std::string run;
  std::string split = "test";
  std::string data;
  std::vector<std::string> overrides;
  bool best = false;
  bool json = false;
};

Split split_of(const std::string& name) {
  for (const Split split : {Split::train, Split::validation, Split::test})
    if (split_name(split) == name) return split;
  refuse_unknown("evaluate", "split", name, {"train", "validation", "test"});
}

void evaluate(EvaluateArguments arguments) {
  const Split split = split_of(arguments.split);
  if (!arguments.data.empty()) arguments.overrides.push_back("task.data=" + arguments.data);
  const std::unique_ptr<Trainer> trainer = open_run(arguments.run, arguments.best, arguments.overrides);
  if (!trainer->task().has(split))
    refuse("evaluate", "the task {} has no {} split", trainer->plan().task, arguments.split);
  const Evaluation evaluation = trainer->evaluate(split);
  const std::vector<double> baselines = trainer->task().baselines(split);
  if (arguments.json) {
    nlohmann::ordered_json line = {
        {"run", arguments.run}, {"split", arguments.split}, {"best", arguments.best}, {"loss", evaluation.loss}};
    for (const Score& score : evaluation.scores) line[score.name] = score.value;
    line["baseline"] = baselines.front();
    for (std::size_t i = 0; i < baselines.size(); ++i) line["baselines"][evaluation.scores[i].name] = baselines[i];
    show("{}\n", line.dump());
    return;
  }
  Table table({{"metric", false}, {arguments.split}, {"baseline"}});
  table.add_row({"loss", fmt::format("{:.6g}", evaluation.loss)});
  for (std::size_t i = 0; i < evaluation.scores.size(); ++i)
    table.add_row({evaluation.scores[i].name, fmt::format("{:.6g}", evaluation.scores[i].value),
                   i < baselines.size() ? fmt::format("{:.6g}", baselines[i]) : ""});
  show("{}", table.text(style_of(STDOUT_FILENO)));
}

}  // namespace

void add_evaluate_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("evaluate", "Loss and metrics of a run's model on a split");
  const auto arguments = std::make_shared<EvaluateArguments>();
  command->add_option("run", arguments->run, "Directory of the run")->required();
  command->add_option("--split", arguments->split, "train, validation or test")->capture_default_str();
  command->add_option("--data", arguments->data, "Where the data sets lie now (task.data)")->type_name("DIRECTORY");
  command->add_option("--set", arguments->overrides, "Where the run's own files lie now: task.series.path=FILE")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command->add_flag("--best", arguments->best, "The checkpoint that was best on validation, not the last");
  command->add_flag("--json", arguments->json, "One JSON object instead of a table");
  command->callback([arguments] { evaluate(*arguments); });
}

}  // namespace throughtime

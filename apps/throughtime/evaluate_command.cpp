#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "commands.h"
#include "core/names.h"
#include "data/printable.h"
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

/// True classes down, predicted ones across; of many classes, the pairs that are confused most.
Table confusion_table(const Confusion& confusion) {
  constexpr std::size_t most_columns = 20, most_pairs = 20;
  const std::size_t classes = confusion.classes.size();
  const auto count = [&](std::size_t label, std::size_t predicted) {
    return confusion.counts[label * classes + predicted];
  };
  if (classes <= most_columns) {
    std::vector<Table::Column> columns = {{"true \\ predicted", false}};
    for (const std::string& name : confusion.classes) columns.push_back({printable(name)});
    Table table(std::move(columns));
    for (std::size_t label = 0; label < classes; ++label) {
      std::vector<std::string> cells = {printable(confusion.classes[label])};
      for (std::size_t predicted = 0; predicted < classes; ++predicted)
        cells.push_back(fmt::format("{:g}", count(label, predicted)));
      table.add_row(std::move(cells));
    }
    return table;
  }
  std::vector<std::size_t> wrong;  // entries of the matrix
  for (std::size_t i = 0; i < confusion.counts.size(); ++i)
    if (i / classes != i % classes && confusion.counts[i] > 0) wrong.push_back(i);
  std::ranges::stable_sort(wrong, std::greater(), [&](std::size_t i) { return confusion.counts[i]; });
  Table table({{"true class", false}, {"often predicted as", false}, {"times"}});
  for (std::size_t i = 0; i < std::min(most_pairs, wrong.size()); ++i)
    table.add_row({printable(confusion.classes[wrong[i] / classes]), printable(confusion.classes[wrong[i] % classes]),
                   fmt::format("{:g}", confusion.counts[wrong[i]])});
  return table;
}

nlohmann::ordered_json confusion_json(const Confusion& confusion) {
  const std::size_t classes = confusion.classes.size();
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (std::size_t label = 0; label < classes; ++label) {
    const auto first = confusion.counts.begin() + static_cast<std::ptrdiff_t>(label * classes);
    rows.push_back(std::vector<double>(first, first + static_cast<std::ptrdiff_t>(classes)));
  }
  return {{"classes", confusion.classes}, {"counts", rows}};
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
    line["baseline"] = trainer->plan().baseline;
    for (std::size_t i = 0; i < baselines.size(); ++i) line["baselines"][evaluation.scores[i].name] = baselines[i];
    if (!evaluation.confusion.classes.empty()) line["confusion"] = confusion_json(evaluation.confusion);
    show("{}\n", line.dump());
    return;
  }
  Table table({{"metric", false}, {arguments.split}, {"baseline"}});
  table.add_row({"loss", fmt::format("{:.6g}", evaluation.loss)});
  for (std::size_t i = 0; i < evaluation.scores.size(); ++i)
    table.add_row({evaluation.scores[i].name, fmt::format("{:.6g}", evaluation.scores[i].value),
                   i < baselines.size() ? fmt::format("{:.6g}", baselines[i]) : ""});
  const Style style = style_of(STDOUT_FILENO);
  show("{}", table.text(style));
  if (!evaluation.confusion.classes.empty()) show("\n{}", confusion_table(evaluation.confusion).text(style));
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

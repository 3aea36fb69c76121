#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "commands/dynamic_command.h"
#include "data/printable.h"
#include "tasks/series/forecast_band.h"
#include "terminal.h"
#include "train/evaluate/judged.h"
#include "weight_choice.h"

namespace throughtime {
namespace {

struct EvaluateArguments {
  EvaluationRequest request;
  std::string data;
  WeightChoice weights;
  bool json = false;
  DynamicArguments dynamic;
};

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

std::string score_text(double value) { return fmt::format("{:.6g}", value); }
/// "0.93": how much of the naive error is left.
std::string skill_text(double value, double naive) { return naive > 0 ? fmt::format("{:.3f}", value / naive) : ""; }

void show_scores(const EvaluationRequest& request, const Judged& judged, bool errors) {
  std::vector<Table::Column> columns = {{"metric", false}, {request.split}, {errors ? "naive" : "baseline"}};
  if (errors) columns.push_back({"x naive"});
  Table table(columns);
  table.add_row({"loss", score_text(judged.evaluation.loss)});
  for (std::size_t i = 0; i < judged.evaluation.scores.size(); ++i) {
    const Score& score = judged.evaluation.scores[i];
    const bool known = i < judged.baselines.size();
    std::string value = score_text(score.value);
    if (score.name == metric_name(Metric::coverage)) value += fmt::format(" ({})", wanted_coverage(judged.band_levels));
    std::vector<std::string> row = {score.name, value, known ? score_text(judged.baselines[i]) : ""};
    if (errors) row.push_back(known ? skill_text(score.value, judged.baselines[i]) : "");
    table.add_row(row);
  }
  show("{}", table.text(style_of(STDOUT_FILENO)));
}

void show_rivals(const Judged& judged) {
  const Score& own = judged.evaluation.scores.front();
  const double naive = judged.rivals.front().scores.front();
  Table table({{"forecast", false}, {own.name}, {"x naive"}, {"what it says", false}});
  table.add_row({"this run", score_text(own.value), skill_text(own.value, naive), ""});
  for (const Rival& rival : judged.rivals)
    table.add_row({rival.name, score_text(rival.scores.front()), skill_text(rival.scores.front(), naive), rival.text});
  show("\n{}", table.text(style_of(STDOUT_FILENO)));
}

void show_targets(const Judged& judged) {
  std::vector<Table::Column> columns = {{"target", false}, {judged.evaluation.scores.front().name}};
  for (const Rival& rival : judged.rivals) columns.push_back({rival.name});
  columns.push_back({"x naive"});
  Table table(columns);
  for (std::size_t i = 0; i < judged.targets.size(); ++i) {
    std::vector<std::string> row = {judged.targets[i].name, score_text(judged.each[i])};
    for (const Rival& rival : judged.rivals) row.push_back(score_text(rival.first_scores[i]));
    row.push_back(skill_text(judged.each[i], judged.rivals.front().first_scores[i]));
    table.add_row(row);
  }
  show("\n{}", table.text(style_of(STDOUT_FILENO)));
}

void evaluate(EvaluateArguments arguments) {
  EvaluationRequest& request = arguments.request;
  if (!arguments.data.empty()) request.overrides.push_back("task.data=" + arguments.data);
  request.best = choose_weights(request.run, arguments.weights);
  if (arguments.dynamic.asked) return evaluate_dynamically(request, arguments.dynamic, arguments.json);
  const std::unique_ptr<Trainer> trainer = open_for(request);
  const Judged judged = judge(*trainer, request);
  say_weights(request.run, request.best);
  if (arguments.json) return show("{}\n", judged_json(request, judged));
  show_scores(request, judged, !judged.rivals.empty());
  if (const Confusion& confusion = judged.evaluation.confusion; !confusion.classes.empty())
    show("\n{}", confusion_table(confusion).text(style_of(STDOUT_FILENO)));
  if (judged.rivals.empty()) return;
  const bool scaled = trainer->config().task.series.standardise;
  show_note(scaled ? "mse, mae, rmse and pinball are scaled: targets divided by their deviation in the training part. "
                     "original_: in the units of the file.\n"
                   : "All in the units of the file.\n");
  show_rivals(judged);
  if (judged.targets.size() > 1) show_targets(judged);
}

}  // namespace

void add_evaluate_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("evaluate", "Loss and metrics of a run's model on a split");
  const auto arguments = std::make_shared<EvaluateArguments>();
  command->add_option("run", arguments->request.run, "Directory of the run")->required();
  command->add_option("--split", arguments->request.split, "train, validation or test")->capture_default_str();
  command->add_option("--data", arguments->data, "Where the data sets lie now (task.data)")->type_name("DIRECTORY");
  command->add_option("--set", arguments->request.overrides, "Where the run's own files lie now: task.series.path=FILE")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  add_weight_options(*command, arguments->weights);
  command->add_flag("--json", arguments->json, "One JSON object instead of a table");
  add_dynamic_options(*command, arguments->dynamic);
  command->callback([arguments] { evaluate(*arguments); });
}

}  // namespace throughtime

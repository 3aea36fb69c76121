#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "core/files.h"
#include "report/charts/diagnosis_chart.h"
#include "terminal.h"
#include "throughtime/error.h"
#include "throughtime/index.h"
#include "train/diagnose/diagnosis.h"
#include "train/options/config.h"
#include "train/run/session.h"
#include "weight_choice.h"

namespace throughtime {
namespace {

struct DiagnoseArguments {
  std::string what;
  std::string arm;
  std::vector<std::string> overrides;
  WeightChoice weights;
  bool json = false;
  std::string svg;
  DiagnosisRequest request;
};

/// The rows of a stream are gone: those of a file stand in for them, scaled by their own means.
std::unique_ptr<Trainer> open_stream(const DiagnoseArguments& arguments, const std::vector<std::string>& overrides) {
  RunConfig config = RunDirectory(arguments.what).load_config(overrides);
  if (config.task.series.path.empty())
    refuse("diagnose",
           "{} learned from a stream, whose rows were not kept; name a file of such rows: --set task.series.path=FILE",
           arguments.what);
  const TensorFile file = load_checkpoint(arguments.what, arguments.weights.best);
  auto trainer = std::make_unique<Trainer>(config);
  LoadingArchive(file).parameters(trainer->engine(), trainer->parameters());
  return trainer;
}

/// A run's trained model, or the first weights of a configuration. Options of the estimate are the request's own;
/// others of a run must be such that it can take.
std::unique_ptr<Trainer> open_trainer(DiagnoseArguments& arguments) {
  const auto others = std::stable_partition(arguments.overrides.begin(), arguments.overrides.end(), is_estimate_option);
  arguments.request.options.assign(arguments.overrides.begin(), others);
  const std::vector<std::string> rest(others, arguments.overrides.end());
  if (!std::filesystem::is_directory(arguments.what))
    return std::make_unique<Trainer>(load_config(arguments.what, rest, arguments.arm));
  if (!arguments.arm.empty()) refuse("diagnose", "--arm is for configurations; {} is a run", arguments.what);
  return RunDirectory(arguments.what).is_stream()
             ? open_stream(arguments, rest)
             : open_run(arguments.what, choose_weights(arguments.what, arguments.weights), rest);
}

std::string share_text(double value) { return std::isfinite(value) ? fmt::format("{:.3g}", value) : "unbounded"; }

/// 1 2 3 5 7 10 15 20 30 50 70 100 ... as far as the bias matters.
std::vector<int> shown_lengths(const Diagnosis& diagnosis) {
  const int last = last_shown_length(diagnosis);
  std::vector<int> lengths;
  for (int decade = 1; decade <= last; decade *= 10)
    for (const double step : {1.0, 1.5, 2.0, 3.0, 5.0, 7.0})
      if (const double k = step * decade; k == std::floor(k) && k < last) lengths.push_back(static_cast<int>(k));
  lengths.push_back(last);
  return lengths;
}

std::string lengths_table(const Diagnosis& diagnosis) {
  std::vector<Table::Column> columns = {{"K"}, {"|dL/dh| at lag K"}, {"estimated bias"}, {"memory"}};
  if (diagnosis.measured.empty()) columns.insert(columns.begin() + 3, {"measured bias"});
  Table table(columns);
  for (const int k : shown_lengths(diagnosis)) {
    const TruncationFacts& facts = diagnosis.lengths[k];
    std::vector<std::string> cells = {fmt::format("{}", k), fmt::format("{:.3g}", facts.phi),
                                      share_text(facts.relative_bias), bytes_text(facts.activation_bytes)};
    if (facts.measured_bias) cells.insert(cells.begin() + 3, share_text(*facts.measured_bias));
    table.add_row(cells);
  }
  return table.text(style_of(STDOUT_FILENO));
}

std::string choices_table(const Diagnosis& diagnosis) {
  Table table({{"bias below"}, {"K"}, {"measured bias"}, {"memory"}, {"convergence bound"}});
  for (const TruncationChoice& choice : diagnosis.choices)
    table.add_row(
        {fmt::format("{}", choice.delta),
         choice.reached ? fmt::format("{}", choice.truncation) : fmt::format("none up to {}", diagnosis.longest),
         choice.reached && choice.measured_bias ? share_text(*choice.measured_bias) : "",
         choice.reached ? bytes_text(choice.activation_bytes) : "", fmt::format("x {:.3g}", choice.bound_factor)});
  return table.text(style_of(STDOUT_FILENO));
}

void print(const Diagnosis& diagnosis, const std::string& name, bool fresh) {
  const Style style = style_of(STDOUT_FILENO);
  const auto picture = [&](const Chart& chart, int rows) {
    fmt::print("{}\n", terminal_text_of(chart, std::min(style.width, 100), rows, style.color));
  };
  show("{}{}: {} random places, lags 0 to {} after {} steps of burn-in\n\n", printable(name),
       fresh ? ", first weights" : "", diagnosis.positions, diagnosis.lags, diagnosis.burn_in);
  picture(decay_chart(diagnosis, "Norm of the gradient over the lag"), 16);
  picture(bias_chart(diagnosis, "Relative bias of a gradient that is cut after K steps"), 18);
  show("{}\n{}\n", lengths_table(diagnosis), choices_table(diagnosis));
  show("Memory: activations of windows of 2K + 1 steps with K losses, {} rows.\n", diagnosis.batch);
  show("Convergence bound: of Theorem 2, against a gradient without bias.\n\n");
  std::vector<std::string> advice = advice_of(diagnosis);
  if (fresh)
    advice.push_back(
        "These are first weights. Gradients reach further as a model learns to remember: train, and diagnose the "
        "run.");
  for (const std::string& text : advice)
    show("{}\n", fmt::join(wrapped(text, elements(std::min(style.width, 100))), "\n"));
}

void diagnose_command(DiagnoseArguments& arguments) {
  const std::unique_ptr<Trainer> trainer = open_trainer(arguments);
  const Diagnosis diagnosis = diagnose(*trainer, arguments.request);
  const std::string& name = trainer->plan().name;
  if (!arguments.svg.empty()) write_output(arguments.svg, diagnosis_svg(diagnosis, name));
  if (std::filesystem::is_directory(arguments.what))
    say_weights(arguments.what, choose_weights(arguments.what, arguments.weights));
  if (arguments.json) {
    show("{}\n", diagnosis_json(diagnosis, name));
  } else {
    print(diagnosis, name, !std::filesystem::is_directory(arguments.what));
  }
}

}  // namespace

void add_diagnose_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("diagnose", "How long a truncation must be: decay of gradients, bias, memory");
  const auto arguments = std::make_shared<DiagnoseArguments>();
  command->add_option("what", arguments->what, "Directory of a run, or a configuration (its first weights)")
      ->required();
  command->add_option("--arm", arguments->arm, "The arm of a configuration that has several");
  command->add_option("--set", arguments->overrides, "key=value over the configuration's");
  add_weight_options(*command, arguments->weights);
  command->add_option("--positions", arguments->request.positions, "S, random places of the training data")
      ->check(CLI::Range(1, 65536));
  command->add_option("--lags", arguments->request.lags, "R, the largest lag")->check(CLI::Range(2, 1'000'000));
  command->add_flag("!--no-measure", arguments->request.measure, "Leave out the true bias");
  command->add_flag("--json", arguments->json, "One JSON object instead of tables");
  command->add_option("--svg", arguments->svg, "Write the plot to this file");
  command->callback([arguments] { diagnose_command(*arguments); });
}

}  // namespace throughtime

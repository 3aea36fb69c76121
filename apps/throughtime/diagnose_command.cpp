#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "terminal.h"
#include "train/config.h"
#include "train/diagnosis.h"
#include "train/files.h"
#include "train/session.h"

namespace throughtime {
namespace {

struct DiagnoseArguments {
  std::string what;
  std::string arm;
  std::vector<std::string> overrides;
  bool best = false;
  bool json = false;
  std::string svg;
  DiagnosisRequest request;
};

/// A run's trained model, or the first weights of a configuration.
std::unique_ptr<Trainer> open_trainer(const DiagnoseArguments& arguments) {
  if (std::filesystem::is_directory(arguments.what)) return open_run(arguments.what, arguments.best);
  return std::make_unique<Trainer>(load_config(arguments.what, arguments.overrides, arguments.arm));
}

std::string share_text(double value) {
  return std::isfinite(value) ? fmt::format("{:.3g}", value) : "unbounded";
}

/// 1 2 3 5 7 10 15 20 30 50 70 100 ...
std::vector<int> shown_lengths(int lags) {
  std::vector<int> lengths;
  for (int decade = 1; decade <= lags; decade *= 10)
    for (const double step : {1.0, 1.5, 2.0, 3.0, 5.0, 7.0})
      if (const double k = step * decade; k == std::floor(k) && k < lags) lengths.push_back(static_cast<int>(k));
  lengths.push_back(lags);
  return lengths;
}

std::string lengths_table(const Diagnosis& diagnosis) {
  std::vector<Table::Column> columns = {{"K"}, {"|dL/dh| at lag K"}, {"relative bias"}, {"memory"}};
  if (diagnosis.measured.empty()) columns.insert(columns.begin() + 3, {"measured"});
  Table table(columns);
  for (const int k : shown_lengths(diagnosis.lags)) {
    const TruncationFacts& facts = diagnosis.lengths[static_cast<std::size_t>(k)];
    std::vector<std::string> cells = {fmt::format("{}", k), fmt::format("{:.3g}", facts.phi),
                                      share_text(facts.relative_bias), bytes_text(facts.activation_bytes)};
    if (facts.measured_bias) cells.insert(cells.begin() + 3, share_text(*facts.measured_bias));
    table.add_row(cells);
  }
  return table.text(style_of(STDOUT_FILENO));
}

std::string choices_table(const Diagnosis& diagnosis) {
  Table table({{"relative bias below"}, {"K"}, {"memory"}, {"", false}});
  for (const TruncationChoice& choice : diagnosis.choices)
    table.add_row({fmt::format("{}", choice.delta), fmt::format("{}", choice.truncation),
                   bytes_text(choice.activation_bytes),
                   choice.reached ? "" : fmt::format("not reached up to {}", diagnosis.longest)});
  return table.text(style_of(STDOUT_FILENO));
}

void print(const Diagnosis& diagnosis, const std::string& name) {
  const Style style = style_of(STDOUT_FILENO);
  fmt::print("{}: {} random places, lags 0 to {} after {} steps of burn-in\n\n", name, diagnosis.positions,
             diagnosis.lags, diagnosis.burn_in);
  fmt::print("{}\n", terminal_text_of(decay_chart(diagnosis, "gradient norm over the lag"), std::min(style.width, 100), 18,
                                      style.color));
  fmt::print("{}\n{}\n", lengths_table(diagnosis), choices_table(diagnosis));
  if (diagnosis.beta == 0)
    fmt::print("From lag {} on gradients are zero to the last digit: any longer truncation is exact.\n", diagnosis.tail);
  else if (diagnosis.decays)
    fmt::print("From lag {} on gradients shrink by {:.4f} a step: the geometric decay that the bounds assume is met.\n",
               diagnosis.tail, diagnosis.beta);
  else
    fmt::print("From lag {} on gradients do not shrink (factor {:.4f} a step): no bound holds; try more lags.\n",
               diagnosis.tail, diagnosis.beta);
  if (!diagnosis.measured.empty()) fmt::print("The true bias was not measured: {}.\n", diagnosis.measured);
  fmt::print("Memory: activations of windows of 2K + 1 steps with K losses, {} rows.\n", diagnosis.batch);
}

void diagnose_command(const DiagnoseArguments& arguments) {
  const std::unique_ptr<Trainer> trainer = open_trainer(arguments);
  const Diagnosis diagnosis = diagnose(*trainer, arguments.request);
  const std::string& name = trainer->plan().name;
  if (!arguments.svg.empty())
    replace_file(arguments.svg, svg_of(decay_chart(diagnosis, name + ": gradient norm over the lag")));
  if (arguments.json) {
    fmt::print("{}\n", diagnosis_json(diagnosis, name));
  } else {
    print(diagnosis, name);
  }
}

}  // namespace

void add_diagnose_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("diagnose", "How long a truncation must be: decay of gradients, bias, memory");
  const auto arguments = std::make_shared<DiagnoseArguments>();
  command->add_option("what", arguments->what, "Directory of a run, or a configuration (its first weights)")->required();
  command->add_option("--arm", arguments->arm, "The arm of a configuration that has several");
  command->add_option("--set", arguments->overrides, "key=value over the configuration's");
  command->add_flag("--best", arguments->best, "The checkpoint that was best on validation, not the last");
  command->add_option("--positions", arguments->request.positions, "S, random places of the training data")
      ->check(CLI::Range(1, 65536));
  command->add_option("--lags", arguments->request.lags, "R, the largest lag")->check(CLI::Range(2, 1'000'000));
  command->add_flag("!--no-measure", arguments->request.measure, "Leave out the true bias");
  command->add_flag("--json", arguments->json, "One JSON object instead of tables");
  command->add_option("--svg", arguments->svg, "Write the plot to this file");
  command->callback([arguments] { diagnose_command(*arguments); });
}

}  // namespace throughtime

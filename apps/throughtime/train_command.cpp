#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "commands.h"
#include "terminal.h"
#include "train/trainer.h"

namespace throughtime {
namespace {

struct TrainArguments {
  std::vector<std::string> configs;
  std::vector<std::string> overrides;
  bool quiet = false;
  bool json = false;
};

/// Tells on stderr what runs and how far it is.
class Narrator final : public Observer {
 public:
  void on_start(const RunPlan& plan) override {
    plan_ = plan;
    fmt::print(stderr, "{}: {}, {} steps, batch {}; baseline {} {:.4f}\n", plan.name, plan.task, plan.steps, plan.batch,
               plan.metric, plan.baseline);
    fmt::print(stderr, "  {}, {} parameters; engine {}, {} thread{}\n", plan.cell, plan.parameters, plan.engine,
               plan.threads, plan.threads == 1 ? "" : "s");
    fmt::print(stderr, "  {}, tape {}; evaluation {}\n", plan.learner, bytes_text(plan.activation_bytes),
               bytes_text(plan.evaluation_bytes));
  }

  void on_progress(const Progress& progress) override {
    bar_.show({plan_.name, progress.iteration, plan_.iterations, progress.train_loss, progress.seconds});
  }

  void on_validation(const Evaluation& evaluation) override {
    bar_.clear();
    fmt::print(stderr, "  iteration {}: validation {} {:.5f}\n", evaluation.iteration, plan_.metric, evaluation.metric);
  }

  void on_end(const RunResult& result) override {
    bar_.clear();
    fmt::print(stderr, "  done in {}: test {} {:.5f}\n", duration_text(result.seconds), plan_.metric, result.test.metric);
  }

 private:
  RunPlan plan_;
  ProgressBar bar_;
};

std::string json_line(const RunResult& result) {
  nlohmann::ordered_json line = {{"name", result.plan.name},
                                 {"task", result.plan.task},
                                 {"learner", result.plan.learner},
                                 {"cell", result.plan.cell},
                                 {"parameters", result.plan.parameters},
                                 {"iterations", result.plan.iterations},
                                 {"updates", result.updates},
                                 {"seconds", result.seconds},
                                 {"activation_bytes", result.plan.activation_bytes},
                                 {"train_loss", result.train_loss},
                                 {"baseline", result.plan.baseline}};
  line["metrics"] = {{"test_loss", result.test.loss}, {"test_" + result.plan.metric, result.test.metric}};
  if (result.best_validation)
    line["best"] = {{"iteration", result.best_validation->iteration},
                    {"validation_loss", result.best_validation->loss},
                    {"validation_" + result.plan.metric, result.best_validation->metric}};
  line["engine"] = result.plan.engine;
  line["threads"] = result.plan.threads;
  line["seed"] = result.plan.seed;
  return line.dump();
}

std::string summary(const std::vector<RunResult>& results) {
  Table table({{"run", false},
               {"task", false},
               {"cell", false},
               {"learner", false},
               {"parameters"},
               {"iterations"},
               {"updates"},
               {"tape"},
               {"seconds"},
               {"train loss"},
               {"test metric"},
               {"baseline"}});
  for (const RunResult& result : results) {
    const RunPlan& plan = result.plan;
    table.add_row({plan.name, fmt::format("{} {}", plan.task, plan.steps), plan.cell, plan.learner,
                   fmt::format("{}", plan.parameters), fmt::format("{}", plan.iterations),
                   fmt::format("{}", result.updates), bytes_text(plan.activation_bytes),
                   fmt::format("{:.1f}", result.seconds), fmt::format("{:.5f}", result.train_loss),
                   fmt::format("{} {:.5f}", plan.metric, result.test.metric), fmt::format("{:.5f}", plan.baseline)});
  }
  const Style style = style_of(STDOUT_FILENO);
  const bool fits = !style.terminal || table.width(style) <= static_cast<std::size_t>(style.width);
  return (fits ? table : table.transposed()).text(style);
}

void train(const TrainArguments& arguments) {
  std::vector<RunConfig> configs;
  for (const std::string& path : arguments.configs) configs.push_back(load_config(path, arguments.overrides));
  // What the last file asks for must not be refused only after the first has been trained.
  for (const RunConfig& config : configs) Trainer{config};

  std::vector<RunResult> results;
  for (const RunConfig& config : configs) {
    Trainer trainer(config);
    Observer silent;
    Narrator narrator;
    results.push_back(trainer.run(arguments.quiet ? silent : narrator));
    if (arguments.json) fmt::print("{}\n", json_line(results.back()));
    std::fflush(stdout);
  }
  if (!arguments.json) fmt::print("{}", summary(results));
}

}  // namespace

void add_train_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("train", "Train what configuration files describe, one after the other");
  const auto arguments = std::make_shared<TrainArguments>();
  command->add_option("config", arguments->configs, "TOML files (throughtime help options)")->required();
  command->add_option("--set", arguments->overrides, "An option that overrides the files: train.batch=64")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command->add_flag("--quiet", arguments->quiet, "No progress on stderr");
  command->add_flag("--json", arguments->json, "One JSON object per run on stdout instead of a table");
  command->callback([arguments] { train(*arguments); });
}

}  // namespace throughtime

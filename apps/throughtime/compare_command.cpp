#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "commands.h"
#include "narrator.h"
#include "terminal.h"
#include "throughtime/error.h"
#include "train/run/trials.h"

namespace throughtime {
namespace {

struct CompareArguments {
  std::string config;
  std::vector<std::string> learners;
  std::vector<std::string> overrides;
  std::string arm;
  int seeds = 1;
  bool quiet = false;
  bool json = false;
};

/// All runs of one learner.
struct Contender {
  std::string learner;
  std::vector<Outcome> outcomes;
};

std::vector<double> collect(const Contender& contender, double Outcome::*field) {
  std::vector<double> values;
  for (const Outcome& outcome : contender.outcomes)
    if (outcome.failure.empty() && std::isfinite(outcome.*field)) values.push_back(outcome.*field);
  return values;
}

std::string spread_text(const Contender& contender, double Outcome::*field) {
  const std::vector<double> values = collect(contender, field);
  const Spread spread = spread_of(values);
  if (values.empty()) return "";
  return values.size() == 1 ? fmt::format("{:.5f}", spread.mean)
                            : fmt::format("{:.5f} ± {:.5f}", spread.mean, spread.deviation);
}

/// The configuration of one learner and seed; everything else, the budget too, is that of the file.
RunConfig variant(const CompareArguments& arguments, const std::string& learner, int index) {
  std::vector<std::string> overrides = arguments.overrides;
  overrides.push_back("learner.name=" + learner);
  RunConfig config = load_config(arguments.config, overrides, arguments.arm);
  config.train.seed += static_cast<std::uint64_t>(index);
  const std::string part = fmt::format("{}-seed-{}", learner, config.train.seed);
  config.run.directory = run_directory(config) + "-compare/" + part;
  config.run.name += "-compare/" + part;
  return config;
}

std::string table_text(const std::vector<Contender>& contenders) {
  std::string metric = "metric";
  for (const Contender& contender : contenders)
    for (const Outcome& outcome : contender.outcomes)
      if (!outcome.metric.empty()) metric = outcome.metric;
  Table table({{"learner", false},
               {"runs"},
               {"failed"},
               {"iterations"},
               {"test " + metric},
               {"validation " + metric},
               {"train loss"},
               {"tape"},
               {"seconds"}});
  for (const Contender& contender : contenders) {
    std::size_t failed = 0;
    Outcome sample;
    for (const Outcome& outcome : contender.outcomes) {
      if (outcome.failure.empty()) sample = outcome;
      failed += outcome.failure.empty() ? 0 : 1;
    }
    table.add_row({contender.learner, fmt::format("{}", contender.outcomes.size()), fmt::format("{}", failed),
                   fmt::format("{}", sample.iterations), spread_text(contender, &Outcome::test_metric),
                   spread_text(contender, &Outcome::validation_metric), spread_text(contender, &Outcome::train_loss),
                   bytes_text(sample.activation_bytes), spread_text(contender, &Outcome::seconds)});
  }
  return table.text(style_of(STDOUT_FILENO));
}

nlohmann::ordered_json json_of(const Contender& contender) {
  nlohmann::ordered_json line = {{"learner", contender.learner}, {"runs", nlohmann::ordered_json::array()}};
  for (const Outcome& outcome : contender.outcomes) {
    line["runs"].push_back(outcome.run);
    if (!outcome.metric.empty()) line["metric"] = outcome.metric;
    if (!outcome.failure.empty()) line["failures"].push_back(outcome.failure);
  }
  const Spread test = spread_of(collect(contender, &Outcome::test_metric));
  line["test_mean"] = test.mean;
  line["test_deviation"] = test.deviation;
  line["seconds_mean"] = spread_of(collect(contender, &Outcome::seconds)).mean;
  return line;
}

void compare(const CompareArguments& arguments) {
  if (std::filesystem::is_directory(arguments.config))
    refuse("compare",
           "it takes a configuration and trains its learners, {} is a directory: for runs that exist there is "
           "throughtime report",
           arguments.config);
  // Every configuration is checked before the first is trained.
  std::vector<std::vector<RunConfig>> configs;
  for (const std::string& learner : arguments.learners) {
    configs.emplace_back();
    for (int index = 0; index < arguments.seeds; ++index) configs.back().push_back(variant(arguments, learner, index));
    Trainer{configs.back().front()};
  }
  std::vector<Contender> contenders;
  for (std::size_t i = 0; i < configs.size(); ++i) {
    contenders.push_back({arguments.learners[i], {}});
    for (const RunConfig& config : configs[i]) {
      contenders.back().outcomes.push_back(run_narrated_trial(config, true, arguments.quiet, "compare"));
      const Outcome& outcome = contenders.back().outcomes.back();
      if (!outcome.failure.empty() && !arguments.quiet) fmt::print(stderr, "  failed: {}\n", outcome.failure);
    }
  }
  if (!arguments.json) fmt::print("{}", table_text(contenders));
  if (arguments.json)
    for (const Contender& contender : contenders) fmt::print("{}\n", json_of(contender).dump());
}

}  // namespace

void add_compare_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("compare", "Train several learners with several seeds, side by side");
  const auto arguments = std::make_shared<CompareArguments>();
  command->add_option("config", arguments->config, "TOML file with everything but the learner's name")->required();
  command->add_option("--learners", arguments->learners, "Names, separated by commas (throughtime list learners)")
      ->delimiter(',')
      ->required()
      ->allow_extra_args(false);
  command->add_option("--seeds", arguments->seeds, "Runs of each, with seeds that count up from train.seed")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command->add_option("--set", arguments->overrides, "An option that overrides the file: train.batch=64")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command->add_option("--arm", arguments->arm, "The [[arm]] of the file")->type_name("NAME");
  command->add_flag("--quiet", arguments->quiet, "No progress on stderr");
  command->add_flag("--json", arguments->json, "One JSON object per learner instead of a table");
  command->callback([arguments] { compare(*arguments); });
}

}  // namespace throughtime

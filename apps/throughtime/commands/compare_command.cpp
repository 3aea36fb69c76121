#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "engine_names.h"
#include "job_line.h"
#include "narrator.h"
#include "report/statistics.h"
#include "study/comparison.h"
#include "terminal.h"

namespace throughtime {
namespace {

struct CompareArguments {
  ComparisonRequest request;
  std::string engine;  // empty: as the configuration says
  int jobs = 1;
  bool quiet = false;
  bool json = false;
};

std::string spread_text(const Contender& contender, double Outcome::*field) {
  const Summary summary = summary_of(contender.values(field));
  if (summary.count == 0) return "";
  return summary.count == 1 ? fmt::format("{:.5f}", summary.mean)
                            : fmt::format("{:.5f} ± {:.5f}", summary.mean, summary.deviation);
}

/// The same of numbers that may be equal for all seeds; `digits` behind the point.
std::string even_text(const Contender& contender, double Outcome::*field, int digits) {
  const Summary summary = summary_of(contender.values(field));
  if (summary.count == 0) return "";
  if (!(summary.deviation > 0)) return fmt::format("{:.{}f}", summary.mean, digits);
  return fmt::format("{:.{}f} ± {:.{}f}", summary.mean, digits, summary.deviation, digits);
}

/// The test metric is that of the weights that validation chose, where it chose some.
std::string table_text(const std::vector<Contender>& contenders, const std::string& key) {
  const std::string metric = metric_of(contenders);
  Table table({{key, false},
               {"runs"},
               {"failed"},
               {"iterations"},
               {"updates"},
               {"test " + metric},
               {"baseline"},
               {"x naive"},
               {"last weights"},
               {"validation " + metric},
               {"train loss"},
               {"tape"},
               {"seconds"}});
  for (const Contender& contender : contenders) {
    const Outcome sample = contender.sample();
    const Summary updates = summary_of(contender.values(&Outcome::updates));
    table.add_row({contender.name, fmt::format("{}", contender.outcomes.size()),
                   fmt::format("{}", contender.failures()), fmt::format("{}", sample.iterations),
                   fmt::format("{:.0f}", updates.count > 0 ? updates.mean : 0),
                   spread_text(contender, &Outcome::test_metric), even_text(contender, &Outcome::baseline, 5),
                   even_text(contender, &Outcome::skill, 3), spread_text(contender, &Outcome::last_test_metric),
                   spread_text(contender, &Outcome::validation_metric), spread_text(contender, &Outcome::train_loss),
                   bytes_text(sample.activation_bytes), spread_text(contender, &Outcome::seconds)});
  }
  return table.text(style_of(STDOUT_FILENO));
}

/// All runs, several at a time; how each ended is taken from its directory afterwards.
void run_side_by_side(const CompareArguments& arguments, std::vector<Contender>& contenders) {
  std::vector<RunConfig> configs;
  for (const Contender& contender : contenders)
    configs.insert(configs.end(), contender.configs.begin(), contender.configs.end());
  const std::vector<JobEnd> ends = run_shown_jobs(configs, {.jobs = arguments.jobs}, "compare", arguments.quiet);
  auto end = ends.begin();
  for (Contender& contender : contenders)
    for (const RunConfig& config : contender.configs) {
      if (end->failure.empty())
        contender.outcomes.push_back(run_narrated_trial(config, true, true, "compare"));
      else
        contender.outcomes.push_back({.run = run_directory(config), .failure = end->failure});
      ++end;
    }
}

void compare(CompareArguments arguments) {
  if (!arguments.engine.empty()) arguments.request.overrides.push_back("run.engine=" + arguments.engine);
  std::vector<Contender> contenders = make_contenders(arguments.request);
  if (arguments.jobs > 1) {
    run_side_by_side(arguments, contenders);
  } else {
    for (Contender& contender : contenders)
      for (const RunConfig& config : contender.configs)
        contender.outcomes.push_back(run_narrated_trial(config, true, arguments.quiet, "compare"));
  }
  const std::string key = arguments.request.learners.empty() ? "arm" : "learner";
  if (!arguments.json) show("{}", table_text(contenders, key));
  if (arguments.json)
    for (const Contender& contender : contenders) show("{}\n", contender_json(contender, key));
}

}  // namespace

void add_compare_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("compare", "Train several learners or arms with several seeds, side by side");
  const auto arguments = std::make_shared<CompareArguments>();
  command
      ->add_option("config", arguments->request.config,
                   "TOML file: with arms to compare, or with everything but the learner's name")
      ->required();
  command
      ->add_option("--learners", arguments->request.learners, "Names, separated by commas (throughtime list learners)")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      ->add_option("--arms", arguments->request.arms,
                   "Without --learners: which [[arm]]s of the file; else all of them")
      ->delimiter(',')
      ->type_name("NAMES")
      ->allow_extra_args(false);
  command->add_option("--seeds", arguments->request.seeds, "Runs of each, with seeds that count up from train.seed")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command->add_option("--set", arguments->request.overrides, "An option that overrides the file: train.batch=64")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command->add_option("--arm", arguments->request.arm, "The [[arm]] that the learners share")->type_name("NAME");
  command->add_option("--engine", arguments->engine,
                      fmt::format("What computes (run.engine): {}, or auto", usable_engine_names()));
  command->add_option("--jobs", arguments->jobs, "Runs at a time; on a GPU they share it")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command->add_flag("--quiet", arguments->quiet, "No progress on stderr");
  command->add_flag("--json", arguments->json, "One JSON object per learner or arm instead of a table");
  command->callback([arguments] { compare(*arguments); });
}

}  // namespace throughtime

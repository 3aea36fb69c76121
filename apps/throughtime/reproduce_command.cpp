#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "narrator.h"
#include "reproduce/atlas.h"
#include "terminal.h"
#include "throughtime/error.h"
#include "train/environment.h"
#include "train/files.h"
#include "train/run_directory.h"
#include "train/trials.h"

namespace throughtime {
namespace {

struct ReproduceArguments {
  std::string name;
  std::string experiments = "experiments";
  std::string scale = "quick";
  std::string engine = "cpu";
  std::string data;
  std::string directory;
  int seeds = 0;
  bool list = false, atlas = false, keys = false, store = false, quiet = false;
};

/// One arm with one seed.
struct Part {
  std::string arm;
  RunConfig config;
};

std::string output_directory(const ReproduceArguments& arguments) {
  return arguments.directory.empty() ? fmt::format("runs/reproduce/{}-{}", arguments.name, arguments.scale)
                                     : arguments.directory;
}

/// All runs, seed by seed, so that a stop leaves whole comparisons behind.
std::vector<Part> make_parts(const ResultSpec& spec, Scale scale, const ReproduceArguments& arguments) {
  std::vector<std::string> overrides = scale == Scale::quick ? spec.quick : std::vector<std::string>{};
  overrides.push_back("run.engine=" + arguments.engine);
  if (!arguments.data.empty())
    overrides.push_back("task.data=" + std::filesystem::absolute(arguments.data).string());
  const int seeds = arguments.seeds > 0 ? arguments.seeds : spec.seeds_at(scale);
  std::vector<Part> parts;
  for (int index = 0; index < seeds; ++index)
    for (const std::string& arm : spec.arms_at(scale)) {
      Part part{arm, load_config(spec.file.string(), overrides, arm)};
      part.config.train.seed += static_cast<std::uint64_t>(index);
      const std::string place = fmt::format("{}/seed-{}", arm, part.config.train.seed);
      part.config.run.directory = output_directory(arguments) + "/" + place;
      part.config.run.name = place;
      parts.push_back(std::move(part));
    }
  // What the last arm asks for must not be refused only after the first has been trained.
  for (std::size_t i = 0; i < spec.arms_at(scale).size(); ++i)
    if (!RunDirectory(parts[i].config.run.directory).is_run()) Trainer{parts[i].config};
  return parts;
}

/// The measures of a run; of one that broke, NaN.
void add_values(StoredResult& stored, const ResultSpec& spec, const Part& part, const Outcome& outcome) {
  const bool broke = !outcome.failure.empty();
  const RunRecord run = broke ? RunRecord{} : read_run(outcome.run);
  for (const Measure& measure : spec.measures())
    stored.values[part.arm][measure.key()].emplace_back(
        part.config.train.seed, broke ? std::numeric_limits<double>::quiet_NaN() : measure_run(measure, run));
  stored.seconds += outcome.seconds;
}

/// The report of all runs, with the verdict first and the paper's values in the picture of their curve.
void write_report(const ResultSpec& spec, const StoredResult& stored, const std::vector<Part>& parts,
                  const std::filesystem::path& path) {
  std::vector<std::string> runs;
  for (const Part& part : parts) runs.push_back(part.config.run.directory);
  const std::string title = fmt::format("{}: {} ({})", spec.name, spec.title, scale_text(stored.scale));
  Report report = make_report(group_runs(read_runs(runs)), {.title = title});
  ReportTable verdict = rules_table(spec, judge(spec, stored));
  verdict.note = fmt::format("{}: \"{}\" {}", spec.paper, spec.claim, verdict.note);
  report.tables.insert(report.tables.begin(), {verdict, values_table(spec, stored)});
  for (Chart& figure : report.figures) {
    if (figure.title != spoken(spec.measure.metric)) continue;
    for (const auto& [arm, value] : spec.values) figure.references.push_back({"paper, " + arm, value});
  }
  replace_file(path, html_of(report));
}

void reproduce(const ReproduceArguments& arguments) {
  const Scale scale = arguments.scale == "full" ? Scale::full : Scale::quick;
  const ResultSpec spec = find_result(arguments.experiments, arguments.name);
  const std::vector<Part> parts = make_parts(spec, scale, arguments);
  StoredResult stored{.scale = scale, .version = version(), .commit = commit(), .engine = arguments.engine};
  for (const Part& part : parts) {
    const Outcome outcome = run_narrated_trial(part.config, true, arguments.quiet, "reproduce");
    if (!outcome.failure.empty() && !arguments.quiet) fmt::print(stderr, "  failed: {}\n", outcome.failure);
    add_values(stored, spec, part, outcome);
  }
  const std::filesystem::path directory = output_directory(arguments), report = directory / "report.html";
  replace_file(directory / "values.json", json_of(stored));
  write_report(spec, stored, parts, report);
  if (arguments.store) {
    const auto path = stored_path(std::filesystem::path(arguments.experiments) / "results", spec.name, scale);
    make_directories(path.parent_path());
    replace_file(path, json_of(stored));
  }
  const Verdict verdict = judge(spec, stored);
  Table table({{"met", false}, {"rule", false}});
  for (const std::vector<std::string>& row : rules_table(spec, verdict).rows) table.add_row({row[1], row[0]});
  fmt::print("{}{}, {}: {}\n", table.text(style_of(STDOUT_FILENO)), spec.name, scale_text(scale), verdict.word);
  fmt::print(stderr, "wrote {}\n", report.string());
}

void list(const std::vector<ResultSpec>& specs) {
  Table table({{"result", false}, {"runs, full"}, {"runs, quick"}, {"the paper's cost", false}, {"claim", false}});
  for (const ResultSpec& spec : specs) {
    const auto runs = [&](Scale scale) {
      return fmt::format("{} x {}", spec.arms_at(scale).size(), spec.seeds_at(scale));
    };
    table.add_row({spec.name, runs(Scale::full), runs(Scale::quick), spec.cost.empty() ? "not given" : spec.cost,
                   spec.claim});
  }
  fmt::print("{}", table.text(style_of(STDOUT_FILENO)));
}

void answer(const ReproduceArguments& arguments) {
  if (arguments.keys) {
    fmt::print("{}", result_keys_markdown());
  } else if (arguments.list) {
    list(find_results(arguments.experiments));
  } else if (arguments.atlas) {
    const std::filesystem::path experiments = arguments.experiments;
    fmt::print("{}", atlas_of(find_results(experiments), experiments / "results"));
  } else if (arguments.name.empty()) {
    refuse("reproduce", "name a result, such as fptt/figure-1; --list shows them all");
  } else {
    reproduce(arguments);
  }
}

}  // namespace

void add_reproduce_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("reproduce", "Run a figure or table of a paper, and judge its claim");
  const auto arguments = std::make_shared<ReproduceArguments>();
  command->add_option("result", arguments->name, "A result's name (--list)");
  command->add_option("--scale", arguments->scale, "quick: smaller, minutes; full: the paper's setting")
      ->check(CLI::IsMember({"quick", "full"}))
      ->capture_default_str();
  command->add_option("--seeds", arguments->seeds, "Runs of each arm; else as many as the result asks for")
      ->check(CLI::Range(1, 1000000));
  command->add_option("--engine", arguments->engine, "What computes (throughtime list engines)")->capture_default_str();
  command->add_option("--data", arguments->data, "Data directory (task.data)")->type_name("DIRECTORY");
  command
      ->add_option("--directory", arguments->directory,
                   "Where runs, values.json and report.html go; else runs/reproduce/RESULT-SCALE")
      ->type_name("DIRECTORY");
  command->add_option("--experiments", arguments->experiments, "Where the experiments are")->capture_default_str();
  command->add_flag("--store", arguments->store, "Keep the numbers under EXPERIMENTS/results for the atlas");
  command->add_flag("--list", arguments->list, "Show all results instead: runs, cost, claim");
  command->add_flag("--atlas", arguments->atlas, "Print the page of all results instead (docs/reproduction.md)");
  command->add_flag("--keys", arguments->keys, "Print what a [result] table may say instead");
  command->add_flag("--quiet", arguments->quiet, "No progress on stderr");
  command->callback([arguments] { answer(*arguments); });
}

}  // namespace throughtime

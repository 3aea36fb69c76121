#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "commands.h"
#include "core/names.h"
#include "job_pool.h"
#include "reproduce/atlas.h"
#include "reproduce/claim_curve.h"
#include "reproduce/cost.h"
#include "terminal.h"
#include "throughtime/error.h"
#include "train/run/environment.h"
#include "train/run/files.h"
#include "train/run/run_directory.h"
#include "train/run/trials.h"

namespace throughtime {
namespace {

struct ReproduceArguments {
  std::vector<std::string> names;
  std::vector<std::string> arms;  // empty: all of the scale
  std::string experiments = "experiments";
  std::string scale = "quick";
  std::string engine = "cpu";
  std::string data;
  std::string directory;
  int seeds = 0, jobs = 0;
  bool all = false, list = false, atlas = false, keys = false, estimate = false, store = false, quiet = false,
       checkpoints = false;

  std::filesystem::path results() const { return std::filesystem::path(experiments) / "results"; }
};

/// One arm with one seed.
struct Part {
  std::string arm;
  RunConfig config;
};

/// Everything that is run for one result.
struct Undertaking {
  ResultSpec spec;
  Scale scale;
  std::filesystem::path directory;
  std::vector<Part> parts;
  int jobs = 1;
};

int cores() { return static_cast<int>(std::max(1u, std::thread::hardware_concurrency())); }

void require_engine(const std::string& engine) {
  const std::vector<std::string> known = engine_names();
  if (engine == "cuda" && std::find(known.begin(), known.end(), engine) == known.end())
    refuse("reproduce", "this build has no CUDA engine; leave --engine out, or say --engine cpu");
}

std::vector<std::string> circumstances(const ReproduceArguments& arguments) {
  std::vector<std::string> overrides = {"run.engine=" + arguments.engine};
  if (!arguments.data.empty()) overrides.push_back("task.data=" + std::filesystem::absolute(arguments.data).string());
  return overrides;
}

bool holds(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The arms that are asked for.
const std::vector<std::string>& chosen_arms(const Undertaking& task, const std::vector<std::string>& asked) {
  for (const std::string& arm : asked)
    if (!holds(task.spec.arms, arm)) refuse_unknown("reproduce", "arm of " + task.spec.name, arm, task.spec.arms);
  return asked.empty() ? task.spec.arms_at(task.scale) : asked;
}

/// All runs, seed by seed, so that a stop leaves whole comparisons behind. Those of arms that are not asked for count
/// where they were finished before.
std::vector<Part> make_parts(const Undertaking& task, const ReproduceArguments& arguments) {
  const std::vector<std::string>& chosen = chosen_arms(task, arguments.arms);
  std::vector<std::string> overrides = circumstances(arguments);
  if (task.scale == Scale::quick) overrides.insert(overrides.begin(), task.spec.quick.begin(), task.spec.quick.end());
  const int seeds = arguments.seeds > 0 ? arguments.seeds : task.spec.seeds_at(task.scale);
  std::vector<Part> parts;
  for (int index = 0; index < seeds; ++index)
    for (const std::string& arm : task.spec.arms) {
      if (!holds(chosen, arm) && !holds(task.spec.arms_at(task.scale), arm)) continue;
      Part part{arm, load_config(task.spec.file.string(), overrides, arm)};
      part.config.train.seed += static_cast<std::uint64_t>(index);
      const std::string place = fmt::format("{}/seed-{}", arm, part.config.train.seed);
      part.config.run.directory = (task.directory / place).string();
      part.config.run.name = place;
      if (!holds(chosen, arm) && !RunDirectory(part.config.run.directory).is_finished()) continue;
      parts.push_back(std::move(part));
    }
  return parts;
}

/// As many runs at a time as the machine has cores for their threads; a run that asks for every core gets its share.
void share_cores(Undertaking& task, int jobs) {
  int threads = 1;
  for (const Part& part : task.parts) threads = std::max(threads, part.config.run.threads);
  task.jobs = std::min<int>(jobs > 0 ? jobs : std::max(1, cores() / threads), static_cast<int>(task.parts.size()));
  for (Part& part : task.parts)
    if (part.config.run.threads == 0) part.config.run.threads = std::max(1, cores() / task.jobs);
}

Undertaking undertake(const ResultSpec& spec, const ReproduceArguments& arguments) {
  if (spec.arms.empty()) refuse("reproduce", "{} cannot be run: {}", spec.name, spec.claims.front().missing);
  Undertaking task{
      .spec = spec, .scale = choice_of<Scale>(arguments.scale, "reproduce", "scale"), .directory = {}, .parts = {}};
  task.directory = arguments.directory.empty() ? fmt::format("runs/reproduce/{}-{}", spec.name, arguments.scale)
                                               : arguments.directory;
  task.parts = make_parts(task, arguments);
  share_cores(task, arguments.jobs);
  // What the last arm asks for must not be refused only after the first has been trained.
  std::set<std::string> seen;
  for (const Part& part : task.parts)
    if (seen.insert(part.arm).second && !RunDirectory(part.config.run.directory).is_run()) Trainer{part.config};
  return task;
}

std::string environment_of(const RunRecord& run, const std::string& key) {
  for (const auto& [name, value] : run.environment)
    if (name == key) return value;
  return "";
}

/// What all runs wrote, in the order of the parts; an empty record of one that never began.
std::vector<RunRecord> read_parts(const Undertaking& task) {
  std::vector<RunRecord> records;
  for (const Part& part : task.parts)
    records.push_back(RunDirectory(part.config.run.directory).is_run() ? read_run(part.config.run.directory)
                                                                       : RunRecord());
  return records;
}

/// The measures of all runs: NaN of one that broke, nothing of one that has no answer. The commits are those that the
/// runs were begun at.
StoredResult gather(const Undertaking& task, const std::vector<Outcome>& outcomes,
                    const std::vector<RunRecord>& records, const std::string& engine) {
  StoredResult stored{.scale = task.scale, .version = version(), .commit = "", .engine = engine};
  if (task.scale == Scale::quick) stored.smaller = task.spec.quick;
  std::set<std::string> commits;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const Outcome& outcome = outcomes[i];
    if (outcome.interrupted) continue;
    const bool broke = !outcome.failure.empty();
    const RunRecord& run = records[i];
    for (const Measure& measure : task.spec.measures())
      stored.values[task.parts[i].arm][measure.key()].emplace_back(
          task.parts[i].config.train.seed,
          broke ? std::numeric_limits<double>::quiet_NaN() : measure_run(measure, run));
    commits.insert(environment_of(run, "commit"));
    stored.seconds += outcome.seconds;
  }
  stored.commit = fmt::format("{}", fmt::join(commits, ", "));
  return stored;
}

/// The numbers, and the curves of claims that did not hold.
void store(const Undertaking& task, const StoredResult& stored, const std::vector<RunGroup>& groups,
           const std::filesystem::path& results) {
  const std::filesystem::path path = stored_path(results, task.spec.name, task.scale);
  make_directories(path.parent_path());
  replace_file(path, json_of(stored));
  if (gnuplot_found())
    store_curves(task.spec, stored, groups, results);
  else
    fmt::print(stderr, "curves of claims that did not hold need gnuplot; none were kept\n");
}

/// The report of all runs: the verdicts, the curves of each claim with the paper's values, all other curves where they
/// can be told apart, then the rules of each claim.
void write_report(const Undertaking& task, const StoredResult& stored, const std::vector<RunGroup>& groups,
                  const std::filesystem::path& path) {
  if (groups.empty()) return;
  const ResultSpec& spec = task.spec;
  const std::string title = fmt::format("{}: {} ({})", spec.name, spec.title, scale_text(stored.scale));
  Report report = make_report(groups, {.title = title, .figures = groups.size() <= most_groups_of_a_figure});
  std::vector<ReportTable> tables = {claims_table(spec, stored)};
  for (std::size_t i = 0; i < spec.claims.size(); ++i) {
    const Claim& claim = spec.claims[i];
    const Verdict verdict = judge(spec, claim, stored);
    if (verdict.word == VerdictWord::not_run) continue;
    tables.push_back(rules_table(claim, verdict));
    tables.back().title = fmt::format("{}. {}", i + 1, claim.says);
    tables.push_back(values_table(spec, claim, stored));
  }
  report.tables.insert(report.tables.begin(), tables.begin(), tables.end());
  std::vector<Chart> figures = claim_charts(spec, stored, groups);
  for (const Chart& other : report.figures)
    if (std::none_of(figures.begin(), figures.end(), [&](const Chart& one) { return same_curves(one, other); }))
      figures.push_back(other);
  report.figures = std::move(figures);
  replace_file(path, html_of(report));
}

void print_verdicts(const Undertaking& task, const StoredResult& stored) {
  Table table({{"verdict", false}, {"claim, and its rules", false}});
  for (const Claim& claim : task.spec.claims) {
    const Verdict verdict = judge(task.spec, claim, stored);
    table.add_row({std::string(name_of(verdict.word)), claim.says});
    if (verdict.word == VerdictWord::not_run) continue;
    for (const std::vector<std::string>& row : rules_table(claim, verdict).rows)
      table.add_row({"", fmt::format("{}: {}", row[1], row[0])});
  }
  fmt::print("{}, {}\n{}", task.spec.name, scale_text(task.scale), table.text(style_of(STDOUT_FILENO)));
}

/// Whether every run has an answer.
bool reproduce(const ResultSpec& spec, const ReproduceArguments& arguments) {
  const Undertaking task = undertake(spec, arguments);
  std::vector<RunConfig> configs;
  for (const Part& part : task.parts) configs.push_back(part.config);
  const std::vector<Outcome> outcomes =
      run_jobs(configs, {.title = fmt::format("{} ({})", spec.name, scale_text(task.scale)),
                         .jobs = task.jobs,
                         .quiet = arguments.quiet,
                         .keep_checkpoints = arguments.checkpoints});
  std::vector<RunRecord> records = read_parts(task);
  const StoredResult stored = gather(task, outcomes, records, arguments.engine);
  const std::filesystem::path report = task.directory / "report.html";
  const bool complete =
      std::none_of(outcomes.begin(), outcomes.end(), [](const Outcome& one) { return one.interrupted; });
  make_directories(task.directory);
  replace_file(task.directory / "values.json", json_of(stored));
  std::erase_if(records, [](const RunRecord& run) { return run.directory.empty(); });
  const std::vector<RunGroup> groups = group_runs(std::move(records));
  write_report(task, stored, groups, report);
  if (arguments.store && complete) store(task, stored, groups, arguments.results());
  print_verdicts(task, stored);
  if (std::filesystem::exists(report)) fmt::print(stderr, "wrote {}\n", report.string());
  return complete;
}

/// One after the other; a result that cannot be run does not keep the others from it.
void reproduce_all(const std::vector<ResultSpec>& specs, const ReproduceArguments& arguments) {
  std::vector<std::string> failed;
  for (const ResultSpec& spec : specs) {
    if (spec.arms.empty()) continue;
    try {
      if (!reproduce(spec, arguments)) failed.push_back(spec.name);
    } catch (const InvalidInput& error) {
      if (specs.size() == 1) throw;
      fmt::print(stderr, "{}: {}\n", spec.name, error.what());
      failed.push_back(spec.name);
    }
  }
  if (!failed.empty())
    fail("reproduce", "not every run of {} has an answer; the same command tries them again", fmt::join(failed, ", "));
}

std::string time_text(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", seconds);
  if (seconds < 5400) return fmt::format("{:.0f} min", seconds / 60);
  if (seconds < 2 * 86400) return fmt::format("{:.0f} h", seconds / 3600);
  return fmt::format("{:.0f} days", seconds / 86400);
}

/// "3 x 5 runs, ~40 min", or "3 x 5 runs, 35 s" where all of them were run and stored.
std::string cost_text(const ResultSpec& spec, Scale scale, const Costs& costs, const std::filesystem::path& results) {
  if (spec.arms.empty()) return "–";
  const std::string runs = fmt::format("{} x {} runs", spec.arms_at(scale).size(), spec.seeds_at(scale));
  for (const StoredResult& stored : find_stored(results, spec.name))
    if (stored.scale == scale && is_complete(spec, stored))
      return fmt::format("{}, {}", runs, time_text(stored.seconds));
  const auto found = costs.find(spec.name);
  if (found == costs.end()) return runs;
  return fmt::format("{}, ~{}", runs, time_text(scale == Scale::quick ? found->second.quick : found->second.full));
}

void list(const ReproduceArguments& arguments) {
  const Costs costs = read_costs(arguments.results());
  Table table({{"result", false}, {"quick scale", false}, {"full scale", false}, {"claims"}, {"what", false}});
  for (const ResultSpec& spec : find_results(arguments.experiments))
    table.add_row({spec.name, cost_text(spec, Scale::quick, costs, arguments.results()),
                   cost_text(spec, Scale::full, costs, arguments.results()), fmt::format("{}", spec.claims.size()),
                   spec.arms.empty() ? fmt::format("{} (cannot be run: {})", spec.title, spec.claims.front().missing)
                                     : spec.title});
  fmt::print("{}", table.text(style_of(STDOUT_FILENO)));
  fmt::print(
      "\nArms x seeds, and seconds of training on one core of all of them: n cores take about an n-th of it.\n"
      "Without ~ they were measured in stored runs. With ~ they come from a short timing of the arms of quick scale,\n"
      "for full scale with counted work (parameters x steps x rows x iterations): a rough number (--estimate).\n");
}

void estimate(const std::vector<ResultSpec>& specs, const ReproduceArguments& arguments) {
  Costs costs = read_costs(arguments.results());
  CostEstimator estimator(circumstances(arguments), 0.3);
  for (const ResultSpec& spec : specs) {
    if (spec.arms.empty()) continue;
    costs[spec.name] = estimator.estimate(spec);
    fmt::print("{}: quick scale {}, full scale {}\n", spec.name, time_text(costs[spec.name].quick),
               time_text(costs[spec.name].full));
    std::fflush(stdout);
    if (arguments.store) write_costs(arguments.results(), costs);
  }
}

std::vector<ResultSpec> chosen(const ReproduceArguments& arguments) {
  std::vector<ResultSpec> specs;
  if (arguments.all) return find_results(arguments.experiments);
  if (arguments.names.empty()) refuse("reproduce", "name a result, such as fptt/figure-1, or --all; --list shows them");
  for (const std::string& name : arguments.names) specs.push_back(find_result(arguments.experiments, name));
  for (const auto& [option, given] :
       {std::pair("--directory", !arguments.directory.empty()), std::pair("--arms", !arguments.arms.empty())})
    if (specs.size() > 1 && given) refuse("reproduce", "{} belongs to one result, got {}", option, specs.size());
  return specs;
}

void answer(const ReproduceArguments& arguments) {
  require_engine(arguments.engine);
  if (arguments.keys) {
    fmt::print("{}", result_keys_markdown());
  } else if (arguments.list) {
    list(arguments);
  } else if (arguments.atlas) {
    fmt::print("{}", atlas_of(find_results(arguments.experiments), arguments.results()));
  } else if (arguments.estimate) {
    estimate(chosen(arguments), arguments);
  } else {
    reproduce_all(chosen(arguments), arguments);
  }
}

}  // namespace

void add_reproduce_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("reproduce", "Run a figure or table of a paper, and judge its claims");
  const auto arguments = std::make_shared<ReproduceArguments>();
  command->add_option("result", arguments->names, "Names of results (--list), run one after the other");
  CLI::Option* all = command->add_flag("--all", arguments->all, "All results, one after the other");
  command->add_option("--scale", arguments->scale, "quick: smaller, minutes; full: the paper's setting")
      ->check(CLI::IsMember(all_names<Scale>()))
      ->capture_default_str();
  command->add_option("--seeds", arguments->seeds, "Runs of each arm; else as many as the result asks for")
      ->check(CLI::Range(1, 1000000));
  command->add_option("--jobs", arguments->jobs, "Runs at a time; else the cores over the threads of a run")
      ->check(CLI::Range(1, 1024));
  command->add_option("--engine", arguments->engine, "What computes: cpu, cuda (throughtime list engines)")
      ->capture_default_str();
  command->add_option("--data", arguments->data, "Data directory (task.data)")->type_name("DIRECTORY");
  command
      ->add_option("--directory", arguments->directory,
                   "Where runs, values.json and report.html go; else runs/reproduce/RESULT-SCALE")
      ->type_name("DIRECTORY");
  command->add_option("--experiments", arguments->experiments, "Where the experiments are")->capture_default_str();
  command->add_flag("--store", arguments->store,
                    "Keep the numbers, and the curves of claims that failed, under EXPERIMENTS/results for the atlas");
  command->add_flag("--checkpoints", arguments->checkpoints,
                    "Keep the weights of finished runs too, which may take much more room than their numbers");
  command->add_flag("--list", arguments->list, "Show all results instead: runs, cost, claims");
  CLI::Option* estimate = command->add_flag("--estimate", arguments->estimate,
                                            "Time the arms for a moment instead, and say what all of them take");
  command
      ->add_option("--arms", arguments->arms,
                   "Run these arms only; with --store they join those that were finished before")
      ->delimiter(',')
      ->type_name("ARM,...")
      ->excludes(all)
      ->excludes(estimate);
  command->add_flag("--atlas", arguments->atlas, "Print the page of all results instead (docs/reproduction.md)");
  command->add_flag("--keys", arguments->keys, "Print what a [result] table may say instead");
  command->add_flag("--quiet", arguments->quiet, "No progress on stderr");
  command->callback([arguments] { answer(*arguments); });
}

}  // namespace throughtime

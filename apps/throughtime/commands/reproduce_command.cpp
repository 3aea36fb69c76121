#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "engine_names.h"
#include "job_line.h"
#include "reproduce/atlas.h"
#include "reproduce/claims/claim_tables.h"
#include "reproduce/runs/cost.h"
#include "reproduce/runs/dynamic_runs.h"
#include "reproduce/runs/programme.h"
#include "reproduce/runs/sweep_runs.h"
#include "reproduce/runs/undertaking.h"
#include "terminal.h"
#include "throughtime/error.h"
#include "train/files/run_directory.h"

namespace throughtime {
namespace {

struct ReproduceArguments {
  std::vector<std::string> names;
  std::string experiments = "experiments";
  std::string scale{name_of(Scale::quick)};
  ReproduceRequest request;
  std::string atlas;  // the directory of its pages
  bool all = false, list = false, keys = false, estimate = false, store = false, quiet = false, checkpoints = false;

  std::filesystem::path results() const { return std::filesystem::path(experiments) / "results"; }
};

void require_engine(const std::string& engine) {
  const std::vector<const EngineType*> usable = usable_engines();
  if (std::none_of(usable.begin(), usable.end(), [&](const EngineType* each) { return each->name == engine; }))
    refuse("reproduce", "the engine '{}' cannot be used here; --engine takes {}", engine, usable_engine_names());
}

/// Runs that are finished need none: they are judged again where their engine cannot compute, too.
void require_engine(const std::string& engine, const std::vector<Part>& parts, const FurtherWork& further) {
  const auto left = [&](const Part& part) {
    return !RunDirectory(part.config.run.directory).is_finished() || further.left(part.config);
  };
  if (std::any_of(parts.begin(), parts.end(), left)) require_engine(engine);
}

void print_verdicts(const Undertaking& task, const StoredResult& stored) {
  Table table({{"verdict", false}, {"claim, and its rules", false}});
  for (const Claim& claim : task.spec.claims) {
    const Verdict verdict = judge(task.spec, claim, stored);
    table.add_row({std::string(name_of(verdict.word)), claim.says});
    if (verdict.word == VerdictWord::not_run) {
      const std::string why = task.scale == Scale::quick ? task.spec.needs_full_text(claim) : "";
      if (claim.missing.empty() && !why.empty()) table.add_row({"", "needs full scale: " + why});
      continue;
    }
    for (const std::vector<std::string>& row : rules_table(claim, verdict).rows)
      table.add_row({"", fmt::format("{}: {}{}", row[1], row[0], row[3].empty() ? "" : ", p " + row[3])});
  }
  show("{}, {}\n{}", task.spec.name, scale_text(task.spec, stored), table.text(style_of(STDOUT_FILENO)));
}

/// Runs the sweep of a result, if it has one, and tells what it chose; false where a run has no answer.
bool sweep(const ResultSpec& spec, const ReproduceArguments& arguments, SweepChoices& chosen) {
  const SweepRuns runs = undertake_sweep(spec, arguments.request);
  if (runs.points.empty()) return true;
  require_engine(arguments.request.engine, runs.parts, {});
  const std::vector<JobEnd> ends =
      run_shown_jobs(configs_of(runs.parts), {.jobs = runs.jobs, .keep_checkpoints = arguments.checkpoints},
                     fmt::format("{} (sweep)", spec.name), arguments.quiet);
  if (std::any_of(ends.begin(), ends.end(), [](const JobEnd& end) { return end.interrupted; })) return false;
  chosen = choose(spec, runs, ends, arguments.request.known_runs());
  for (const auto& [arm, point] : chosen)
    if (!arguments.quiet && !point.empty())
      tell("{}: {} takes {}\n", spec.name, arm, fmt::format("{}", fmt::join(point, ", ")));
  return true;
}

/// Whether every run has an answer.
bool reproduce(const ResultSpec& spec, const ReproduceArguments& arguments) {
  SweepChoices chosen;
  if (!sweep(spec, arguments, chosen)) return false;
  const Undertaking task = undertake(spec, arguments.request, chosen);
  const FurtherWork further = dynamic_work(task);
  require_engine(arguments.request.engine, task.parts, further);
  const std::vector<JobEnd> ends = run_shown_jobs(
      configs_of(task.parts), {.jobs = task.jobs, .keep_checkpoints = arguments.checkpoints, .further = further},
      fmt::format("{} ({})", spec.name, scale_text(task.scale)), arguments.quiet);
  const Reproduction reproduction = gather(task, ends);
  write_down(task, reproduction);
  if (arguments.store && reproduction.complete && !store(task, reproduction, arguments.results()))
    tell("curves of claims that did not hold need gnuplot; none were kept\n");
  print_verdicts(task, reproduction.stored);
  if (std::filesystem::exists(task.report())) tell("wrote {}\n", task.report().string());
  return reproduction.complete;
}

void make_atlas(const ReproduceArguments& arguments) {
  for (const std::filesystem::path& page : write_atlas(arguments.experiments, arguments.atlas))
    tell("wrote {}\n", page.string());
}

/// What --all runs, and in which order; says beforehand what it does not run.
Programme programme_of(const ReproduceArguments& arguments) {
  Programme programme = programme_of(find_results(arguments.experiments), arguments.request.scale,
                                     read_costs(arguments.results()), arguments.results());
  if (arguments.quiet) return programme;
  for (const std::vector<LeftOut>& list : {programme.left_out, programme.undecided})
    for (const LeftOut& one : list) tell("not run: {}: {}\n", one.what, one.why);
  return programme;
}

/// One after the other; a result that cannot be run does not keep the others from it.
void reproduce_all(const std::vector<ResultSpec>& specs, const ReproduceArguments& arguments,
                   const Programme* programme) {
  std::vector<std::string> unanswered;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const ResultSpec& spec = specs[i];
    if (programme != nullptr && !arguments.quiet)
      tell("result {} of {}: {}; {}\n", i + 1, specs.size(), spec.name,
           left_text(*programme, i, cores_of(arguments.request.jobs)));
    try {
      if (!reproduce(spec, arguments)) unanswered.push_back(spec.name);
    } catch (const InvalidInput& error) {
      if (specs.size() == 1) throw;
      tell("{}: {}\n", spec.name, error.what());
      unanswered.push_back(spec.name);
    }
  }
  if (!arguments.atlas.empty()) make_atlas(arguments);
  if (!unanswered.empty())
    fail("reproduce", "not every run of {} has an answer; the same command tries them again",
         fmt::join(unanswered, ", "));
}

void list(const ReproduceArguments& arguments) {
  const Costs costs = read_costs(arguments.results());
  Table table({{"result", false},
               {"quick scale", false},
               {"full scale", false},
               {"claims"},
               {"decided quick"},
               {"what", false}});
  for (const ResultSpec& spec : find_results(arguments.experiments))
    table.add_row({spec.name, cost_text(spec, Scale::quick, costs, arguments.results()),
                   cost_text(spec, Scale::full, costs, arguments.results()), fmt::format("{}", spec.claims.size()),
                   fmt::format("{}", spec.decided(Scale::quick)),
                   spec.arms.empty() ? fmt::format("{} (cannot be run: {})", spec.title, spec.claims.front().missing)
                                     : spec.title});
  show("{}", table.text(style_of(STDOUT_FILENO)));
  show(
      "\nDecided quick: the claims that quick scale can decide. Costs: arms x seeds, the runs of a sweep that chooses\n"
      "their settings, and the time that all of them train on one core; n cores take about an n-th of it. Without ~\n"
      "it was measured in stored runs. With ~ it is a rough number: from a short timing of every arm (--estimate), or\n"
      "from stored runs and how many more a sweep has.\n");
}

void estimate(const std::vector<ResultSpec>& specs, const ReproduceArguments& arguments) {
  Costs costs = read_costs(arguments.results());
  CostEstimator estimator(arguments.request.circumstances(), 0.3);
  for (const ResultSpec& spec : specs) {
    if (spec.arms.empty()) continue;
    costs[spec.name] = estimator.estimate(spec);
    show("{}: quick scale {}, full scale {}\n", spec.name, time_text(costs[spec.name].quick),
         time_text(costs[spec.name].full));
    std::fflush(stdout);
    if (arguments.store) write_costs(arguments.results(), costs);
  }
}

std::vector<ResultSpec> chosen(const ReproduceArguments& arguments) {
  std::vector<ResultSpec> specs;
  if (arguments.names.empty()) refuse("reproduce", "name a result, such as fptt/figure-1, or --all; --list shows them");
  for (const std::string& name : arguments.names) specs.push_back(find_result(arguments.experiments, name));
  for (const auto& [option, given] : {std::pair("--directory", !arguments.request.directory.empty()),
                                      std::pair("--arms", !arguments.request.arms.empty())})
    if (specs.size() > 1 && given) refuse("reproduce", "{} belongs to one result, got {}", option, specs.size());
  return specs;
}

void answer(ReproduceArguments& arguments) {
  const EngineType& engine = find_engine(arguments.request.engine);  // a misspelt one is refused, whatever is asked
  if (arguments.estimate) require_engine(engine.name);
  if (!arguments.atlas.empty() && !arguments.store && (arguments.all || !arguments.names.empty()))
    refuse("reproduce", "--atlas shows what is stored: with results to run it needs --store");
  arguments.request.scale = choice_of<Scale>(arguments.scale, "reproduce", "scale");
  if (arguments.keys) {
    show("{}", result_keys_markdown());
  } else if (arguments.list) {
    list(arguments);
  } else if (!arguments.atlas.empty() && !arguments.all && arguments.names.empty()) {
    make_atlas(arguments);
  } else if (arguments.estimate) {
    estimate(arguments.all ? find_results(arguments.experiments) : chosen(arguments), arguments);
  } else if (arguments.all) {
    const Programme programme = programme_of(arguments);
    reproduce_all(programme.results, arguments, &programme);
  } else {
    reproduce_all(chosen(arguments), arguments, nullptr);
  }
}

}  // namespace

void add_reproduce_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("reproduce", "Run a figure or table of a paper, and judge its claims");
  const auto arguments = std::make_shared<ReproduceArguments>();
  command->add_option("result", arguments->names, "Names of results (--list), run one after the other");
  CLI::Option* all =
      command->add_flag("--all", arguments->all, "All results that the scale can decide, the cheapest first");
  command->add_option("--scale", arguments->scale, "quick: smaller, minutes; full: the paper's setting")
      ->check(CLI::IsMember(all_names<Scale>()))
      ->capture_default_str();
  command->add_option("--seeds", arguments->request.seeds, "Runs of each arm; else as many as the result asks for")
      ->check(CLI::Range(1, 1000000));
  command->add_option("--jobs", arguments->request.jobs, "Runs at a time; else the cores over the threads of a run")
      ->check(CLI::Range(1, 1024));
  command->add_option("--engine", arguments->request.engine, "What computes: " + usable_engine_names())
      ->capture_default_str();
  command->add_option("--data", arguments->request.data, "Data directory (task.data)")->type_name("DIRECTORY");
  command
      ->add_option("--directory", arguments->request.directory,
                   "Where runs, values.json and report.html go; else runs/reproduce/RESULT-SCALE")
      ->type_name("DIRECTORY")
      ->excludes(all);
  command->add_option("--experiments", arguments->experiments, "Where the experiments are")->capture_default_str();
  command->add_flag("--store", arguments->store,
                    "Keep the numbers, and the curves of claims that failed, under EXPERIMENTS/results for the atlas");
  command->add_flag("--checkpoints", arguments->checkpoints,
                    "Keep the weights of finished runs too, which may take much more room than their numbers");
  command->add_flag("--list", arguments->list, "Show all results instead: runs, cost, claims");
  CLI::Option* estimate = command->add_flag("--estimate", arguments->estimate,
                                            "Time the arms for a moment instead, and say what all of them take");
  command
      ->add_option("--arms", arguments->request.arms,
                   "Run these arms only; with --store they join those that were finished before")
      ->delimiter(',')
      ->type_name("ARM,...")
      ->excludes(all)
      ->excludes(estimate);
  command
      ->add_option("--atlas", arguments->atlas,
                   "Write the pages of all stored results: reproduction.md, and one for each paper in reproduction/; "
                   "with --store, after the runs")
      ->type_name("DIRECTORY");
  command->add_flag("--keys", arguments->keys, "Print what a [result] table may say instead");
  command->add_flag("--quiet", arguments->quiet, "No progress on stderr");
  command->callback([arguments] { answer(*arguments); });
}

}  // namespace throughtime

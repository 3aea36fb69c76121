#include "reproduce/runs/undertaking.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <set>
#include <thread>

#include "core/files.h"
#include "core/names.h"
#include "report/report.h"
#include "reproduce/claims/claim_curve.h"
#include "reproduce/claims/claim_tables.h"
#include "reproduce/runs/dynamic_runs.h"
#include "study/trials.h"
#include "throughtime/error.h"
#include "train/files/run_directory.h"
#include "train/run/environment.h"

namespace throughtime {
namespace {

int cores() { return static_cast<int>(std::max(1u, std::thread::hardware_concurrency())); }

bool holds(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The seed with number `index` of an arm whose first one is `first`.
Part with_seed(const Part& first, int index, const std::filesystem::path& directory, const KnownRuns& known) {
  Part part = first;
  part.config.train.seed += static_cast<std::uint64_t>(index);
  place(part, part.arm, directory, known);
  return part;
}

std::vector<Part> make_parts(const Undertaking& task, const ReproduceRequest& request) {
  const std::vector<std::string>& chosen = chosen_arms(task.spec, request);
  std::vector<std::string> overrides = request.circumstances();
  if (task.scale == Scale::quick) overrides.insert(overrides.begin(), task.spec.quick.begin(), task.spec.quick.end());
  const int seeds = request.seeds > 0 ? request.seeds : task.spec.seeds_at(task.scale);
  const ConfigFile file(task.spec.file.string());
  std::vector<Part> arms, parts;
  const auto settings_of = [&](const std::string& arm) {
    std::vector<std::string> all = overrides;
    if (const auto found = task.chosen.find(arm); found != task.chosen.end())
      all.insert(all.end(), found->second.begin(), found->second.end());
    return all;
  };
  for (const std::string& arm : task.spec.arms)
    if (holds(chosen, arm) || holds(task.spec.arms_at(task.scale), arm))
      arms.push_back({arm, file.config(arm, settings_of(arm))});
  for (int index = 0; index < seeds; ++index)
    for (const Part& arm : arms) {
      Part part = with_seed(arm, index, task.directory, task.known);
      if (holds(chosen, arm.arm) || RunDirectory(part.config.run.directory).is_finished())
        parts.push_back(std::move(part));
    }
  return parts;
}

Report make_report(const Undertaking& task, const Reproduction& reproduction) {
  const ResultSpec& spec = task.spec;
  const StoredResult& stored = reproduction.stored;
  const std::vector<RunGroup>& groups = reproduction.groups;
  const std::string title = fmt::format("{}: {} ({})", spec.name, spec.title, scale_text(spec, stored));
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
  const std::vector<Chart> figures = claim_charts(spec, stored, groups);
  for (ReportSection& section : report.sections)
    std::erase_if(section.figures, [&](const Chart& other) {
      return std::any_of(figures.begin(), figures.end(), [&](const Chart& one) { return same_curves(one, other); });
    });
  report.sections.insert(report.sections.begin(),
                         ReportSection{.title = "Claims", .tables = std::move(tables), .figures = figures});
  return report;
}

}  // namespace

int cores_of(int jobs) { return jobs > 0 ? std::min(jobs, cores()) : cores(); }

std::vector<std::string> ReproduceRequest::circumstances() const {
  std::vector<std::string> overrides = {"run.engine=" + engine};
  if (!data.empty()) overrides.push_back("task.data=" + std::filesystem::absolute(data).string());
  return overrides;
}

std::filesystem::path ReproduceRequest::directory_of(const ResultSpec& spec) const {
  if (!directory.empty()) return directory;
  return fmt::format("runs/reproduce/{}-{}", spec.name, name_of(scale));
}

KnownRuns ReproduceRequest::known_runs(bool dynamic) const {
  const std::filesystem::path all = (directory.empty() ? std::filesystem::path("runs/reproduce") : directory) / "known";
  return KnownRuns(dynamic ? all / "dynamic" : all);
}

const std::vector<std::string>& chosen_arms(const ResultSpec& spec, const ReproduceRequest& request) {
  for (const std::string& arm : request.arms)
    if (!holds(spec.arms, arm)) refuse_unknown("reproduce", "arm of " + spec.name, arm, spec.arms);
  return request.arms.empty() ? spec.arms_at(request.scale) : request.arms;
}

void place(Part& part, const std::string& folder, const std::filesystem::path& directory, const KnownRuns& known) {
  part.config.run.name = fmt::format("{}/seed-{}", folder, part.config.train.seed);
  part.config.run.directory = (directory / part.config.run.name).string();
  if (!RunDirectory(part.config.run.directory).is_run()) known.take_over(part.config);
}

int share_cores(std::vector<Part>& parts, int jobs) {
  int threads = 1;
  for (const Part& part : parts) threads = std::max(threads, part.config.run.threads);
  const int at_once = jobs > 0 ? jobs : std::max(1, cores() / threads);
  const int needed = std::min(at_once, std::max(1, static_cast<int>(parts.size())));
  for (Part& part : parts)
    if (part.config.run.threads == 0) part.config.run.threads = std::max(1, cores() / needed);
  return needed;
}

std::vector<RunConfig> configs_of(const std::vector<Part>& parts) {
  std::vector<RunConfig> configs;
  for (const Part& part : parts) configs.push_back(part.config);
  return configs;
}

Undertaking undertake(const ResultSpec& spec, const ReproduceRequest& request, const SweepChoices& chosen) {
  if (spec.arms.empty()) refuse("reproduce", "{} cannot be run: {}", spec.name, spec.claims.front().missing);
  Undertaking task{.spec = spec,
                   .scale = request.scale,
                   .engine = request.engine,
                   .directory = request.directory_of(spec),
                   .chosen = chosen,
                   .known = request.known_runs(!dynamic_arms(spec, request.scale).empty())};
  task.parts = make_parts(task, request);
  task.jobs = share_cores(task.parts, request.jobs);
  std::set<std::string> seen;
  for (const Part& part : task.parts)
    if (seen.insert(part.arm).second) check_new_run(part.config);
  return task;
}

Reproduction gather(const Undertaking& task, const std::vector<JobEnd>& ends) {
  Reproduction all;
  all.complete = std::none_of(ends.begin(), ends.end(), [](const JobEnd& end) { return end.interrupted; });
  all.stored = {.scale = task.scale, .version = version(), .commit = "", .engine = task.engine};
  if (task.scale == Scale::quick) all.stored.smaller = task.spec.quick;
  all.stored.chosen = task.chosen;
  const std::vector<Measure> measures = task.spec.measures();
  std::vector<RunRecord> begun;
  std::set<std::string> commits;  // that the runs were begun at
  const std::vector<std::string> evaluated = dynamic_arms(task.spec, task.scale);
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const Part& part = task.parts[i];
    const bool is_run = RunDirectory(part.config.run.directory).is_run();
    RunRecord run = is_run ? read_run(part.config.run.directory) : RunRecord();
    run.name = fmt::format("{}/seed-{}", part.arm, part.config.train.seed);  // one of another result has its name there
    if (run.finished) task.known.remember(part.config);
    if (is_run) begun.push_back(run);
    if (ends[i].interrupted) continue;
    const bool broke = !ends[i].failure.empty();
    for (const Measure& measure : measures) {
      if (measure.how == MeasureHow::dynamic && !holds(evaluated, part.arm)) continue;
      all.stored.values[part.arm][measure.key()].emplace_back(
          part.config.train.seed, broke ? std::numeric_limits<double>::quiet_NaN() : measure_run(measure, run));
    }
    if (!broke) all.stored.learned[part.arm].push_back(learned_by(run.result));
    commits.insert(find_entry(run.environment, "commit"));
    if (!broke) all.stored.seconds += run.result.number("seconds");
  }
  all.stored.commit = fmt::format("{}", fmt::join(commits, ", "));
  all.groups = group_runs(std::move(begun));
  return all;
}

void write_down(const Undertaking& task, const Reproduction& reproduction) {
  make_directories(task.directory);
  replace_file(task.directory / "values.json", json_of(reproduction.stored));
  if (!reproduction.groups.empty()) replace_file(task.report(), html_of(make_report(task, reproduction)));
}

bool store(const Undertaking& task, const Reproduction& reproduction, const std::filesystem::path& results) {
  const std::filesystem::path path = stored_path(results, task.spec.name, task.scale);
  make_directories(path.parent_path());
  StoredResult all = reproduction.stored;
  if (std::filesystem::exists(path)) keep_other_arms(parse_stored(read_file(path), path.string()), all);
  replace_file(path, json_of(all));
  if (!gnuplot_found()) return false;
  store_curves(task.spec, all, reproduction.groups, results);
  return true;
}

}  // namespace throughtime

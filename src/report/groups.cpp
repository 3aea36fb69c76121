#include "report/groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>

#include "throughtime/index.h"

namespace throughtime {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Options that say where and how often a run is done, not what it computes.
bool is_circumstance(const RunRecord& run, const std::string& key) {
  return key == "train.seed" || key == "task.data" || key.starts_with("run.") ||
         (key == "task.arrays.path" && has_own_arrays(run));
}

/// Everything that decides what a run computes but its seed. A run without a configuration is like no other.
std::string identity(const RunRecord& run) {
  if (run.config.empty()) return run.directory.string();
  std::string text = "over " + run.counter + "\n";  // a stream and a recording may have equal configurations
  for (const auto& [key, value] : run.config)
    if (!is_circumstance(run, key)) text += key + "=" + value + "\n";
  return text;
}

/// "fptt-seed-1", "fptt-seed-2" -> "fptt".
std::string shared_name(const std::vector<RunRecord>& runs) {
  std::string shared = runs.front().name;
  const auto differs = [&](const RunRecord& run) { return run.name != runs.front().name; };
  if (std::none_of(runs.begin(), runs.end(), differs)) return shared;
  for (const RunRecord& run : runs)
    shared.erase(std::mismatch(shared.begin(), shared.end(), run.name.begin(), run.name.end()).first, shared.end());
  const auto trim = [&](const char* letters) { shared.erase(shared.find_last_not_of(letters) + 1); };
  trim("-_/.= 0123456789");  // what seeds share: 11 and 12
  if (shared.ends_with("seed")) {
    shared.erase(shared.size() - 4);
    trim("-_/.= ");  // the digits before belong to the name: "k-5/seed-1"
  }
  return shared.empty() ? runs.front().name : shared;
}

/// What tells one of several groups of the same name from the others: an option or two, else the directory.
std::string distinction(const RunGroup& group, const std::vector<std::string>& differing) {
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(differing.size(), 2); ++i)
    text += (i == 0 ? "" : ", ") + differing[i] + "=" + group.runs.front().option(differing[i]);
  return text.empty() ? group.runs.front().directory.string() : text;
}

/// "machine-compare/whole", "machine-compare/fptt" -> "whole", "fptt".
void leave_out_shared_directory(std::vector<RunGroup>& groups) {
  if (groups.size() < 2) return;
  const std::string& first = groups.front().name;
  const std::string shared = first.substr(0, first.rfind('/') + 1);
  const auto below = [&](const RunGroup& group) {
    return group.name.starts_with(shared) && group.name.find('/', shared.size()) == std::string::npos &&
           group.name.size() > shared.size();
  };
  if (shared.empty() || !std::all_of(groups.begin(), groups.end(), below)) return;
  for (RunGroup& group : groups) group.name.erase(0, shared.size());
}

void make_names_differ(std::vector<RunGroup>& groups) {
  std::map<std::string, std::vector<std::size_t>> places;
  for (std::size_t i = 0; i < groups.size(); ++i) places[groups[i].name].push_back(i);
  for (const auto& [name, alike] : places) {
    if (alike.size() < 2) continue;
    std::vector<RunGroup> members;
    for (const std::size_t i : alike) members.push_back(groups[i]);
    const std::vector<std::string> differing = differing_options(members);
    for (const std::size_t i : alike) groups[i].name += " (" + distinction(groups[i], differing) + ")";
  }
}

}  // namespace

bool has_own_arrays(const RunRecord& run) {
  const std::string directory = run.option("run.directory");
  return !directory.empty() && run.option("task.arrays.path").starts_with(directory + "/");
}

/// `baseline` alone is of the test split, or of a stream.
double naive_of(const ResultFile& result, const std::string& metric) {
  if (const double own = result.number("baselines." + metric); !std::isnan(own)) return own;
  const std::string task_metric = result.text("metric");
  if (task_metric.empty()) return nan;
  for (const char* part : {"test_", "rolling_", "cumulative_"})
    if (metric == part + task_metric) return result.number("baseline");
  return nan;
}

std::size_t RunGroup::finished() const {
  return elements(std::count_if(runs.begin(), runs.end(), [](const RunRecord& run) { return run.finished; }));
}

std::vector<std::pair<std::uint64_t, double>> RunGroup::seeded_tests(const std::string& score) const {
  std::vector<std::pair<std::uint64_t, double>> values;
  for (const RunRecord& run : runs)
    if (const double value = run.result.chosen_test(score); !std::isnan(value)) values.emplace_back(run.seed, value);
  return values;
}

std::vector<double> RunGroup::tests(const std::string& score) const {
  std::vector<double> values;
  for (const auto& [seed, value] : seeded_tests(score)) values.push_back(value);
  return values;
}

std::vector<double> RunGroup::naives(const std::string& score) const {
  std::vector<double> values;
  for (const RunRecord& run : runs)
    if (const double value = naive_of(run.result, "test_" + score); !std::isnan(value)) values.push_back(value);
  return values;
}

std::vector<double> RunGroup::results(const std::string& key) const {
  std::vector<double> values;
  for (const RunRecord& run : runs)
    if (const double value = run.result.number(key); !std::isnan(value)) values.push_back(value);
  return values;
}

std::vector<RunGroup> group_runs(std::vector<RunRecord> runs) {
  std::vector<RunGroup> groups;
  std::map<std::string, std::size_t> places;
  for (RunRecord& run : runs) {
    const auto [place, added] = places.try_emplace(identity(run), groups.size());
    if (added) groups.emplace_back();
    groups[place->second].runs.push_back(std::move(run));
  }
  for (RunGroup& group : groups) group.name = shared_name(group.runs);
  leave_out_shared_directory(groups);
  make_names_differ(groups);
  return groups;
}

std::string spoken(const std::string& metric) {
  std::string text = metric;
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

std::vector<std::string> differing_options(const std::vector<RunGroup>& groups) {
  std::vector<std::string> keys, differing;
  for (const RunGroup& group : groups)
    for (const auto& [key, value] : group.runs.front().config)
      if (!is_circumstance(group.runs.front(), key) && std::find(keys.begin(), keys.end(), key) == keys.end())
        keys.push_back(key);
  for (const std::string& key : keys) {
    const auto differs = [&](const RunGroup& group) {
      return !group.runs.front().config.empty() &&
             group.runs.front().option(key) != groups.front().runs.front().option(key);
    };
    if (std::any_of(groups.begin(), groups.end(), differs)) differing.push_back(key);
  }
  return differing;
}

}  // namespace throughtime

#include "report/runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/files.h"
#include "data/printable.h"
#include "throughtime/error.h"
#include "train/files/run_directory.h"
#include "train/options/toml_document.h"

namespace throughtime {
namespace {

using Json = nlohmann::ordered_json;

/// The text of one of the run's files; where there is none, a trouble.
std::string readable(RunRecord& run, const std::filesystem::path& path, const char* consequence) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    run.troubles.push_back(fmt::format("no {}: {}", path.filename().string(), consequence));
    return "";
  }
  try {
    return read_file(path);
  } catch (const Error& unreadable) {
    run.troubles.push_back(unreadable.what());
    return "";
  }
}

void read_config(RunRecord& run, const std::filesystem::path& path) {
  run.config_text = readable(run, path, "the run's configuration is not known");
  if (run.config_text.empty()) return;
  try {
    const toml::table config = parse_toml(run.config_text, path.filename().string());
    for (const auto& [name, value] : values_under(config))
      run.config.emplace_back(name, value->is_string() ? value->as_string()->get() : value_text(*value));
  } catch (const toml::parse_error& error) {
    run.troubles.push_back(fmt::format("config.toml is damaged at line {}: {}", error.source().begin.line,
                                       printable(error.description())));
  } catch (const InvalidInput& error) {
    run.troubles.push_back(error.what());
  }
  // toml++ sorts by name; the file's own order is the one to show.
  const auto place = [&](const std::pair<std::string, std::string>& entry) {
    const std::size_t dot = entry.first.find('.');
    const std::size_t table = run.config_text.find(fmt::format("[{}]", entry.first.substr(0, dot)));
    const std::size_t line = run.config_text.find(fmt::format("\n{} =", entry.first.substr(dot + 1)),
                                                  std::min(table, run.config_text.size()));
    return std::min(line, run.config_text.size());
  };
  std::stable_sort(run.config.begin(), run.config.end(),
                   [&](const auto& a, const auto& b) { return place(a) < place(b); });
  if (const std::string name = run.option("run.name"); !name.empty()) run.name = name;
  run.seed = std::strtoull(run.option("train.seed").c_str(), nullptr, 10);
}

/// The entries of one of the run's JSON files; a trouble where it has none.
Entries read_entries(RunRecord& run, const std::filesystem::path& path, const char* consequence) {
  const std::string text = readable(run, path, consequence);
  const std::optional<Entries> entries = parse_entries(text);
  if (!entries && !text.empty())
    run.troubles.push_back(fmt::format("{} is damaged: no JSON object", path.filename().string()));
  return entries.value_or(Entries());
}

void add_point(RunRecord& run, const std::string& name, double x, const Json& value) {
  if (!value.is_number() && !value.is_null()) return;
  const auto [found, added] = run.series.try_emplace(name);
  if (added) run.metrics.push_back(name);
  found->second.x.push_back(x);
  found->second.y.push_back(value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>());
}

void read_metrics(RunRecord& run, const std::filesystem::path& path) {
  const std::string text = readable(run, path, "the run has no curves");
  int number = 0, damaged = 0, first_damaged = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const Json line = Json::parse(text.begin() + static_cast<std::ptrdiff_t>(at),
                                  text.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
    at = end + 1;
    ++number;
    const bool of_stream = line.is_object() && line.contains("rows") && !line.contains("iteration");
    const std::string place = of_stream ? "rows" : "iteration";
    const auto iteration = line.is_object() ? line.find(place) : line.end();
    if (!line.is_object() || iteration == line.end() || !iteration->is_number()) {
      if (damaged++ == 0) first_damaged = number;
      continue;
    }
    if (of_stream) run.counter = "row";
    for (const auto& [name, value] : line.items())
      if (name != place) add_point(run, name, iteration->get<double>(), value);
  }
  if (damaged > 0)
    run.troubles.push_back(fmt::format("metrics.jsonl: {} of {} lines are no records, the first is line {}{}", damaged,
                                       number, first_damaged, first_damaged == number ? " (cut off)" : ""));
  if (!text.empty() && run.metrics.empty()) run.troubles.push_back("metrics.jsonl has no numbers");
}

void read_result(RunRecord& run, const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    double last = 0;
    for (const auto& [name, series] : run.series)
      if (!series.x.empty()) last = std::max(last, series.x.back());
    run.troubles.push_back(
        fmt::format("not finished: it has no result.json and its curves end at {} {:.0f}", run.counter, last));
    return;
  }
  run.result.entries = read_entries(run, path, "");
  run.finished = !run.result.empty();
  if (run.result.text("end") == name_of(RunEnd::interrupted))
    run.troubles.push_back(fmt::format("interrupted at iteration {}", run.result.text("iterations")));
}

bool looks_like_run(const std::filesystem::path& directory) {
  const RunDirectory files(directory);
  std::error_code error;
  for (const std::filesystem::path& file : {files.config(), files.metrics(), files.result()})
    if (std::filesystem::is_regular_file(file, error)) return true;
  return false;
}

void find_runs(const std::filesystem::path& directory, std::vector<std::filesystem::path>& found) {
  if (looks_like_run(directory)) {
    found.push_back(directory);
    return;
  }
  std::vector<std::filesystem::path> inner;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error))
    if (entry->is_directory(error) && !entry->is_symlink(error)) inner.push_back(entry->path());
  std::sort(inner.begin(), inner.end());
  for (const std::filesystem::path& path : inner) find_runs(path, found);
}

}  // namespace

std::string RunRecord::option(const std::string& key) const { return find_entry(config, key); }
RunRecord read_run(const std::filesystem::path& directory) {
  RunRecord run;
  run.directory = directory;
  const std::filesystem::path normal = std::filesystem::absolute(directory).lexically_normal();
  run.name = (normal.has_filename() ? normal : normal.parent_path()).filename().string();
  const RunDirectory files(directory);
  read_config(run, files.config());
  read_metrics(run, files.metrics());
  read_result(run, files.result());
  run.environment = read_entries(run, files.environment(), "what it ran on is not known");
  return run;
}

std::vector<RunRecord> read_runs(const std::vector<std::string>& paths) {
  std::vector<RunRecord> runs;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!std::filesystem::is_directory(path, error)) refuse("report", "{} is no run: there is no such directory", path);
    std::vector<std::filesystem::path> found;
    find_runs(path, found);
    if (found.empty())
      refuse("report", "{} holds no run: neither it nor a directory in it has a config.toml or metrics.jsonl", path);
    for (const std::filesystem::path& directory : found) {
      const auto same = [&](const RunRecord& run) {
        return std::filesystem::equivalent(run.directory, directory, error);
      };
      if (std::none_of(runs.begin(), runs.end(), same)) runs.push_back(read_run(directory));
    }
  }
  return runs;
}

}  // namespace throughtime

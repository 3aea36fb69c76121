#include "tasks/series/recording.h"

#include <algorithm>
#include <cmath>

#include "throughtime/error.h"
#include "throughtime/index.h"

namespace throughtime {
namespace {

constexpr std::string_view speaker = "series";

/// An option of one kind of file, where there is no such file.
void refuse_unread(const SeriesConfig& config) {
  const std::string inputs = data_ending_of(config.path);
  const std::string targets = config.target_path.empty() ? inputs : data_ending_of(config.target_path);
  const auto none_of = [&](std::initializer_list<std::string_view> endings) {
    const auto is = [&](const std::string& ending) { return std::ranges::find(endings, ending) != endings.end(); };
    return !inputs.empty() && !is(inputs) && !is(targets);
  };
  const auto refuse_option = [&](std::string_view option, std::string_view files) {
    refuse(speaker, "{} is an option of {}; {} is none", option, files, config.path);
  };
  if (config.channels != 1 && none_of({".f32", ".raw", ".bin"}))
    refuse_option("task.series.channels", "raw float32 files (.f32, .raw, .bin)");
  if (config.delimiter != "," && config.delimiter != "tab" && none_of({".csv", ".txt"}))
    refuse_option("task.series.delimiter", ".csv and .txt files");
  if (config.header != HeaderLine::automatic && none_of({".csv", ".txt", ".tsv"}))
    refuse_option("task.series.header", "CSV files (.csv, .txt, .tsv)");
}

void refuse_twice(const std::vector<std::string>& names, std::string_view option) {
  for (auto name = names.begin(); name != names.end(); ++name)
    if (std::find(names.begin(), name, *name) != name)
      refuse(speaker, "task.series.{} names '{}' twice", option, *name);
}

/// All columns that are named, each once; none: all that there are.
std::vector<std::string> wanted_columns(const SeriesConfig& config) {
  std::vector<std::string> wanted = config.inputs;
  if (wanted.empty()) return wanted;
  const auto want = [&](const std::vector<std::string>& names) {
    for (const std::string& name : names)
      if (std::ranges::find(wanted, name) == wanted.end()) wanted.push_back(name);
  };
  want(config.known);
  if (config.target_path.empty()) want(config.targets);
  return wanted;
}

std::size_t count_missing(const SeriesTable& table) {
  return elements(std::ranges::count_if(table.values, [](float value) { return std::isnan(value); }));
}

/// The targets have a file of their own.
void read_targets(const SeriesConfig& config, Recording& recording) {
  const SeriesTable table = read_series(config.target_path, config, config.targets);
  recording.levels = select_columns(table, config.targets, config.target_path);
  recording.missing += count_missing(table);
  recording.left_out.insert(recording.left_out.end(), table.left_out.begin(), table.left_out.end());
  if (recording.inputs.rows != table.rows)
    refuse(speaker, "{} has {} steps and {} has {}; inputs and targets need as many", config.path,
           recording.inputs.rows, config.target_path, table.rows);
  if (recording.rate > 0 && table.rate > 0 && recording.rate != table.rate)
    refuse(speaker, "{} has {} samples a second and {} has {}; inputs and targets need the same rate", config.path,
           recording.rate, config.target_path, table.rate);
}

}  // namespace

Recording read_recording(const SeriesConfig& config) {
  refuse_unread(config);
  refuse_twice(config.inputs, "inputs");
  refuse_twice(config.targets, "targets");
  refuse_twice(config.known, "known");
  const SeriesTable table = read_series(config.path, config, wanted_columns(config));
  Recording recording{.left_out = table.left_out, .rate = table.rate};
  recording.inputs = select_columns(table, config.inputs, config.path);
  recording.known = config.known.empty() ? SeriesTable{.columns = {}, .rows = table.rows, .values = {}}
                                         : select_columns(table, config.known, config.path);
  recording.missing = count_missing(table);
  if (config.target_path.empty())
    recording.levels =
        select_columns(table, config.targets.empty() ? recording.inputs.columns : config.targets, config.path);
  else
    read_targets(config, recording);
  if (elements(config.season) >= table.rows)
    refuse(speaker,
           "task.series.season = {} looks back so many steps, and {} has {} rows: no row has a season before it",
           config.season, config.path, table.rows);
  hold_missing(recording.inputs, config.path);
  hold_missing(recording.known, config.path);
  recording.silent_levels =
      hold_missing(recording.levels, config.target_path.empty() ? config.path : config.target_path);
  if (config.missing != MissingValues::skip) recording.silent_levels.clear();
  return recording;
}

}  // namespace throughtime

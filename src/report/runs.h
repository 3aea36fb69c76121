#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "train/files/result_file.h"

namespace throughtime {

/// Values of one metric by iteration; NaN where a run wrote that it had no number.
struct Series {
  std::vector<double> x, y;
};

/// What a run directory tells, as far as it can be read.
struct RunRecord {
  std::filesystem::path directory;
  std::string name;                  // run.name, else the directory's
  std::uint64_t seed = 0;            // train.seed
  Entries config;                    // as TOML texts, in the file's order
  std::string config_text;           // config.toml itself
  Entries environment;               // environment.json
  std::vector<std::string> metrics;  // names in the order in which they first appear
  std::map<std::string, Series> series;
  std::string counter = "iteration";  // what the curves are over; of a stream "row"
  bool finished = false;              // it has a result.json
  ResultFile result;
  std::vector<std::string> troubles;  // what is missing or damaged, in sentences

  /// The value of a configured option; empty where it has none.
  std::string option(const std::string& key) const;
};

/// The run in a directory. Never refuses a run for what is missing or damaged in it: its troubles say so.
RunRecord read_run(const std::filesystem::path& directory);
/// The runs that paths name: each is a run, or a directory whose runs are meant, however deep. Refuses a path without
/// any.
std::vector<RunRecord> read_runs(const std::vector<std::string>& paths);

}  // namespace throughtime

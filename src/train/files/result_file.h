#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "train/run/trainer.h"

namespace throughtime {

/// Names and values of a file, tables inside tables joined with dots: "train.batch", "128".
using Entries = std::vector<std::pair<std::string, std::string>>;
/// The value of a name; empty where there is none.
std::string find_entry(const Entries& entries, const std::string& name);
/// The entries of a JSON object; nothing where the text is none.
std::optional<Entries> parse_entries(const std::string& json);

/// result.json, which a run has once it ended.
struct ResultFile {
  Entries entries;

  bool empty() const { return entries.empty(); }
  /// Empty where there is no such text.
  std::string text(const std::string& key) const { return find_entry(entries, key); }
  /// "metrics.test_loss"; NaN where there is no such number.
  double number(const std::string& key) const;
  /// A test score ("loss", "mse") of the weights that validation chose, where it chose some, else of the last ones.
  double chosen_test(const std::string& score) const;
};
/// Refuses a file that is no JSON object.
ResultFile read_result_file(const std::filesystem::path& path);

/// The result as one line of JSON: what `train --json` prints and result.json holds. `run`: the run's directory.
std::string result_json(const RunResult& result, const std::string& run);

/// `test_loss`, `test_mse`, ...
std::vector<std::pair<std::string, double>> named_scores(const std::string& split, const Evaluation& evaluation);

}  // namespace throughtime

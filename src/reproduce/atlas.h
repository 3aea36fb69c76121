#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "report/report.h"
#include "reproduce/result.h"

namespace throughtime {

/// What the runs of one result gave: all that a verdict needs, and small.
struct StoredResult {
  Scale scale = Scale::quick;
  std::string version, commit, engine;
  double seconds = 0;                // of training, all runs together
  std::vector<std::string> smaller;  // what quick scale changed: assignments key=value
  ArmValues values;
};

std::string scale_text(Scale scale);
std::string json_of(const StoredResult& result);
/// Refuses what is no such text; `where` is the file.
StoredResult parse_stored(const std::string& text, const std::string& where);
/// Where it is kept: RESULTS/fptt/figure-1.full.json.
std::filesystem::path stored_path(const std::filesystem::path& results, const std::string& name, Scale scale);
/// What is stored of a result, full scale first.
std::vector<StoredResult> find_stored(const std::filesystem::path& results, const std::string& name);
/// Whether it has all arms and seeds of its scale.
bool is_complete(const ResultSpec& spec, const StoredResult& stored);

Verdict judge(const ResultSpec& spec, const Claim& claim, const StoredResult& result);
/// One row for each claim: what the paper says, its values, ours, the verdict.
ReportTable claims_table(const ResultSpec& spec, const StoredResult& result);
/// Mean, deviation, standard error and the paper's value of every arm that a claim is about.
ReportTable values_table(const ResultSpec& spec, const Claim& claim, const StoredResult& result);
/// Every rule of a claim with whether it was met, its trend and the numbers behind it.
ReportTable rules_table(const Claim& claim, const Verdict& verdict);
/// What a reader of those numbers must know: how they were taken, how a trend is told, that nothing was smoothed.
std::string reading_note();

/// docs/reproduction.md: one row for each claim, then the numbers and rules of those that were run: at full scale where
/// all arms of a claim were, else at quick scale. The same bytes for the same experiments and stored results.
std::string atlas_of(const std::vector<ResultSpec>& specs, const std::filesystem::path& results);

}  // namespace throughtime

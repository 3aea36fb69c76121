#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "report/report.h"
#include "reproduce/stored.h"

namespace throughtime {

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

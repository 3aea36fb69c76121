#pragma once

#include <string>

#include "report/report.h"
#include "reproduce/results/stored.h"

namespace throughtime {

/// One row for each claim: what the paper says, its values, ours, the verdict.
ReportTable claims_table(const ResultSpec& spec, const StoredResult& result);
/// Mean, deviation, standard error and the paper's value of every arm that a claim is about.
ReportTable values_table(const ResultSpec& spec, const Claim& claim, const StoredResult& result);
/// Every rule of a claim with whether it was met, its trend and the numbers behind it.
ReportTable rules_table(const Claim& claim, const Verdict& verdict);
/// What a reader of those numbers must know: how they were taken and how a trend is told.
std::string reading_note();

/// The paper's values of the arms that a claim shows.
std::string paper_text(const Claim& claim);
/// Ours; why there are none where `stored` is null.
std::string ours_text(const ResultSpec& spec, const Claim& claim, const StoredResult* stored);
/// "0.03", "< 1e-4"; a dash where no test was made.
std::string p_text(double p);

}  // namespace throughtime

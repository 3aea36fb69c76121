#pragma once

#include <string>

#include "report/runs.h"

namespace throughtime {

/// The unit of a metric as metrics.jsonl and result.json call it ("validation_mse", "truncation"), as the run had it:
/// "scaled" where targets were divided by their deviation. Empty: it has none, or none is known.
std::string unit_of(const std::string& metric, const RunRecord& run);

/// What "scaled" and "units of the file" mean, in a sentence, for tables that say them; empty where a run says neither.
std::string unit_sentence(const RunRecord& run);

}  // namespace throughtime

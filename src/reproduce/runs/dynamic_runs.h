#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "reproduce/runs/undertaking.h"
#include "study/jobs.h"

namespace throughtime {

/// The arms that claims want dynamic evaluations of: at quick scale those alone that it can decide, for an evaluation
/// may take longer than its run.
std::vector<std::string> dynamic_arms(const ResultSpec& spec, Scale scale);

/// Evaluates the finished runs of these arms while they go on learning. Rate and decay are chosen on validation data,
/// then there is one test; dynamic.json beside result.json keeps it, so that it is made once. One whose weights run
/// away with every pair has an answer too: why.
FurtherWork dynamic_work(const Undertaking& task);

/// A number of a run's dynamic evaluation, "perplexity" or "static.perplexity"; NaN where there is none.
double dynamic_number(const std::filesystem::path& run, const std::string& metric);

}  // namespace throughtime

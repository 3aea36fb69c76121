#pragma once

#include <string>
#include <vector>

#include "report/groups.h"

namespace throughtime {

/// The task's metric where all groups have the same; "loss" otherwise.
std::string common_metric(const std::vector<RunGroup>& groups);

/// Whether a result of that metric is better the larger it is.
bool larger_is_better(const std::string& metric);
/// throughtime::is_error of a metric by its name.
bool is_error(const std::string& metric);

/// How the results of a metric are compared with the naive one.
enum class SkillKind {
  ratio,   // of errors: 0.93 is 7 % better
  beside,  // the larger the better, or numbers that can be negative: the two beside each other
  none     // no run tells what naive has
};
SkillKind skill_kind(const std::vector<RunGroup>& groups, const std::string& metric);
/// The result over the naive one of each run that has both.
std::vector<double> skills(const RunGroup& group, const std::string& metric);

/// What groups are called in a sentence: their method ("FPTT", "adaptive TBPTT") where all have different ones, else
/// their names.
std::vector<std::string> spoken_names(const std::vector<RunGroup>& groups);

/// What the runs of one question found: "FPTT 0.93 x naive, BPTT 0.97 x (...)."
std::string finding(const std::vector<RunGroup>& groups);

}  // namespace throughtime

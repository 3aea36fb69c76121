#pragma once

#include <string>
#include <vector>

#include "report/runs.h"
#include "report/statistics.h"

namespace throughtime {

/// Runs that differ in nothing but their seed (and in where they ran and were written).
struct RunGroup {
  std::string name;  // what the names of its runs share
  std::vector<RunRecord> runs;

  std::size_t finished() const;
  /// A number of the result of every run that has it.
  std::vector<double> results(const std::string& key) const;
  /// The test score ("mse") that counts, of every run that has one, with the seeds: of the weights that validation
  /// chose, where it chose some (ResultFile::chosen_test).
  std::vector<std::pair<std::uint64_t, double>> seeded_tests(const std::string& score) const;
  std::vector<double> tests(const std::string& score) const;
  /// What the naive forecast of the same test has, of every run that tells.
  std::vector<double> naives(const std::string& score) const;
};

/// The naive baseline of a metric ("validation_mse") on the split that it is of; NaN where the run does not tell.
double naive_of(const ResultFile& result, const std::string& metric);

/// Whether the arrays of a program (Python, C) lie below the run that was started with them.
bool has_own_arrays(const RunRecord& run);

/// Groups in the order in which their first runs are given, each with a name of its own.
std::vector<RunGroup> group_runs(std::vector<RunRecord> runs);

/// Options that are not the same in all groups, in the order of the configurations.
std::vector<std::string> differing_options(const std::vector<RunGroup>& groups);

/// "validation_mse" as people say it: "validation mse".
std::string spoken(const std::string& metric);

}  // namespace throughtime

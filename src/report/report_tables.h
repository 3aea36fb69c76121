#pragma once

#include <string>
#include <vector>

#include "report/groups.h"
#include "report/report.h"

namespace throughtime {

/// The tables about groups of one question. The result comes first: test metric, what naive has, and the two compared.
ReportTable results_table(const std::vector<RunGroup>& groups);
/// A row for each other test metric of each group; without rows where the task has one metric.
ReportTable metrics_table(const std::vector<RunGroup>& groups);
/// Whether some group has results of several seeds, without which there is no t test.
bool can_be_tested(const std::vector<RunGroup>& groups);
/// t tests of the first group with each other one.
ReportTable comparison_table(const std::vector<RunGroup>& groups);
ReportTable cost_table(const std::vector<RunGroup>& groups);
/// A row for each option, or for each group where they are many: pages scroll downwards.
ReportTable difference_table(const std::vector<RunGroup>& groups, std::vector<std::string> keys);
/// When each run began, and with which command.
ReportTable origins_table(const std::vector<RunGroup>& groups);

}  // namespace throughtime

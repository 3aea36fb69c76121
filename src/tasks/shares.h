#pragma once

#include <cstdint>
#include <vector>

#include "throughtime/task.h"

namespace throughtime {

/// Shares of train, validation and test: `task.splits`, or the task's own. Refuses what does not add up to 1.
std::vector<double> shares_of(const TaskConfig& config, const std::vector<double>& own);
/// Sets `task.splits` so that the training part goes on to the end of the validation part.
HeldOut join_shares(TaskConfig& config, const std::vector<double>& own);
/// Where the three parts of `count` entries begin, and the end: [0, ..., ..., count].
std::vector<std::int64_t> cut_by(const std::vector<double>& shares, std::int64_t count);

}  // namespace throughtime

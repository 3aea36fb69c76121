#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace throughtime {

/// Shares of train, validation and test: the option `splits` of a task, or the task's own. Refuses what does not add up
/// to 1.
std::vector<double> shares_of(std::string_view task, const std::vector<double>& splits, const std::vector<double>& own);
/// The shares of a training part that goes on to the end of the validation part.
std::vector<double> joined(const std::vector<double>& shares);
/// Where the three parts of `count` entries begin, and the end: [0, ..., ..., count].
std::vector<std::int64_t> cut_by(const std::vector<double>& shares, std::int64_t count);

}  // namespace throughtime

#include "tasks/shares.h"

#include <cmath>

#include "throughtime/error.h"

namespace throughtime {

std::vector<double> shares_of(std::string_view task, const std::vector<double>& splits,
                              const std::vector<double>& own) {
  const std::vector<double>& shares = splits.empty() ? own : splits;
  if (shares.size() != 3)
    refuse(task, "task.{}.splits must have three shares (train, validation, test), got {}", task, shares.size());
  double sum = 0;
  for (const double share : shares) {
    if (!(share >= 0)) refuse(task, "a share of task.{}.splits must be 0 or more, got {}", task, share);
    sum += share;
  }
  if (!(std::abs(sum - 1) < 1e-6) || shares[0] == 0)
    refuse(task, "task.{}.splits must add up to 1 and leave something to train on, got {}, {}, {}", task, shares[0],
           shares[1], shares[2]);
  return shares;
}

std::vector<double> joined(const std::vector<double>& shares) { return {1 - shares[2], 0, shares[2]}; }

std::vector<std::int64_t> cut_by(const std::vector<double>& shares, std::int64_t count) {
  const auto at = [&](double share) { return std::llround(share * static_cast<double>(count)); };
  return {0, at(shares[0]), shares[2] > 0 ? at(shares[0] + shares[1]) : count, count};
}

}  // namespace throughtime

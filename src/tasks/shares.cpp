#include "tasks/shares.h"

#include <cmath>

#include "throughtime/error.h"

namespace throughtime {

std::vector<double> shares_of(const TaskConfig& config, const std::vector<double>& own) {
  const std::vector<double>& shares = config.splits.empty() ? own : config.splits;
  if (shares.size() != 3)
    refuse(config.name, "task.splits must have three shares (train, validation, test), got {}", shares.size());
  double sum = 0;
  for (const double share : shares) {
    if (!(share >= 0)) refuse(config.name, "a share of task.splits must be 0 or more, got {}", share);
    sum += share;
  }
  if (!(std::abs(sum - 1) < 1e-6) || shares[0] == 0)
    refuse(config.name, "task.splits must add up to 1 and leave something to train on, got {}, {}, {}", shares[0],
           shares[1], shares[2]);
  return shares;
}

HeldOut join_shares(TaskConfig& config, const std::vector<double>& own) {
  const std::vector<double> shares = shares_of(config, own);
  config.splits = {1 - shares[2], 0, shares[2]};
  return HeldOut::given_back;
}

std::vector<std::int64_t> cut_by(const std::vector<double>& shares, std::int64_t count) {
  const auto at = [&](double share) { return std::llround(share * static_cast<double>(count)); };
  return {0, at(shares[0]), shares[2] > 0 ? at(shares[0] + shares[1]) : count, count};
}

}  // namespace throughtime

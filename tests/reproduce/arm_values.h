#pragma once

#include <string>
#include <vector>

#include "reproduce/claims/rule.h"

namespace throughtime::testing {

inline const Measure mse{"validation_mse", MeasureHow::last};

/// Values of the arms a, b, c, ... with seeds 1, 2, 3, ...
inline ArmValues results(const std::vector<std::vector<double>>& arms) {
  ArmValues values;
  for (std::size_t arm = 0; arm < arms.size(); ++arm)
    for (std::size_t i = 0; i < arms[arm].size(); ++i)
      values[std::string(1, static_cast<char>('a' + arm))][mse.key()].emplace_back(i + 1, arms[arm][i]);
  return values;
}

}  // namespace throughtime::testing

#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "reproduce/result.h"

namespace throughtime {

/// What the runs of a result take together, in seconds of one core: n cores need an n-th of it.
struct Cost {
  double quick = 0, full = 0;
};

/// Trains every arm of quick scale for about `seconds` and takes the rest from counted work: parameters * steps * rows *
/// iterations. Full scale is that work at the same seconds for each unit of it (the mean over the arms for one that quick
/// scale leaves out), so that it is right within a factor of two or so.
Cost estimate_cost(const ResultSpec& spec, const std::vector<std::string>& overrides, double seconds);

/// Estimates by result, as they are kept beside the stored results (RESULTS/costs.json).
using Costs = std::map<std::string, Cost>;
Costs read_costs(const std::filesystem::path& results);
void write_costs(const std::filesystem::path& results, const Costs& costs);

}  // namespace throughtime

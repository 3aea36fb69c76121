#pragma once

#include <string>
#include <vector>

#include "bench/batches.h"
#include "bench/measure.h"
#include "bench/peer.h"

namespace throughtime::bench {

/// What to measure, in the order of the tables.
struct Plan {
  std::vector<std::string> cases;
  std::vector<std::string> online;
  std::vector<std::string> streams;
  std::vector<std::string> host;
  std::vector<std::string> at_once;
  std::vector<BatchCase> batches;
};
/// The named cases by their kinds, or the usual ones of every kind; refuses names that are no case.
Plan plan_of(const std::vector<std::string>& names);

/// The sizes of a map: plain BPTT over 200 steps.
inline const std::vector<int> map_rows = {1, 8, 32, 128}, map_units = {16, 32, 64, 128, 256, 512};
std::string map_case(const std::string& cell, int rows, int units);
/// Those cases for each of the cells.
std::vector<std::string> map_cases(const std::vector<std::string>& cells);

/// How long one case is measured: as often as asked, or a rough answer in seconds.
Effort effort_of(bool quick, int repeats);
PeerConfig with_effort(PeerConfig peer, bool quick, int repeats);

}  // namespace throughtime::bench

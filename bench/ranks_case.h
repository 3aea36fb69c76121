#pragma once

#include <string>

#include "bench/measure.h"
#include "throughtime/engine.h"

namespace throughtime::bench {

/// A case on several ranks beside the same case on one of them.
struct RanksResult {
  std::string name;
  int ranks = 1;
  int threads = 1;         // of each rank
  double together_ms = 0;  // medians
  double alone_ms = 0;
  double speedup = 0;  // median over pairs of alone / together
};

/// All ranks of `engine` come here. Each computes its rows of the batch and gets the summed gradient; in turn with
/// that, rank 0 runs the whole case alone with the same number of threads. Rank 0 has the result, the others an empty
/// one.
RanksResult run_ranks_case(const std::string& name, const EngineConfig& engine, const Effort& effort);

/// One JSON object on one line.
std::string json_line(const RanksResult& result);

}  // namespace throughtime::bench

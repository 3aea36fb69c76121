#pragma once

#include <string>

#include "bench/case.h"
#include "bench/measure.h"
#include "throughtime/engine.h"

namespace throughtime::bench {

/// Several of one case beside each other, as the runs of `--jobs` are on a GPU: `4x-fptt-lstm-b128-h128-t784-k20`.
struct AtOnceCase {
  std::string name;
  int count = 1;  // from 1 to 64
  Case each;
};

/// Whether it begins as such a name does.
bool is_at_once_case(const std::string& name);
/// Refuses what is no count, and what is no case behind it.
AtOnceCase parse_at_once_case(const std::string& name);

struct AtOnceResult {
  std::string name;
  int count = 1;
  double together_ms = 0;  // medians, of one run of every one of them
  double in_turn_ms = 0;
  double throughput = 0;  // median over pairs of in turn / together
};

/// Every one has an engine of its own and, together, a thread of its own; in turn they take one thread.
AtOnceResult run_at_once_case(const std::string& name, const EngineConfig& engine, const Effort& effort);

/// One JSON object on one line.
std::string json_line(const AtOnceResult& result);

}  // namespace throughtime::bench

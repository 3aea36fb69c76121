#pragma once

#include <string>

#include "bench/case.h"
#include "bench/measure.h"

namespace throughtime::bench {

/// What an iteration costs the host beside the engine's work: cutting, checking and weighing windows. FPTT on sequences
/// of single numbers with one of ten classes at their end, as images pixel by pixel are, on an engine that computes
/// nothing. Spelled out by its name: `host-fptt-lstm-b128-h128-t784-k20`.
bool is_host_case(const std::string& name);
/// Takes a name apart; refuses one that is not `host-fptt-CELL-bB-hH-tT-kK`.
Case parse_host_case(const std::string& name);

struct HostResult {
  std::string name;
  double host_ms = 0;  // of an iteration
};

HostResult run_host_case(const std::string& name, const Effort& effort);

/// One JSON object on one line.
std::string json_line(const HostResult& result);

}  // namespace throughtime::bench

#pragma once

#include "bench/measure.h"
#include "bench/report.h"
#include "throughtime/engine.h"

namespace throughtime::bench {

/// What is measured of a case beside ours.
struct CaseMeasures {
  Effort effort = {};
  bool floor = true;
  bool describe_floor = false;  // its choices go to stderr
  bool onednn = false;          // where it has the case and the host computes
  bool one_thread = true;       // ours and what stands beside it with one thread as well
  bool ways = true;             // both ways of a single row
};

/// Ours and what stands beside it, with the engine's threads and with one where the host computes, all in turn.
CaseResult run_case(const std::string& name, const EngineConfig& engine, const CaseMeasures& measures);

}  // namespace throughtime::bench

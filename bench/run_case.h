#pragma once

#include "bench/measure.h"
#include "bench/report.h"
#include "throughtime/engine.h"

namespace throughtime::bench {

/// Ours and the floor, with the engine's threads and with one where the host computes, all in turn; the floor's choices
/// go to stderr if asked for.
CaseResult run_case(const std::string& name, const EngineConfig& engine, const Effort& effort, bool describe_floor);

}  // namespace throughtime::bench

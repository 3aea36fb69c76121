#pragma once

#include "bench/measure.h"
#include "bench/report.h"

namespace throughtime::bench {

/// Ours and the floor, with `threads` threads and with one, all in turn; the floor's choices go to stderr if asked for.
CaseResult run_case(const std::string& name, int threads, const Effort& effort, bool describe_floor);

}  // namespace throughtime::bench

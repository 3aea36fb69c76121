#pragma once

#include <string>

namespace throughtime {

/// Obeys the environment variable THROUGHTIME_ISA, once: `avx2`, `sse4` and `portable` switch the wider instructions
/// off, so that a machine that has them can test what others run. Call it before kernels are chosen.
void limit_instructions();

/// The instruction set that kernels are chosen for, in words ("AVX3", "AVX2", "SSE4", "NEON", "SCALAR").
std::string instruction_set();

}  // namespace throughtime

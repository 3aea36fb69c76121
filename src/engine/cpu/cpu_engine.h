#pragma once

#include <memory>

#include "throughtime/engine.h"

namespace throughtime {

/// The fast engine: float, SIMD, any number of threads with the same bits.
std::unique_ptr<Engine> make_cpu_engine(const Model& model, const EngineConfig& config);

}  // namespace throughtime

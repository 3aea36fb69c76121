#pragma once

#include <cstdint>
#include <memory>

#include "throughtime/engine.h"

namespace throughtime {

/// The fast engine: float, SIMD, any number of threads with the same bits.
std::unique_ptr<Engine> make_cpu_engine(const Model& model, const EngineConfig& config);

/// How often it has packed weights: those of all layers, or the recurrent ones alone.
struct PackCounts {
  std::int64_t layers = 0;
  std::int64_t recurrent = 0;
};
PackCounts pack_counts(const Engine& cpu_engine);

}  // namespace throughtime

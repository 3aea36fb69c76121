#pragma once

#include <memory>
#include <string>

#include "engine/device_facts.h"
#include "throughtime/engine.h"

namespace throughtime {

/// Single precision on one GPU. Where the library is built without CUDA, and where there is no GPU, it refuses in one
/// line.
std::unique_ptr<Engine> make_cuda_engine(const Model& model, const EngineConfig& config);

/// Why there is no GPU to compute with: one line; empty where there is one.
std::string cuda_absence();

/// Of all engines on GPUs in this process; zeros where the library has none.
DeviceCounts cuda_counts();

}  // namespace throughtime

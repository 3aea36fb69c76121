#pragma once

#include <memory>

#include "throughtime/engine.h"

namespace throughtime {

/// The oracle of every test: double precision, plain loops, one thread whatever the configuration says.
std::unique_ptr<Engine> make_reference_engine(const Model& model, const EngineConfig& config);

}  // namespace throughtime

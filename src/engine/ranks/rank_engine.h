#pragma once

#include <memory>

#include "throughtime/engine.h"

namespace throughtime {

/// An engine for one rank of several that train one model: see rank_engine.cpp. `inner` computes; its communicator, and
/// this one, is `ranks`.
std::unique_ptr<Engine> make_rank_engine(std::unique_ptr<Engine> inner, std::shared_ptr<Communicator> ranks);

}  // namespace throughtime

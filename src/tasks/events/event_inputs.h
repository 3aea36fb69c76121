#pragma once

#include <array>
#include <cstddef>

#include "data/tables/point_process.h"

namespace throughtime {

/// What a model of events reads beside the mark: 1 at the first event of a sequence, and the time since the event
/// before it, times `scale` (there 0). Refuses a time that is no 32-bit float then.
std::array<float, 2> event_inputs(const EventSequences& events, std::size_t event, bool first, double scale);

}  // namespace throughtime

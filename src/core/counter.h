#pragma once

#include <array>
#include <cstdint>

#include "throughtime/random.h"

namespace throughtime {

/// What Random::words gives to philox: the counter and the key. Neighbours of an element differ in the counter's first
/// word.
std::array<std::uint32_t, 4> counter_of(Purpose purpose, std::uint64_t iteration, std::uint32_t sequence,
                                        std::uint64_t element);
std::array<std::uint32_t, 2> key_of(std::uint64_t seed);

}  // namespace throughtime

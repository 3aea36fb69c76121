#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "throughtime/task.h"

namespace throughtime {

/// Which split each entry of `groups` belongs to. Every group is cut by the shares of train, validation and test, up to
/// one entry, and so is the whole where groups have several entries; a group always has something to train on. Which
/// entries of a group go where is drawn with the seed.
std::vector<Split> stratified(std::span<const std::int32_t> groups, std::span<const double> shares, std::uint64_t seed);

}  // namespace throughtime

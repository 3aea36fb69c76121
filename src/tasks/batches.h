#pragma once

#include <cstdint>
#include <string_view>

#include "throughtime/task.h"

namespace throughtime {

// What the batches of all tasks have in common.

/// Key of the dropout masks of a batch: another one for every seed, split and batch.
std::uint64_t batch_mask_key(std::uint64_t seed, Split split, std::uint64_t iteration);
/// The same for random places (Task::make_positions).
std::uint64_t positions_mask_key(std::uint64_t seed, std::uint64_t draw);

/// Refuses a random place of more steps than a row of the training data has.
void require_long_data(std::string_view speaker, int steps, std::int64_t length);
/// Refuses an empty batch.
void require_rows(std::string_view speaker, int batch);

}  // namespace throughtime

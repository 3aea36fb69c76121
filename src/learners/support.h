#pragma once

#include <span>
#include <string_view>

#include "throughtime/index.h"
#include "throughtime/learner.h"

namespace throughtime {

// What training methods share.

/// Refuses a shape without steps or rows.
void check_shape(const StretchShape& shape);
/// Refuses a stretch that is not valid, or has another length or batch than promised.
void check_stretch(std::string_view speaker, const StretchShape& shape, const Window& stretch);

/// Sum of a window's loss weights: what its summed gradient is divided by. 0 where no step has a loss.
double sum_of_weights(std::string_view speaker, std::span<const float> weights);

/// Gives the window room for `steps` x `batch` entries, so that `slice` into it never allocates.
void reserve(Window& window, int steps, int batch);

}  // namespace throughtime

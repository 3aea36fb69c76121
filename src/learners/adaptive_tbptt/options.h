#pragma once

#include "learners/tbptt/lengths.h"

namespace throughtime {

/// K_0: before the first estimate.
int first_truncation(const AdaptiveTbpttConfig& config);
/// The largest K that there can be, and the lengths of its windows.
int largest_truncation(const AdaptiveTbpttConfig& config);
Lengths longest_lengths(const AdaptiveTbpttConfig& config);

}  // namespace throughtime

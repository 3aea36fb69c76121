#pragma once

#include <atomic>
#include <cstdint>

namespace throughtime::cuda {

/// DeviceCounts, as all engines of this process write them.
struct Counts {
  std::atomic<std::int64_t> arrays = 0, pinned = 0, waits = 0, upload_waits = 0;
  std::atomic<std::uint64_t> bytes = 0;
};
Counts& device_counts();

}  // namespace throughtime::cuda

#pragma once

#include <cstdint>
#include <string>

namespace throughtime {

/// What a machine tells of its GPU.
struct DeviceFacts {
  int devices = 0;             // that answer
  int driver = 0;              // the CUDA that the driver knows, 12040 for 12.4; 0: no driver
  bool driver_is_old = false;  // it refused because it knows less than `runtime`
  int runtime = 0;             // the CUDA of this build
  bool answers = true;         // the first device told what follows
  std::string name;
  int major = 0, minor = 0;  // compute capability
};

/// Why nothing can be computed there, in one line; empty where it can.
std::string absence_of(const DeviceFacts& facts);

/// What the engines of this process asked their device for, so far; counted where it is asked.
struct DeviceCounts {
  std::int64_t arrays = 0;        // pieces of its memory
  std::int64_t pinned = 0;        // pieces of the host's memory that it reads
  std::int64_t waits = 0;         // for all that was issued: reads, clocks
  std::int64_t upload_waits = 0;  // for an upload, because the device is as many lists behind as there is room for
  std::uint64_t bytes = 0;        // of its memory that are held now
};

}  // namespace throughtime

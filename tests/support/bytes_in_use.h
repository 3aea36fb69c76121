#pragma once

#include <malloc.h>

#include <cstddef>

namespace throughtime::testing {

/// Bytes that malloc has handed out: sees the aligned blocks that operator new does not. 0 under a sanitizer, which has
/// an allocator of its own.
inline std::size_t bytes_in_use() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

}  // namespace throughtime::testing

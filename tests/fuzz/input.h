#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "data/byte_stream.h"
#include "throughtime/error.h"

namespace throughtime {

/// Gives the bytes to a reader. InvalidInput is the right answer to a bad file; anything else that is thrown, a crash
/// or a finding of a sanitizer is a bug.
template <class Read>
int read_input(const std::uint8_t* data, std::size_t size, Read&& read) {
  try {
    read(*ByteStream::over(std::as_bytes(std::span(data, size)), "input"));
  } catch (const InvalidInput&) {
    return 0;
  }
  return 0;
}

/// Stops the fuzzer where a reader accepted something that breaks its promise.
inline void require(bool promise) {
  if (!promise) __builtin_trap();
}

}  // namespace throughtime

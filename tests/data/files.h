#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "data/byte_stream.h"
#include "support/errors.h"
#include "support/scratch.h"

namespace throughtime::testing {

/// A stream over the bytes of a text that lives as long as the stream is used.
inline std::unique_ptr<ByteStream> stream_of(std::string_view text) {
  return ByteStream::over(std::as_bytes(std::span(text)), "file");
}

/// `size` bytes of a number, the least significant first.
inline std::string little(std::uint64_t value, int size) {
  std::string bytes;
  for (int i = 0; i < size; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xff);
  return bytes;
}

inline std::string big(std::uint64_t value, int size) {
  const std::string bytes = little(value, size);
  return {bytes.rbegin(), bytes.rend()};
}

/// A small file of every format, made with other programs; shared with the fuzzers.
inline std::string corpus(const std::string& name) {
  return std::string(THROUGHTIME_TEST_DIRECTORY) + "/fuzz/corpus/" + name;
}

/// Every beginning of a good file must be refused by `read(stream)`, never accepted and never worse.
template <class Read>
void expect_beginnings_refused(const std::string& good, Read&& read) {
  EXPECT_NO_THROW(read(*stream_of(good)));
  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_THROW(read(*stream_of(std::string_view(good).substr(0, size))), InvalidInput) << size;
}

}  // namespace throughtime::testing

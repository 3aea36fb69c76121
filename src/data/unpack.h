#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "data/byte_stream.h"

namespace throughtime {

/// A few packed bytes can become more than there is memory, and nobody sees it from outside. Looks at the memory now
/// and then, and refuses to go on once those who read have taken half of what was left at the first look: a list that
/// doubles its room needs the other half.
class UnpackWatch {
 public:
  void look(std::string_view format, const std::string& name, std::uint64_t packed, std::uint64_t unpacked);

 private:
  std::uint64_t next_ = 0;   // unpacked bytes at the next look
  std::uint64_t first_ = 0;  // bytes of memory at the first
};

/// The unpacked bytes of a gzip stream of one or more members.
std::unique_ptr<ByteStream> unpack_gzip(std::unique_ptr<ByteStream> packed);
/// The unpacked bytes of an xz stream of one or more parts.
std::unique_ptr<ByteStream> unpack_xz(std::unique_ptr<ByteStream> packed);

}  // namespace throughtime

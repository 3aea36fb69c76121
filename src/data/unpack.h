#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "data/byte_stream.h"

namespace throughtime {

/// A few packed bytes can become more than there is memory, and nobody sees it from outside. Looks at the memory now
/// and then, and refuses to go on where less is left than has been taken since the first look: a list that grows
/// doubles its room.
class UnpackWatch {
 public:
  void look(std::string_view format, const std::string& name, std::uint64_t packed, std::uint64_t unpacked);

 private:
  std::uint64_t next_ = 0;   // unpacked bytes at the next look
  std::uint64_t first_ = 0;  // bytes that the process held at the first
  bool looked_ = false;
};

/// The unpacked bytes of a gzip stream of one or more members.
std::unique_ptr<ByteStream> unpack_gzip(std::unique_ptr<ByteStream> packed);
/// The unpacked bytes of an xz stream of one or more parts.
std::unique_ptr<ByteStream> unpack_xz(std::unique_ptr<ByteStream> packed);

/// The ending that tells the format of a file of data, without .gz and .xz, in small letters.
std::string data_ending(const std::filesystem::path& path);

}  // namespace throughtime

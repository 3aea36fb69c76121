#pragma once

#include <memory>

#include "data/byte_stream.h"

namespace throughtime {

/// The unpacked bytes of a gzip stream of one or more members.
std::unique_ptr<ByteStream> unpack_gzip(std::unique_ptr<ByteStream> packed);
/// The unpacked bytes of an xz stream of one or more parts.
std::unique_ptr<ByteStream> unpack_xz(std::unique_ptr<ByteStream> packed);

}  // namespace throughtime

#pragma once

#include <string>
#include <vector>

#include "data/byte_stream.h"

namespace throughtime {

/// A file of nothing but little-endian 32-bit floats, all finite.
std::vector<float> read_float32(const std::string& path);
std::vector<float> read_float32(ByteStream& stream);

}  // namespace throughtime

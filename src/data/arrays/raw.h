#pragma once

#include <string>
#include <vector>

#include "data/byte_stream.h"
#include "data/numbers.h"

namespace throughtime {

/// A file of nothing but little-endian 32-bit floats, all finite (or NaN where gaps are kept).
std::vector<float> read_float32(const std::string& path, Gaps gaps = Gaps::refused);
std::vector<float> read_float32(ByteStream& stream, Gaps gaps = Gaps::refused);

}  // namespace throughtime

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/byte_stream.h"

namespace throughtime {

/// Unsigned bytes in C order, as MNIST has them.
struct IdxArray {
  std::vector<int> shape;
  std::vector<std::uint8_t> values;
};

IdxArray read_idx(const std::string& path);
IdxArray read_idx(ByteStream& stream);

}  // namespace throughtime

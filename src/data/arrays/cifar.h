#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/byte_stream.h"

namespace throughtime {

struct CifarImages {
  std::vector<std::uint8_t> labels;  // [n], 0 to 9
  std::vector<std::uint8_t> pixels;  // [n, 3, 32, 32]: planes of red, green, blue
};

/// One batch of CIFAR-10's binary version.
CifarImages read_cifar(const std::string& path);
CifarImages read_cifar(ByteStream& stream);

}  // namespace throughtime

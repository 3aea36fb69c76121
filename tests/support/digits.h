#pragma once

#include <cstdint>
#include <string>

#include "support/scratch.h"

namespace throughtime::testing {

inline std::string big_endian(std::uint32_t number) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(number >> shift & 0xff));
  return bytes;
}

/// `count` small digits below `folder`: pixel p of image i is (31 i + p) mod 256, its label (i + offset) mod 10.
inline void write_digits(const ScratchDirectory& directory, const std::string& prefix, std::uint32_t count, int offset,
                         const std::string& folder = "") {
  std::string images = big_endian(0x803) + big_endian(count) + big_endian(28) + big_endian(28);
  std::string labels = big_endian(0x801) + big_endian(count);
  for (std::uint32_t image = 0; image < count; ++image) {
    for (std::uint32_t pixel = 0; pixel < 784; ++pixel) images.push_back(static_cast<char>((31 * image + pixel) % 256));
    labels.push_back(static_cast<char>((image + static_cast<std::uint32_t>(offset)) % 10));
  }
  directory.write(folder + "mnist/" + prefix + "-images-idx3-ubyte", images);
  directory.write(folder + "mnist/" + prefix + "-labels-idx1-ubyte", labels);
}

}  // namespace throughtime::testing

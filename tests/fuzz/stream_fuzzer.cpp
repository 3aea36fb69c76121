#include <array>

#include "input.h"

using namespace throughtime;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return read_input(data, size, [](ByteStream& stream) {
    std::array<std::byte, 4096> block;
    // A packed file of zeros would go on for too long.
    while (stream.offset() < (1 << 24) && stream.read(block) != 0) continue;
  });
}

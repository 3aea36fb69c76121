#include "data/arrays/npy.h"
#include "input.h"

using namespace throughtime;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  read_input(data, size, [](ByteStream& stream) { read_npz(stream, "x"); });
  return read_input(data, size, [](ByteStream& stream) { read_npz(stream, "y"); });
}

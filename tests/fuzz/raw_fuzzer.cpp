#include "data/arrays/raw.h"
#include "input.h"

using namespace throughtime;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return read_input(data, size, [](ByteStream& stream) { require(!read_float32(stream).empty()); });
}

#include "data/npy.h"
#include "input.h"

using namespace throughtime;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return read_input(data, size, [](ByteStream& stream) {
    const NumberArray array = read_npy(stream);
    std::size_t count = 1;
    for (const std::size_t dimension : array.shape) count *= dimension;
    require(count == array.values.size());
  });
}

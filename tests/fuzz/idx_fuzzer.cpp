#include "data/arrays/idx.h"
#include "input.h"

using namespace throughtime;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return read_input(data, size, [](ByteStream& stream) {
    const IdxArray array = read_idx(stream);
    std::size_t count = 1;
    for (const int dimension : array.shape) count *= static_cast<std::size_t>(dimension);
    require(count == array.values.size());
  });
}

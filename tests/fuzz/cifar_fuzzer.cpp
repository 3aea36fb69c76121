#include "data/arrays/cifar.h"
#include "input.h"

using namespace throughtime;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return read_input(data, size, [](ByteStream& stream) {
    const CifarImages images = read_cifar(stream);
    require(images.pixels.size() == 3072 * images.labels.size());
  });
}

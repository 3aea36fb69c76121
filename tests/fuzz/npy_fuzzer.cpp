#include "data/arrays/npy.h"
#include "input.h"

using namespace throughtime;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return read_input(data, size, [](ByteStream& stream) {
    const NumberArray array = read_npy(stream);
    std::size_t count = 1;
    for (const std::size_t dimension : array.shape) count *= dimension;
    require(count == array.values.size());
    if (count == 0) return;
    // What is written of it is the same.
    const std::vector<double> values(array.values.begin(), array.values.end());
    std::string written = npy_header(values.size(), 1);
    written.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
    require(read_npy(*ByteStream::over(std::as_bytes(std::span(written)))).values == array.values);
  });
}

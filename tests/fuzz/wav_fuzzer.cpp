#include "data/wav.h"
#include "input.h"

using namespace throughtime;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return read_input(data, size, [](ByteStream& stream) {
    const Audio audio = read_wav(stream);
    require(audio.rate > 0 && audio.channels > 0 && !audio.samples.empty());
    require(audio.samples.size() % static_cast<std::size_t>(audio.channels) == 0);
  });
}

#include "data/arrays/wav.h"
#include "input.h"

using namespace throughtime;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return read_input(data, size, [=](ByteStream& stream) {
    const Audio audio = read_wav(stream);
    require(audio.rate > 0 && audio.channels > 0 && !audio.samples.empty());
    require(audio.samples.size() % static_cast<std::size_t>(audio.channels) == 0);
    // In parts it is the same.
    const auto again = ByteStream::over(std::as_bytes(std::span(data, size)));
    WavReader reader(*again);
    std::vector<float> samples;
    for (std::vector<float> part = reader.read(3); !part.empty(); part = reader.read(3))
      samples.insert(samples.end(), part.begin(), part.end());
    require(samples == audio.samples);
    // What is written of it is the same, too.
    const auto width = static_cast<std::size_t>(audio.channels);
    std::string written = wav_header(audio.rate, audio.channels, audio.samples.size() / width);
    written.append(reinterpret_cast<const char*>(audio.samples.data()), audio.samples.size() * sizeof(float));
    const Audio read = read_wav(*ByteStream::over(std::as_bytes(std::span(written))));
    require(read.rate == audio.rate && read.channels == audio.channels && read.samples == audio.samples);
  });
}

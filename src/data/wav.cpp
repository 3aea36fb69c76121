#include "data/wav.h"

#include <algorithm>
#include <array>
#include <limits>

#include "data/numbers.h"
#include "throughtime/index.h"

namespace throughtime {
namespace {

constexpr std::string_view speaker = "wav";

struct Format {
  int channels = 0;
  int rate = 0;
  NumberFormat number;
  float scale = 1;  // of a sample, so that full scale is 1
};

std::string_view letters(const std::byte* bytes) { return {reinterpret_cast<const char*>(bytes), 4}; }

/// PCM (1), float (3), or what the long form of the chunk wraps.
int encoding_of(const ByteStream& stream, const std::vector<std::uint8_t>& chunk, std::uint64_t where) {
  constexpr int extensible = 0xfffe;
  constexpr std::array<std::uint8_t, 14> family = {0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71};
  const auto* bytes = reinterpret_cast<const std::byte*>(chunk.data());
  const int encoding = static_cast<int>(little_endian(bytes, 2));
  if (encoding != extensible) return encoding;
  if (chunk.size() < 40 || !std::equal(family.begin(), family.end(), chunk.begin() + 26))
    refuse_byte(speaker, stream.name(), where, "an extensible format of unknown kind");
  return static_cast<int>(little_endian(bytes + 24, 2));
}

Format read_format(ByteStream& stream, std::uint32_t size) {
  constexpr int pcm = 1, real = 3;
  const std::uint64_t where = stream.offset();
  if (size < 16 || size > 4096)
    refuse_byte(speaker, stream.name(), where, "the format chunk must have 16 to 4096 bytes, has {}", size);
  const std::vector<std::uint8_t> chunk = read_bytes(stream, size, speaker, "the format chunk");
  const auto* bytes = reinterpret_cast<const std::byte*>(chunk.data());
  const std::uint64_t channels = little_endian(bytes + 2, 2), rate = little_endian(bytes + 4, 4);
  const std::uint64_t frame = little_endian(bytes + 12, 2), bits = little_endian(bytes + 14, 2);
  const int encoding = encoding_of(stream, chunk, where);

  if (channels == 0) refuse_byte(speaker, stream.name(), where + 2, "there must be at least 1 channel");
  if (rate == 0 || rate > std::numeric_limits<int>::max())
    refuse_byte(speaker, stream.name(), where + 4, "an impossible rate of {} frames a second", rate);
  if (!(encoding == pcm && (bits == 16 || bits == 24)) && !(encoding == real && bits == 32))
    refuse_byte(speaker, stream.name(), where,
                "encoding {} with {} bits is not supported: save it as PCM of 16 or 24 bits or float of 32", encoding,
                bits);
  if (frame != channels * bits / 8)
    refuse_byte(speaker, stream.name(), where + 12, "frames must have {} bytes, have {}", channels * bits / 8, frame);

  Format format{.channels = static_cast<int>(channels), .rate = static_cast<int>(rate)};
  format.number.bytes = static_cast<int>(bits / 8);
  if (encoding == pcm) {
    format.number.kind = NumberFormat::Kind::signed_integer;
    format.scale = 1.0f / static_cast<float>(1 << (bits - 1));
  }
  return format;
}

std::vector<float> read_samples(ByteStream& stream, std::uint32_t size, const Format& format) {
  constexpr std::uint32_t streamed = 0xffffffff;  // written by programs that cannot go back: up to the end
  const std::uint64_t where = stream.offset();
  const auto bytes = static_cast<std::uint32_t>(format.number.bytes);
  if (size != streamed && size % bytes != 0)
    refuse_byte(speaker, stream.name(), where - 4, "{} bytes are no whole number of samples of {}", size, bytes);
  std::vector<float> samples = size == streamed ? read_all_numbers(stream, format.number, speaker)
                                                : read_numbers(stream, size / bytes, format.number, speaker);
  if (samples.empty()) refuse_byte(speaker, stream.name(), where, "there are no samples");
  if (samples.size() % elements(format.channels) != 0)
    refuse_byte(speaker, stream.name(), where, "{} samples are no whole number of frames of {} channels",
                samples.size(), format.channels);
  if (format.scale != 1)
    for (float& sample : samples) sample *= format.scale;
  return samples;
}

}  // namespace

Audio read_wav(ByteStream& stream) {
  std::array<std::byte, 12> riff;
  read_exactly(stream, riff, speaker, "the RIFF header");
  if (letters(riff.data()) != "RIFF" || letters(riff.data() + 8) != "WAVE")
    refuse_byte(speaker, stream.name(), 0, "no WAV file: it must begin with RIFF and WAVE");
  Format format;
  while (true) {
    const std::uint64_t where = stream.offset();
    std::array<std::byte, 8> header;
    if (read_up_to(stream, header) < header.size())
      refuse_byte(speaker, stream.name(), where, "the file ends without a data chunk");
    const std::string_view name = letters(header.data());
    const auto size = static_cast<std::uint32_t>(little_endian(header.data() + 4, 4));
    if (name == "data") {
      if (format.channels == 0) refuse_byte(speaker, stream.name(), where, "the data chunk comes before the format");
      return {format.rate, format.channels, read_samples(stream, size, format)};
    }
    if (name == "fmt ")
      format = read_format(stream, size);
    else
      skip_bytes(stream, size, speaker, "a chunk that is skipped");
    skip_bytes(stream, size % 2, speaker, "the padding of a chunk");
  }
}

Audio read_wav(const std::string& path) { return read_wav(*ByteStream::open(path)); }

}  // namespace throughtime

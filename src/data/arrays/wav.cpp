#include "data/arrays/wav.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "data/numbers.h"
#include "throughtime/index.h"

namespace throughtime {
namespace {

constexpr std::string_view speaker = "wav";

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

WavFormat read_format(ByteStream& stream, std::uint32_t size) {
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
  const bool whole = encoding == pcm && (bits == 8 || bits == 16 || bits == 24 || bits == 32);
  if (!whole && !(encoding == real && (bits == 32 || bits == 64)))
    refuse_byte(
        speaker, stream.name(), where,
        "encoding {} with {} bits is not supported: save it as PCM of 8, 16, 24 or 32 bits or float of 32 or 64",
        encoding, bits);
  if (frame != channels * bits / 8)
    refuse_byte(speaker, stream.name(), where + 12, "frames must have {} bytes, have {}", channels * bits / 8, frame);

  WavFormat format{.channels = static_cast<int>(channels), .rate = static_cast<int>(rate)};
  format.number.bytes = static_cast<int>(bits / 8);
  if (encoding != pcm) return format;
  const bool from_zero = bits == 8;  // alone among the sizes: silence is 128
  format.number.kind = from_zero ? NumberFormat::Kind::unsigned_integer : NumberFormat::Kind::signed_integer;
  format.silence = from_zero ? 128.0f : 0.0f;
  format.scale = std::ldexp(1.0f, 1 - static_cast<int>(bits));
  return format;
}

constexpr std::uint64_t endless = UINT64_MAX;

/// Samples of the data chunk that begins here.
std::uint64_t samples_in(const ByteStream& stream, std::uint32_t size, const WavFormat& format) {
  constexpr std::uint32_t streamed = 0xffffffff;  // written by programs that cannot go back: up to the end
  const std::uint64_t where = stream.offset();
  const auto bytes = static_cast<std::uint32_t>(format.number.bytes);
  if (size == streamed) return endless;
  if (size % bytes != 0)
    refuse_byte(speaker, stream.name(), where - 4, "{} bytes are no whole number of samples of {}", size, bytes);
  const std::uint32_t samples = size / bytes;
  if (samples == 0) refuse_byte(speaker, stream.name(), where, "there are no samples");
  if (samples % elements(format.channels) != 0)
    refuse_byte(speaker, stream.name(), where, "{} samples are no whole number of frames of {} channels", samples,
                format.channels);
  return samples;
}

}  // namespace

WavReader::WavReader(ByteStream& stream) : stream_(stream) {
  std::array<std::byte, 12> riff;
  read_exactly(stream, riff, speaker, "the RIFF header");
  if (letters(riff.data()) != "RIFF" || letters(riff.data() + 8) != "WAVE")
    refuse_byte(speaker, stream.name(), 0, "no WAV file: it must begin with RIFF and WAVE");
  while (true) {
    const std::uint64_t where = stream.offset();
    std::array<std::byte, 8> header;
    if (read_up_to(stream, header) < header.size())
      refuse_byte(speaker, stream.name(), where, "the file ends without a data chunk");
    const std::string_view name = letters(header.data());
    const auto size = static_cast<std::uint32_t>(little_endian(header.data() + 4, 4));
    if (name == "data") {
      if (format_.channels == 0) refuse_byte(speaker, stream.name(), where, "the data chunk comes before the format");
      start_ = stream.offset();
      left_ = samples_in(stream, size, format_);
      return;
    }
    if (name == "fmt ")
      format_ = read_format(stream, size);
    else
      skip_bytes(stream, size, speaker, "a chunk that is skipped");
    skip_bytes(stream, size % 2, speaker, "the padding of a chunk");
  }
}

std::optional<std::uint64_t> WavReader::frames() const {
  if (left_ == endless) return std::nullopt;
  return left_ / elements(format_.channels);
}

std::string wav_header(int rate, int channels, std::optional<std::uint64_t> frames) {
  constexpr std::uint32_t streamed = 0xffffffff, sample = 4, before = 36;
  const auto bytes = [](std::uint32_t value, int size) {
    std::string text;
    for (int i = 0; i < size; ++i) text += static_cast<char>(value >> (8 * i) & 255);
    return text;
  };
  const auto frame = static_cast<std::uint32_t>(channels) * sample, speed = static_cast<std::uint32_t>(rate);
  const bool counted = frames && *frames <= (streamed - 1 - before) / frame;
  const std::uint32_t size = counted ? static_cast<std::uint32_t>(*frames) * frame : streamed;
  return "RIFF" + bytes(counted ? before + size : streamed, 4) + "WAVEfmt " + bytes(16, 4) + bytes(3, 2) +
         bytes(static_cast<std::uint32_t>(channels), 2) + bytes(speed, 4) + bytes(speed * frame, 4) + bytes(frame, 2) +
         bytes(8 * sample, 2) + "data" + bytes(size, 4);
}

std::vector<float> WavReader::read(std::uint64_t frames) {
  const std::uint64_t channels = elements(format_.channels);
  const std::uint64_t most = std::min(left_, frames > endless / channels ? endless : frames * channels);
  std::vector<float> samples = left_ == endless ? read_some_numbers(stream_, most, format_.number, speaker)
                                                : read_numbers(stream_, most, format_.number, speaker);
  if (left_ != endless) left_ -= samples.size();
  if (samples.empty() && stream_.offset() == start_)
    refuse_byte(speaker, stream_.name(), start_, "there are no samples");
  if (samples.size() % channels != 0)
    refuse_byte(speaker, stream_.name(), start_, "{} samples are no whole number of frames of {} channels",
                (stream_.offset() - start_) / elements(format_.number.bytes), channels);
  if (format_.scale != 1)
    for (float& sample : samples) sample = (sample - format_.silence) * format_.scale;
  return samples;
}

Audio read_wav(ByteStream& stream) {
  WavReader reader(stream);
  return {reader.rate(), reader.channels(), reader.read(endless)};
}

Audio read_wav(const std::string& path) { return read_wav(*ByteStream::open(path)); }

}  // namespace throughtime

#include "data/numbers.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "throughtime/index.h"

namespace throughtime {
namespace {

float decode(const std::byte* bytes, const NumberFormat& format) {
  const std::uint64_t bits = format.big_endian ? big_endian(bytes, format.bytes) : little_endian(bytes, format.bytes);
  switch (format.kind) {
    case NumberFormat::Kind::real:
      if (format.bytes == 4) return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
      return static_cast<float>(std::bit_cast<double>(bits));
    case NumberFormat::Kind::signed_integer: {
      const int unused = 64 - 8 * format.bytes;
      return static_cast<float>(static_cast<std::int64_t>(bits << unused) >> unused);
    }
    case NumberFormat::Kind::unsigned_integer:
      break;
  }
  return static_cast<float>(bits);
}

/// Reads up to `most` numbers. What remains of the last one is left to the caller as `leftover` bytes.
std::vector<float> read_up_to_numbers(ByteStream& stream, std::uint64_t most, const NumberFormat& format,
                                      std::string_view speaker, std::size_t& leftover) {
  const std::size_t size = elements(format.bytes);
  std::array<std::byte, 1 << 15> block;
  std::vector<float> values;
  leftover = 0;
  while (values.size() < most && leftover == 0) {
    const std::size_t room = block.size() / size * size;
    const std::uint64_t wanted = std::min<std::uint64_t>(most - values.size(), room / size) * size;
    const std::uint64_t start = stream.offset();
    const std::size_t got = read_up_to(stream, std::span(block).first(wanted));
    for (std::size_t at = 0; at + size <= got; at += size) {
      const float value = decode(block.data() + at, format);
      if (!std::isfinite(value) && !(std::isnan(value) && format.gaps == Gaps::kept))
        refuse_byte(speaker, stream.name(), start + at,
                    "number {} (from 0) is not finite as a 32-bit float: {}; fill the gap, or pad with 0",
                    values.size(), value);
      values.push_back(value);
    }
    leftover = got % size;
    if (got < wanted) break;
  }
  return values;
}

}  // namespace

std::vector<float> read_numbers(ByteStream& stream, std::uint64_t count, const NumberFormat& format,
                                std::string_view speaker) {
  std::size_t leftover = 0;
  std::vector<float> values = read_up_to_numbers(stream, count, format, speaker, leftover);
  if (values.size() < count)
    refuse_byte(speaker, stream.name(), stream.offset(), "the file ends within its numbers: {} of {}", values.size(),
                count);
  return values;
}

std::vector<float> read_all_numbers(ByteStream& stream, const NumberFormat& format, std::string_view speaker) {
  return read_some_numbers(stream, UINT64_MAX, format, speaker);
}

std::vector<float> read_some_numbers(ByteStream& stream, std::uint64_t most, const NumberFormat& format,
                                     std::string_view speaker) {
  std::size_t leftover = 0;
  std::vector<float> values = read_up_to_numbers(stream, most, format, speaker, leftover);
  if (leftover != 0)
    refuse_byte(speaker, stream.name(), stream.offset() - leftover,
                "the file must hold whole numbers of {} bytes, but ends after {} of the last one", format.bytes,
                leftover);
  return values;
}

}  // namespace throughtime

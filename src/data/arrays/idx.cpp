#include "data/arrays/idx.h"

#include <array>
#include <limits>

namespace throughtime {
namespace {

constexpr std::string_view speaker = "idx";

}  // namespace

IdxArray read_idx(ByteStream& stream) {
  constexpr int unsigned_bytes = 0x08, most_dimensions = 8;
  std::array<std::byte, 4> magic;
  read_exactly(stream, magic, speaker, "the magic number");
  const int type = static_cast<int>(magic[2]), dimensions = static_cast<int>(magic[3]);
  if (magic[0] != std::byte{0} || magic[1] != std::byte{0})
    refuse_byte(speaker, stream.name(), 0, "no IDX file: its first two bytes must be 0");
  if (type != unsigned_bytes)
    refuse_byte(speaker, stream.name(), 2, "type 0x{:02x} is not supported, only 0x08 (unsigned bytes)", type);
  if (dimensions < 1 || dimensions > most_dimensions)
    refuse_byte(speaker, stream.name(), 3, "must have 1 to {} dimensions, has {}", most_dimensions, dimensions);

  IdxArray array;
  std::uint64_t count = 1;
  for (int i = 0; i < dimensions; ++i) {
    const std::uint64_t where = stream.offset();
    std::array<std::byte, 4> bytes;
    read_exactly(stream, bytes, speaker, "the shape");
    const std::uint64_t size = big_endian(bytes.data(), 4);
    if (size == 0 || size > std::numeric_limits<int>::max() || __builtin_mul_overflow(count, size, &count))
      refuse_byte(speaker, stream.name(), where, "dimension {} has an impossible size of {}", i, size);
    array.shape.push_back(static_cast<int>(size));
  }
  array.values = read_bytes(stream, count, speaker, "the values");
  expect_end(stream, speaker);
  return array;
}

IdxArray read_idx(const std::string& path) { return read_idx(*ByteStream::open(path)); }

}  // namespace throughtime

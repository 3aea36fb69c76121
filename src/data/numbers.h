#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "data/byte_stream.h"

namespace throughtime {

/// What becomes of a NaN, by which NumPy and others write a value that they do not have.
enum class Gaps { refused, kept };

/// How a file writes a number.
struct NumberFormat {
  enum class Kind { real, signed_integer, unsigned_integer };
  Kind kind = Kind::real;
  int bytes = 4;
  bool big_endian = false;
  Gaps gaps = Gaps::refused;
};

/// The next `count` numbers as floats, in blocks. Refuses one that is not finite or does not fit, with its position.
std::vector<float> read_numbers(ByteStream& stream, std::uint64_t count, const NumberFormat& format,
                                std::string_view speaker);
/// The same of at most `most` numbers: fewer at the end of the stream, which must not be within one.
std::vector<float> read_some_numbers(ByteStream& stream, std::uint64_t most, const NumberFormat& format,
                                     std::string_view speaker);
/// All numbers up to the end; refuses a part of one.
std::vector<float> read_all_numbers(ByteStream& stream, const NumberFormat& format, std::string_view speaker);

}  // namespace throughtime

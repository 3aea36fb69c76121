#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace throughtime {

// Questions about long lists of numbers, without a branch for each of them, so that compilers answer several at once.
// Who gets a yes looks for the place itself.

/// Whether any number is NaN or infinite: all bits of its exponent are set.
inline bool has_bad_number(std::span<const float> values) {
  std::uint32_t bad = 0;
  for (const float value : values) bad |= (std::bit_cast<std::uint32_t>(value) & 0x7f800000u) == 0x7f800000u;
  return bad != 0;
}

/// Whether any number is outside [low, high]; one that is none is outside of everything.
inline bool has_outside(std::span<const float> values, float low, float high) {
  std::uint32_t bad = 0;
  for (const float value : values) bad |= static_cast<std::uint32_t>(!(value >= low)) | !(value <= high);
  return bad != 0;
}

/// Whether any integer is outside [0, count).
inline bool has_outside(std::span<const std::int32_t> values, int count) {
  std::uint32_t bad = 0;
  for (const std::int32_t value : values) bad |= static_cast<std::uint32_t>(value) >= static_cast<std::uint32_t>(count);
  return bad != 0;
}

/// Whether any number is not 0: any bit but that of the sign is set.
inline bool has_nonzero(std::span<const float> values) {
  std::uint32_t bits = 0;
  for (const float value : values) bits |= std::bit_cast<std::uint32_t>(value);
  return (bits & 0x7fffffffu) != 0;
}

}  // namespace throughtime

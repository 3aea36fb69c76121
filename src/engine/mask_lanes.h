#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace throughtime {

/// What write_mask draws: words of Philox at this counter and at those that follow it in the counter's first word.
struct MaskDraw {
  std::array<std::uint32_t, 4> counter;
  std::array<std::uint32_t, 2> key;
  std::uint64_t threshold = 0;  // a word below it drops its element; at most 2^32
  float survivor = 1;           // what is left is multiplied by it
};

/// Writes the start of a mask with a register of counters at a time, the same numbers as one counter after the other
/// gives. Returns how many: a multiple of four, and less than a few registers are left. Where the instruction set has
/// no registers, none are written.
std::size_t write_mask_lanes(const MaskDraw& draw, std::span<float> mask);

}  // namespace throughtime

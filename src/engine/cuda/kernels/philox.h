#pragma once

#include <cstdint>

#include "engine/cuda/numbers.h"

namespace throughtime::cuda {

/// Four words, as `throughtime::Random::words` gives them.
struct RandomWords {
  std::uint32_t word[4];
};

/// Philox 4x32 with ten rounds (Salmon et al. 2011), for host and device.
THROUGHTIME_INLINE RandomWords philox(RandomWords counter, std::uint64_t key) {
  constexpr std::uint64_t multiplier[2] = {0xD2511F53u, 0xCD9E8D57u};
  constexpr std::uint32_t weyl[2] = {0x9E3779B9u, 0xBB67AE85u};
  std::uint32_t low_key = static_cast<std::uint32_t>(key), high_key = static_cast<std::uint32_t>(key >> 32);
  std::uint32_t* c = counter.word;
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t first = multiplier[0] * c[0], second = multiplier[1] * c[2];
    c[0] = static_cast<std::uint32_t>(second >> 32) ^ c[1] ^ low_key;
    c[2] = static_cast<std::uint32_t>(first >> 32) ^ c[3] ^ high_key;
    c[1] = static_cast<std::uint32_t>(second);
    c[3] = static_cast<std::uint32_t>(first);
    low_key += weyl[0];
    high_key += weyl[1];
  }
  return counter;
}

/// Random(key, purpose).words(iteration, sequence, element): the layout of the counter is that of throughtime/random.h.
THROUGHTIME_INLINE RandomWords random_words(std::uint64_t key, std::uint32_t purpose, std::uint64_t iteration,
                                            std::uint32_t sequence, std::uint64_t element) {
  return philox(
      {{static_cast<std::uint32_t>(element), sequence, static_cast<std::uint32_t>(iteration),
        static_cast<std::uint32_t>(iteration >> 32) | static_cast<std::uint32_t>(element >> 32) << 16 | purpose << 24}},
      key);
}

}  // namespace throughtime::cuda

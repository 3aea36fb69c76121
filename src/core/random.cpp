#include "throughtime/random.h"

#include <Random123/philox.h>

#include <cmath>
#include <numbers>

#include "core/counter.h"
#include "throughtime/error.h"

namespace throughtime {
namespace {

constexpr int iteration_bits = 48;
constexpr int element_bits = 40;
constexpr double two_to_minus_32 = 0x1p-32;

std::uint64_t join(std::uint32_t high, std::uint32_t low) { return static_cast<std::uint64_t>(high) << 32 | low; }

}  // namespace

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
  const philox4x32_ctr_t result =
      philox4x32_R(10, {{counter[0], counter[1], counter[2], counter[3]}}, {{key[0], key[1]}});
  return {result.v[0], result.v[1], result.v[2], result.v[3]};
}

std::array<std::uint32_t, 2> key_of(std::uint64_t seed) {
  return {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)};
}

std::array<std::uint32_t, 4> counter_of(Purpose purpose, std::uint64_t iteration, std::uint32_t sequence,
                                        std::uint64_t element) {
  if (iteration >> iteration_bits != 0 || element >> element_bits != 0)
    refuse("random", "a counter has {} bits of iteration and {} of element, got iteration {} and element {}",
           iteration_bits, element_bits, iteration, element);
  return {static_cast<std::uint32_t>(element), sequence, static_cast<std::uint32_t>(iteration),
          static_cast<std::uint32_t>(iteration >> 32) | static_cast<std::uint32_t>(element >> 32) << 16 |
              static_cast<std::uint32_t>(purpose) << 24};
}

std::array<std::uint32_t, 4> Random::words(std::uint64_t iteration, std::uint32_t sequence,
                                           std::uint64_t element) const {
  return philox(counter_of(purpose_, iteration, sequence, element), key_of(seed_));
}

double Random::uniform(std::uint64_t iteration, std::uint32_t sequence, std::uint64_t element) const {
  const auto word = words(iteration, sequence, element);
  return static_cast<double>(join(word[0], word[1]) >> 11) * 0x1p-53;
}

double Random::normal(std::uint64_t iteration, std::uint32_t sequence, std::uint64_t element) const {
  const auto word = words(iteration, sequence, element);
  const double radius = std::sqrt(-2.0 * std::log((word[0] + 1.0) * two_to_minus_32));  // of a number in (0, 1]
  return radius * std::cos(2.0 * std::numbers::pi * (word[1] * two_to_minus_32));
}

std::uint64_t Random::below(std::uint64_t bound, std::uint64_t iteration, std::uint32_t sequence,
                            std::uint64_t element) const {
  if (bound == 0) refuse("random", "a number below 0 does not exist, the bound must be at least 1");
  const auto word = words(iteration, sequence, element);
  using Wide = unsigned __int128;
  return static_cast<std::uint64_t>(static_cast<Wide>(join(word[0], word[1])) * bound >> 64);
}

}  // namespace throughtime

#pragma once

#include <array>
#include <cstdint>

namespace throughtime {

/// What a random number is for. Part of the counter: two purposes never share numbers.
enum class Purpose : std::uint32_t {
  initialise = 1,
  task = 2,
  dropout_input = 3,
  dropout_between = 4,
  dropout_output = 5,
  sampling = 6,
  shuffle = 7,
  positions = 8,
  past_places = 9,
  dropout_recurrent = 10,
  lengths = 12,
};

/// Counter-based random numbers (Philox 4x32, ten rounds): a number is a pure function of the seed and
/// of what it is for, never of how often a function was called before.
class Random {
 public:
  Random(std::uint64_t seed, Purpose purpose) : seed_(seed), purpose_(purpose) {}

  /// Four independent 32-bit words at counter (iteration, sequence, element): 48 bits of iteration, 32 of sequence
  /// and 40 of element, more are refused. The counter's words are, low bits first:
  /// [element 0-31], [sequence], [iteration 0-31], [iteration 32-47, element 32-39, purpose].
  std::array<std::uint32_t, 4> words(std::uint64_t iteration, std::uint32_t sequence, std::uint64_t element) const;

  /// Uniform in [0, 1), 53 bits.
  double uniform(std::uint64_t iteration, std::uint32_t sequence, std::uint64_t element) const;
  /// Standard normal (Box-Muller on two of the words).
  double normal(std::uint64_t iteration, std::uint32_t sequence, std::uint64_t element) const;
  /// Uniform integer in [0, bound), bound > 0, without modulo bias beyond 2^-64.
  std::uint64_t below(std::uint64_t bound, std::uint64_t iteration, std::uint32_t sequence,
                      std::uint64_t element) const;

 private:
  std::uint64_t seed_;
  Purpose purpose_;
};

/// Philox 4x32-10 itself, exposed for its known-answer tests.
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

}  // namespace throughtime

#pragma once

#include <cstdint>
#include <vector>

#include "throughtime/random.h"

namespace throughtime {

/// Cuts the rows of a recording into windows of random length, anew in every epoch, as those who trained AWD-LSTM do:
/// with probability 0.95 around the usual length, else around half of it, with a deviation of 5 steps, at least 5 and
/// at most `longest`. A window is a pure function of the seed, the epoch and its number; every step is in exactly one
/// window of an epoch, the last of which has what is left.
class RandomLengths {
 public:
  static constexpr int shortest = 5;

  struct Place {
    std::int64_t first = 0;  // of a row
    int steps = 0;
  };

  /// Refuses lengths that cannot be: `longest` below the shortest one.
  RandomLengths(std::uint64_t seed, int usual, int longest);

  int usual() const { return usual_; }
  int longest() const { return longest_; }
  /// The window of batch number `iteration`, where rows have that many steps.
  Place at(std::uint64_t iteration, std::int64_t row_steps);
  /// Batches of the first `epochs` epochs.
  std::int64_t batches(std::int64_t epochs, std::int64_t row_steps);

 private:
  int draw(std::int64_t epoch, std::size_t window) const;
  void begin(std::int64_t row_steps);
  /// Makes the windows of an epoch.
  void open(std::int64_t epoch);

  Random random_;
  int usual_, longest_;
  std::int64_t row_steps_ = 0;
  std::vector<std::int64_t> ends_;    // batches up to the end of epoch 0, 1, ...
  std::vector<std::int64_t> firsts_;  // of the open epoch's windows, and the end of the last one
  std::int64_t open_ = -1;
};

}  // namespace throughtime

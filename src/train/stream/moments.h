#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace throughtime {

/// Number, mean and sum of squared distances from it, value by value (Welford).
struct Moments {
  std::int64_t count = 0;
  double mean = 0;
  double squares = 0;  // sum of (value - mean)^2

  void add(double value) {
    ++count;
    const double distance = value - mean;
    mean += distance / static_cast<double>(count);
    squares += distance * (value - mean);
  }
  /// As if the values of the other had been added too.
  void add(const Moments& other) {
    if (other.count == 0) return;
    const auto mine = static_cast<double>(count), theirs = static_cast<double>(other.count);
    const double distance = other.mean - mean;
    count += other.count;
    mean += distance * theirs / (mine + theirs);
    squares += other.squares + distance * distance * mine * theirs / (mine + theirs);
  }
  /// Makes room for one more: of `most` values, each fades a little, and together they count as one fewer.
  void fade(std::int64_t most) {
    if (most == 0 || count < most) return;
    squares *= static_cast<double>(most - 1) / static_cast<double>(count);
    count = most - 1;
  }
  double deviation() const { return count > 1 ? std::sqrt(squares / static_cast<double>(count)) : 0.0; }
};

}  // namespace throughtime

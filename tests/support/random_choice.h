#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "support/numeric.h"
#include "throughtime/random.h"

namespace throughtime::testing {

/// Random choices of one test case, by name of what is chosen.
class Choice {
 public:
  explicit Choice(std::uint64_t seed) : random_(seed, Purpose::sampling) {}
  int between(int low, int high) { return low + static_cast<int>(random_.below(high - low + 1, 0, 0, next_++)); }
  bool yes() { return between(0, 1) == 1; }
  template <class T>
  T one_of(const std::vector<T>& values) {
    return values[static_cast<std::size_t>(between(0, static_cast<int>(values.size()) - 1))];
  }

 private:
  Random random_;
  std::uint64_t next_ = 0;
};

/// |got - wanted| relative to the length of `wanted`; a result that vanishes is measured against `scale` instead.
inline void expect_close(const char* what, const std::vector<double>& got, const std::vector<double>& wanted,
                         double scale) {
  EXPECT_LT(distance(got, wanted), 1e-5 * std::max(norm(wanted), scale)) << what;
}

}  // namespace throughtime::testing

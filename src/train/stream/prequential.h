#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "throughtime/archive.h"
#include "throughtime/index.h"

namespace throughtime {

/// Means of errors that were made before anything was learned from the answer: over the last `window` of them, and over
/// all since the start.
class PrequentialMean {
 public:
  explicit PrequentialMean(int window) : window_(elements(window)) { last_.reserve(window_); }

  void add(double error);
  /// NaN where there is none yet.
  double rolling() const;
  double cumulative() const;
  std::int64_t count() const { return count_; }
  void archive(Archive& archive);

 private:
  std::size_t window_;
  std::vector<double> last_;  // at most `window`, the next one goes to count % window
  double sum_ = 0;
  std::int64_t count_ = 0;
};

}  // namespace throughtime

// Who works on a row together: some lanes of a warp, a block (reduce.cuh), or, on a host, one alone. A body is written
// once for all of them: it walks i = lane, lane + lanes, ... and joins what the lanes found. `lanes` is a power of two.
#pragma once

#include "engine/cuda/numbers.h"

namespace throughtime::cuda {

struct OneLane {
  static constexpr int batch = 1;  // numbers that a lane reads before it uses the first
  int lane = 0, lanes = 1;
  THROUGHTIME_INLINE double sum(double x) const { return x; }
  THROUGHTIME_INLINE float largest(float x) const { return x; }
  THROUGHTIME_INLINE bool any(bool x) const { return x; }
  /// What lanes read before it, no lane overwrites before all have.
  THROUGHTIME_INLINE void meet() const {}
};

/// Calls visit(first, x) with x[k] = from[first + k * lanes] for the lane's share of [0, count), a batch at a time;
/// behind the end x[k] is `filler`.
template <class Group, class Visit>
THROUGHTIME_INLINE void walk(const Group& group, int count, const float* from, float filler, Visit&& visit) {
  constexpr int batch = Group::batch;
  for (int first = group.lane; first < count; first += batch * group.lanes) {
    float x[batch];
    for (int k = 0; k < batch; ++k) {
      const int i = first + k * group.lanes;
      x[k] = i < count ? from[i] : filler;
    }
    visit(first, x);
  }
}

}  // namespace throughtime::cuda

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "learners/online/step_ring.h"
#include "throughtime/random.h"

namespace throughtime {

/// Random places in the rounds that a stream still holds, for estimates (StretchShape::positions). A place ends at a
/// step with a target; it may cross rounds in which its slot was held, and starts of streams, and says so in its flags.
class PastPlaces {
 public:
  PastPlaces(const StepRing& ring, std::uint64_t seed);

  /// Weights and flags [B] of the round that the ring has just ended.
  void note(std::span<const float> weight, std::span<const StepFlag> flag);
  /// A window [steps, rows] with a loss at its last step alone, which lives until the next call. It has 0 steps where
  /// fewer than `rows` places of that length are held.
  const Window& places(std::uint64_t draw, int rows, int steps);
  void archive(Archive& archive);

 private:
  struct Place {
    int slot;
    std::int64_t end;
  };
  std::size_t entry(std::int64_t position, int slot) const;
  bool good(const Place& place) const { return weight_[entry(place.end, place.slot)] != 0; }
  bool count_places(int rows, int steps);
  Place draw_place(std::uint64_t draw, int row) const;
  void aim(int row, const Place& place);

  const StepRing& ring_;
  Random random_;
  std::vector<float> weight_;     // [capacity, B], the round of position p at p % capacity
  std::vector<StepFlag> flag_;    // likewise
  std::int64_t choices_ = 0;      // places of the draw, those without a target included
  std::int64_t with_target_ = 0;  // those with one
  Window window_;
};

}  // namespace throughtime

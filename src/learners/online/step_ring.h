#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "throughtime/online.h"

namespace throughtime {

/// The last `capacity` rounds of B streams as sources, one per slot. Every step is written twice, `capacity` apart, so
/// that the last ones always lie end to end: no step ever moves the others.
class StepRing {
 public:
  StepRing(const Model& model, int slots, int capacity);

  /// Writes the slot's step of the open round.
  void put(int slot, const StepInput& x, const StepTarget& y);
  /// Ends the round; steps that were not put are zero.
  void advance();
  /// Rounds so far: the position of the open one.
  std::int64_t position() const { return position_; }
  int slots() const { return slots_; }
  std::size_t capacity() const { return capacity_; }
  std::span<const Source> sources() const { return sources_; }
  void archive(Archive& archive);

 private:
  /// Rows of one slot: the whole of a channel is [B, 2 * capacity, width].
  template <class T>
  struct Channel {
    std::size_t width = 0;
    std::vector<T> numbers;
  };
  template <class T>
  Channel<T> make_channel(int width) const;
  template <class T>
  std::size_t place(const Channel<T>& channel, int slot, std::size_t row) const;
  template <class T>
  void write(Channel<T>& channel, int slot, std::span<const T> values);
  template <class T>
  std::span<const T> view(const Channel<T>& channel, int slot) const;
  void aim_sources();

  int slots_;
  int vocabulary_, classes_;  // what tokens and labels are below
  std::size_t capacity_;
  std::int64_t position_ = 0;
  Channel<float> reals_, targets_;
  Channel<std::int32_t> tokens_, labels_;
  std::vector<std::uint8_t> written_;  // [B]: in the open round
  std::vector<Source> sources_;        // [B]
};

}  // namespace throughtime

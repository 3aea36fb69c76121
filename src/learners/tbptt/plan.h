#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "learners/tbptt/lengths.h"

namespace throughtime {

// Which windows a stretch is cut into. Steps are counted from the start of the stretch; those of the stretches before
// it are negative.

/// Pieces of a stretch that no window looks back out of.
struct Chunks {
  int steps = 0;       // of a chunk; 0: there are none
  bool stale = false;  // windows begin with the states that the released code takes at the ends of a chunk
};
/// Refuses chunks that cannot be.
void check_chunks(std::string_view speaker, const Chunks& chunks);

/// Cells [first, end) of which [first_loss, end) carry a loss.
struct TruncatedWindow {
  int first = 0;
  int first_loss = 0;
  int end = 0;
  int ahead = 0;   // steps from `end` on whose losses flow in
  int losses = 0;  // the losses it is meant to have: more than end - first_loss where a stretch or chunk begins
};

/// Where a later window may begin, and the step whose state before it is taken for that: the same one, but for stale
/// states.
struct Start {
  int position = 0;
  int taken = 0;
};

/// One or two of them, the earlier one first.
class Starts {
 public:
  void add(int position) { list_[count_++] = {position, position}; }
  Start& first() { return list_[0]; }
  std::span<const Start> all() const { return {list_.data(), count_}; }

 private:
  std::array<Start, 2> list_ = {};
  std::size_t count_ = 0;
};

/// The windows of a stretch of T steps after `history` known ones: each moves on by the stride, the last of a stretch
/// or of a chunk by what is left.
class WindowPlan {
 public:
  WindowPlan(const Lengths& lengths, const Chunks& chunks, int steps, int history)
      : lengths_(lengths), chunks_(chunks), steps_(steps), history_(history) {}

  /// The window whose predecessor ended before step `begin`.
  TruncatedWindow window(int begin) const;
  /// Which states must be kept while `window` passes, so that the next one can begin. The length of the next stretch is
  /// not known: its first window begins at the later of two states if it moves by a whole stride, and is reached from
  /// the earlier one if it is shorter.
  Starts starts_after(const TruncatedWindow& window) const;
  /// The first cell of the next stretch's first window, were that stretch one step long.
  int earliest_start() const;

 private:
  int end_after(int begin) const;
  std::int64_t first_cell(std::int64_t end) const;  // of the window that ends before step `end`
  std::int64_t chunk_of(std::int64_t step) const;   // the first step of its chunk
  int stale_position(const TruncatedWindow& window, int right) const;

  Lengths lengths_;
  Chunks chunks_;
  int steps_;  // T
  int history_;
};

}  // namespace throughtime

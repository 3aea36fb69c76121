#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "learners/fpp/state_cells.h"
#include "learners/fpp/transitions.h"
#include "throughtime/random.h"

namespace throughtime {

/// What FPP's updates learn from: trajectories of T transitions of the buffer, drawn at random, one per row, and the
/// cells of the states at both ends.
class TrajectoryDraws {
 public:
  /// Trajectories of `rows` rows; the buffer and its cells must outlive it.
  TrajectoryDraws(const FppConfig& config, const Transitions& transitions, const StateCells& cells, int rows,
                  std::uint64_t seed);

  struct Rows {
    std::vector<std::int64_t> start_cells, end_cells;  // [R]: where s_{i-T} and s_i are
    std::vector<std::int64_t> active;                  // rows that take part
  };
  void reserve(Rows& drawn) const;

  /// Draws the ends of the rows' trajectories, uniformly over those that lie inside one sequence. False: there is none.
  bool draw(int T, Rows& drawn);
  /// The window of the last draw: o_{i-T+1} ... o_i of each row, a loss at its last step.
  const Window& window() const { return part_; }
  /// Of a row of the last draw: i, and the stream it belongs to.
  std::int64_t end(std::int64_t row) const { return part_.start[row] + part_.steps - 1; }
  int stream(std::int64_t row) const { return part_.source[row]; }
  /// The cell of s_{i-T}: after the transition before the window, or the start of the sequence.
  std::int64_t first_state(std::int64_t end, int stream, int T) const {
    return transitions_.run(end, stream) == T ? cells_.before_first(end - T + 1, stream)
                                              : cells_.after(end - T, stream);
  }
  void archive(Archive& archive) { archive.integer("draws", draws_); }

 private:
  bool may_end(std::int64_t end, int row, int T) const;
  std::int64_t pick_end(std::int64_t low, std::int64_t high, int T, std::uint64_t number) const;
  std::pair<std::int64_t, int> pick_pair(std::int64_t low, std::int64_t high, int T, std::uint64_t number,
                                         std::uint32_t block) const;
  template <class Good>
  std::int64_t pick(std::int64_t choices, std::uint64_t number, std::uint32_t row, const Good& good) const;
  void set_length(int T);
  void aim(Rows& drawn, int row, int stream, std::int64_t end, int T, bool active);

  FppBatch batch_;
  FppSample sample_;
  FppEnds ends_;
  bool newest_;  // the newest transition may be drawn
  const Transitions& transitions_;
  const StateCells& cells_;
  int rows_;  // R
  Random random_;
  Window part_;
  std::int64_t draws_ = 0;  // trajectories drawn: the counter of their random numbers
};

}  // namespace throughtime

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "throughtime/archive.h"
#include "throughtime/engine.h"
#include "throughtime/learners/fpp.h"

namespace throughtime {

/// The state variables of FPP. The state after transition t is the state before t + 1: one cell, of a ring of N + 1.
/// Where a sequence begins the state before its first step is a variable of its own, in a second ring.
class StateCells {
 public:
  /// For N transitions of `streams` streams, moved `rows` cells at a time.
  StateCells(Engine& engine, const FppConfig& config, int streams, int rows);

  std::int64_t after(std::int64_t t, int stream) const { return slot(t) * streams_ + stream; }
  std::int64_t before_first(std::int64_t t, int stream) const { return (ring_ + slot(t)) * streams_ + stream; }

  /// A cell for rows that take no part in an update.
  std::int64_t nobodys() const { return 2 * ring_ * streams_; }

  /// states [B, S] of all streams after transition t.
  void read(std::int64_t t, Buffer states);
  /// Puts the states after t into their cells; a row that was reset before t starts from a new cell of zeros.
  void append(std::int64_t t, std::span<const std::uint8_t> reset, Buffer states);
  void gather(std::span<const std::int64_t> cells, Buffer values) const;
  /// One step of the state optimizer on the cells, whose gathered `values` [rows, S] and gradients are given.
  void descend(std::span<const std::int64_t> cells, Buffer values, Buffer gradient, double scale);
  void archive(Archive& archive);

 private:
  std::int64_t slot(std::int64_t t) const { return t < 0 ? ring_ - 1 : t % ring_; }

  Engine& engine_;
  double rate_;
  bool overwrites_;  // of two gradients for one cell the last one stays
  bool regather_;    // gathered values may be older than the cells
  int streams_;
  int width_;                                  // S
  std::int64_t ring_;                          // N + 1
  Buffer table_;                               // [2, N + 1, B, S] and nobody's cell [S]
  Buffer moments_;                             // likewise: the mean squares of rmsprop
  Buffer zeros_;                               // [B, S]
  std::unique_ptr<OptimizerState> optimizer_;  // of `rows` cells; their moments come from the table
  std::vector<std::int64_t> cells_;            // room for the cells of all streams
};

}  // namespace throughtime

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/row_store.h"
#include "throughtime/archive.h"
#include "throughtime/index.h"
#include "throughtime/model.h"
#include "throughtime/window.h"

namespace throughtime {

/// The last N steps of B streams, with inputs and targets of its own: a learner may look at any of them when the task
/// has long dropped them. Positions count from 0 and never begin again; memory does not grow with them.
class Transitions {
 public:
  Transitions(const Model& model, int capacity, int rows);

  /// Takes step `step` of a stretch over; the oldest step goes where there are more than N.
  void append(const Window& stretch, int step);

  int rows() const { return rows_; }
  std::int64_t size() const { return size_; }
  bool full() const { return size_ == capacity_; }
  std::int64_t newest() const { return end_ - 1; }
  std::int64_t oldest() const { return end_ - size_; }
  float weight(std::int64_t position, int row) const { return weights_[entry(position, row)]; }
  /// Steps of the row since its state was last zero, this one and held ones included; 0: padding, which nobody may
  /// learn from, or no sequence has begun.
  std::int32_t run(std::int64_t position, int row) const { return runs_[entry(position, row)]; }

  /// The row slept through this step: there is no input, no target, and the state stayed.
  bool held(std::int64_t position, int row) const { return held_[entry(position, row)] != 0; }
  /// Whether any row did, among the last N steps.
  bool any_held() const { return last_held_ >= oldest(); }

  /// Flags the steps [first, first + window.steps) at which a row's stream slept.
  void mark_held(Window& window, int row, int stream, std::int64_t first) const;

  /// One source per row; windows over them read targets from the source.
  std::span<const Source> sources() const { return sources_; }
  void archive(Archive& archive);

 private:
  std::size_t entry(std::int64_t position, int row) const { return elements(position - first_, rows_) + row; }
  std::int32_t next_run(const Window& stretch, int step, int row) const;
  void copy_target(const Window& stretch, int step, int row, std::size_t to);
  void drop_past();
  void describe_sources();

  const Model& model_;
  std::int64_t capacity_;  // N
  int rows_;               // B
  std::int64_t size_ = 0;
  std::int64_t end_ = 0;        // position after the newest
  std::int64_t first_ = 0;      // position of index 0 of the stores below, which have room for 2 N steps
  bool distributions_ = false;  // targets are values although the head takes labels
  RowStore<float> values_, targets_;
  RowStore<std::int32_t> tokens_, labels_;
  std::vector<float> weights_;      // [2 N, B]
  std::vector<std::int32_t> runs_;  // [2 N, B]
  std::vector<std::uint8_t> held_;  // [2 N, B]
  std::int64_t last_held_ = -1;     // the last position where a row was held
  std::vector<Source> sources_;     // [B]
};

}  // namespace throughtime

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "throughtime/learner.h"

namespace throughtime {

/// Consecutive blocks [first, last) of a stretch, counted from its start. Whoever owns them works on them alone, but
/// for two borders: h_last must be known to hold the last block's end to, and what this adds to dL/dh_last belongs to
/// its owner.
struct BlockRange {
  int first = 0;
  int last = 0;
  int count() const { return last - first; }
};

/// Some blocks of all R rows of a stretch, side by side as the rows of one window of B steps: row (j - first) R + r
/// shows block j of row r. Rows that are left over at the end have no loss and no part in anything.
struct BlockShard {
  BlockRange range;
  Window window;                    // [B, shard rows]
  Window silent;                    // the same without losses
  std::vector<std::int64_t> entry;  // [rows in use]: the state before a block, as a row of the tables
  std::vector<std::int64_t> exit;   // [rows in use]: the state after it
  std::vector<std::int64_t> loose;  // rows of the window without a spring at their end
};

/// How stretches are cut into blocks of B steps, and where the states between blocks are: tables of states have rows
/// for h_0, ..., h_N of every row of a stretch, [N + 1, R, S], with h_j before block j. The last block of a stretch
/// whose steps B does not divide is shorter.
class Blocks {
 public:
  /// `shard_blocks` blocks are a shard. `last_spring`: the last block has a spring too, to h_N.
  Blocks(const StretchShape& shape, int block, int shard_blocks, bool last_spring);

  /// All blocks of a stretch, or those that are owned. The stretch must live until the next call.
  void begin(const Window& stretch) { begin(stretch, {0, blocks_of(stretch)}); }
  void begin(const Window& stretch, BlockRange owned);
  const Window& stretch() const { return *stretch_; }
  int block() const { return block_; }         // B
  int rows() const { return rows_; }           // R
  BlockRange range() const { return range_; }  // [0, N) of this stretch, or what is owned of it
  int shard_rows() const { return shard_blocks_ * rows_; }
  int shard_blocks() const { return shard_blocks_; }
  std::int64_t table_rows() const { return table_rows(most_, rows_); }
  static std::int64_t table_rows(const StretchShape& shape, int block) {
    return table_rows(most_blocks(shape, block), shape.batch);
  }
  int steps_of(BlockRange range) const;  // of all its blocks together

  int shards() const { return (range_.count() + shard_blocks_ - 1) / shard_blocks_; }
  BlockRange range_of(int shard) const;
  /// Cuts a shard, unless it was the last one asked for.
  const BlockShard& shard(int index);

  /// Whether the end of a block of a row is held to the state before the next one.
  bool has_spring(int block, int stretch_row) const;

  /// [R]: rows of the tables with h_j of all rows of the stretch; lives until the next call.
  std::span<const std::int64_t> border(int j);

 private:
  static int most_blocks(const StretchShape& shape, int block);
  static std::int64_t table_rows(int most, int rows) { return (std::int64_t{most} + 1) * rows; }
  int blocks_of(const Window& stretch) const { return (stretch.steps + block_ - 1) / block_; }
  void cut_row(int row, int block, int stretch_row);
  void cut_targets();

  int block_, rows_, shard_blocks_, most_;
  bool last_spring_;
  const Window* stretch_ = nullptr;
  BlockRange range_;
  BlockShard shard_;
  int cut_ = -1;                      // the shard that is cut
  std::vector<std::int32_t> labels_;  // of targets that belong to rows or to steps of a stretch
  std::vector<float> values_;
  std::vector<std::int64_t> border_;
};

}  // namespace throughtime

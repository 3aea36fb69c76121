#include "learners/target_propagation/blocks.h"

#include <algorithm>
#include <numeric>

#include "learners/support.h"

namespace throughtime {
namespace {

int most_blocks(const StretchShape& shape, int block) {
  const std::int64_t steps = shape.row_steps > 0 ? std::min<std::int64_t>(shape.steps, shape.row_steps) : shape.steps;
  return static_cast<int>((steps + block - 1) / block);
}

}  // namespace

TargetBlocks::TargetBlocks(const StretchShape& shape, int block, int shard_blocks, bool last_target)
    : block_(block), rows_(shape.batch), most_(most_blocks(shape, block)), last_target_(last_target) {
  shard_blocks_ = shard_blocks > 0 ? std::min(shard_blocks, most_) : most_;
  const int rows = shard_rows();
  for (Window* window : {&shard_.window, &shard_.silent}) reserve(*window, block, rows);
  for (auto* list : {&shard_.entry, &shard_.exit, &shard_.loose}) list->reserve(static_cast<std::size_t>(rows));
  border_.resize(static_cast<std::size_t>(rows_));
}

void TargetBlocks::begin(const Window& stretch, BlockRange owned) {
  stretch_ = &stretch;
  range_ = owned;
  cut_ = -1;
}

BlockRange TargetBlocks::range_of(int shard) const {
  const int first = range_.first + shard * shard_blocks_;
  return {first, std::min(range_.last, first + shard_blocks_)};
}

int TargetBlocks::steps_of(BlockRange range) const {
  return std::min(stretch_->steps, range.last * block_) - range.first * block_;
}

std::span<const std::int64_t> TargetBlocks::border(int j) {
  std::iota(border_.begin(), border_.end(), std::int64_t{j} * rows_);
  return border_;
}

/// A spring ends where the sequence does: a state that is reset before the next block owes nothing to this one.
bool TargetBlocks::has_spring(int block, int stretch_row) const {
  if (block + 1 == blocks_of(*stretch_)) return last_target_;
  return !stretch_->resets_at((block + 1) * block_, stretch_row);
}

const BlockShard& TargetBlocks::shard(int index) {
  if (index == cut_) return shard_;
  cut_ = index;
  shard_.range = range_of(index);
  Window& window = shard_.window;
  const auto rows = static_cast<std::size_t>(shard_rows());
  window.steps = std::min(block_, steps_of({shard_.range.first, shard_.range.first + 1}));
  window.batch = shard_rows();
  window.sources = stretch_->sources;
  window.start.assign(rows, stretch_->start[0]);
  window.source.assign(stretch_->source.empty() ? 0 : rows, stretch_->source.empty() ? 0 : stretch_->source[0]);
  window.example.assign(stretch_->example.empty() ? 0 : rows, -1);
  window.weight.assign(static_cast<std::size_t>(window.steps) * rows, 0.0f);
  const bool flags = !stretch_->reset.empty() || steps_of(shard_.range) < shard_.range.count() * window.steps;
  window.reset.assign(flags ? window.weight.size() : 0, 0);
  window.mask_key = stretch_->mask_key;
  window.mask_step = stretch_->mask_step + std::int64_t{shard_.range.first} * block_;
  window.continues = true;
  shard_.entry.clear();
  shard_.exit.clear();
  shard_.loose.clear();
  int row = 0;
  for (int block = shard_.range.first; block < shard_.range.last; ++block)
    for (int of = 0; of < rows_; ++of, ++row) cut_row(row, block, of);
  for (; row < window.batch; ++row) shard_.loose.push_back(row);
  cut_targets();
  shard_.silent = window;  // no allocation: it had this size before
  std::fill(shard_.silent.weight.begin(), shard_.silent.weight.end(), 0.0f);
  return shard_;
}

/// A short block is aligned at its end: it is held during the steps before its first one.
void TargetBlocks::cut_row(int row, int block, int stretch_row) {
  Window& window = shard_.window;
  const auto r = static_cast<std::size_t>(row), of = static_cast<std::size_t>(stretch_row);
  const int held = window.steps - steps_of({block, block + 1});
  const int first = block * block_ - held;  // of the stretch
  window.start[r] = stretch_->start[of] + first;
  if (!window.source.empty()) window.source[r] = stretch_->source[of];
  if (!window.example.empty()) window.example[r] = stretch_->example[of];
  for (int step = 0; step < window.steps; ++step) {
    const std::size_t entry = static_cast<std::size_t>(step) * static_cast<std::size_t>(window.batch) + r;
    if (step >= held) window.weight[entry] = stretch_->weight_at(first + step, stretch_row);
    if (!window.reset.empty())
      window.reset[entry] = step < held ? Window::hold_flag : stretch_->flag_at(first + step, stretch_row);
  }
  shard_.entry.push_back(std::int64_t{block} * rows_ + stretch_row);
  shard_.exit.push_back(shard_.entry.back() + rows_);
  if (!has_spring(block, stretch_row)) shard_.loose.push_back(row);
}

/// Targets of the source come along with the positions; those of the window are put where the blocks are now.
void TargetBlocks::cut_targets() {
  const Targets& from = stretch_->targets;
  Window& window = shard_.window;
  window.targets = from;
  const bool per_step = from.layout == TargetLayout::per_step;
  if (!per_step && from.layout != TargetLayout::per_row) return;
  const auto batch = static_cast<std::size_t>(window.batch), width = static_cast<std::size_t>(from.width);
  const std::size_t entries = (per_step ? static_cast<std::size_t>(window.steps) : 1) * batch;
  labels_.assign(from.labels.empty() ? 0 : entries, 0);
  values_.assign(from.values.empty() ? 0 : entries * width, 0.0f);
  for (std::size_t row = 0; row < shard_.entry.size(); ++row) {
    const int block = static_cast<int>(shard_.entry[row] / rows_);
    const auto of = static_cast<std::size_t>(shard_.entry[row] % rows_);
    const int held = window.steps - steps_of({block, block + 1});
    for (int step = per_step ? held : 0; step < (per_step ? window.steps : 1); ++step) {
      const auto shown = static_cast<std::size_t>(per_step ? block * block_ - held + step : 0);
      const std::size_t source = shown * static_cast<std::size_t>(rows_) + of;
      const std::size_t entry = static_cast<std::size_t>(step) * batch + row;
      if (!labels_.empty()) labels_[entry] = from.labels[source];
      if (!values_.empty())
        std::copy_n(from.values.begin() + static_cast<std::ptrdiff_t>(source * width), width,
                    values_.begin() + static_cast<std::ptrdiff_t>(entry * width));
    }
  }
  window.targets.labels = labels_;
  window.targets.values = values_;
}

}  // namespace throughtime

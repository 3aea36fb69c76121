#include "learners/target_propagation/blocks.h"

#include <algorithm>
#include <numeric>

#include "learners/support.h"

namespace throughtime {

/// A row of the training data may be shorter than a stretch may be.
int Blocks::most_blocks(const StretchShape& shape, int block) {
  const std::int64_t steps = shape.row_steps > 0 ? std::min<std::int64_t>(shape.steps, shape.row_steps) : shape.steps;
  return static_cast<int>((steps + block - 1) / block);
}

Blocks::Blocks(const StretchShape& shape, int block, int shard_blocks, bool last_spring)
    : block_(block), rows_(shape.batch), most_(most_blocks(shape, block)), last_spring_(last_spring) {
  shard_blocks_ = shard_blocks > 0 ? std::min(shard_blocks, most_) : most_;
  const int rows = shard_rows();
  for (Window* window : {&shard_.window, &shard_.silent}) reserve(*window, block, rows);
  for (auto* list : {&shard_.entry, &shard_.exit, &shard_.loose}) list->reserve(elements(rows));
  border_.resize(elements(rows_));
}

void Blocks::begin(const Window& stretch, BlockRange owned) {
  stretch_ = &stretch;
  range_ = owned;
  cut_ = -1;
}

BlockRange Blocks::range_of(int shard) const {
  const int first = range_.first + shard * shard_blocks_;
  return {first, std::min(range_.last, first + shard_blocks_)};
}

int Blocks::steps_of(BlockRange range) const {
  return std::min(stretch_->steps, range.last * block_) - range.first * block_;
}

std::span<const std::int64_t> Blocks::border(int j) {
  std::iota(border_.begin(), border_.end(), std::int64_t{j} * rows_);
  return border_;
}

/// A spring ends where the sequence does: a state that is reset before the next block owes nothing to this one.
bool Blocks::has_spring(int block, int stretch_row) const {
  if (block + 1 == blocks_of(*stretch_)) return last_spring_;
  return !stretch_->resets_at((block + 1) * block_, stretch_row);
}

const BlockShard& Blocks::shard(int index) {
  if (index == cut_) return shard_;
  cut_ = index;
  shard_.range = range_of(index);
  Window& window = shard_.window;
  const std::size_t rows = elements(shard_rows());
  window.steps = std::min(block_, steps_of({shard_.range.first, shard_.range.first + 1}));
  window.batch = shard_rows();
  window.sources = stretch_->sources;
  window.start.assign(rows, stretch_->start[0]);
  window.source.assign(stretch_->source.empty() ? 0 : rows, stretch_->source.empty() ? 0 : stretch_->source[0]);
  window.example.assign(stretch_->example.empty() ? 0 : rows, -1);
  window.weight.assign(elements(window.steps, window.batch), 0.0f);
  const bool flags = !stretch_->flags.empty() || steps_of(shard_.range) < shard_.range.count() * window.steps;
  window.flags.assign(flags ? window.weight.size() : 0, StepFlag::go_on);
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
void Blocks::cut_row(int row, int block, int stretch_row) {
  Window& window = shard_.window;
  const int held = window.steps - steps_of({block, block + 1});
  const int first = block * block_ - held;  // of the stretch
  window.start[row] = stretch_->start[stretch_row] + first;
  if (!window.source.empty()) window.source[row] = stretch_->source[stretch_row];
  if (!window.example.empty()) window.example[row] = stretch_->example[stretch_row];
  for (int step = 0; step < window.steps; ++step) {
    const std::size_t entry = elements(step, window.batch) + row;
    if (step >= held) window.weight[entry] = stretch_->weight_at(first + step, stretch_row);
    if (!window.flags.empty())
      window.flags[entry] = step < held ? StepFlag::hold : stretch_->flag_at(first + step, stretch_row);
  }
  shard_.entry.push_back(std::int64_t{block} * rows_ + stretch_row);
  shard_.exit.push_back(shard_.entry.back() + rows_);
  if (!has_spring(block, stretch_row)) shard_.loose.push_back(row);
}

/// Targets of the source come along with the positions; those of the window are put where the blocks are now.
void Blocks::cut_targets() {
  const Targets& from = stretch_->targets;
  Window& window = shard_.window;
  window.targets = from;
  const bool per_step = from.layout == TargetLayout::per_step;
  if (!per_step && from.layout != TargetLayout::per_row) return;
  const std::size_t width = elements(from.width), entries = elements(per_step ? window.steps : 1, window.batch);
  labels_.assign(from.labels.empty() ? 0 : entries, 0);
  values_.assign(from.values.empty() ? 0 : entries * width, 0.0f);
  for (std::size_t row = 0; row < shard_.entry.size(); ++row) {
    const int block = static_cast<int>(shard_.entry[row] / rows_);
    const std::size_t of = elements(shard_.entry[row] % rows_);
    const int held = window.steps - steps_of({block, block + 1});
    for (int step = per_step ? held : 0; step < (per_step ? window.steps : 1); ++step) {
      const std::size_t source = elements(per_step ? block * block_ - held + step : 0, rows_) + of;
      const std::size_t entry = elements(step, window.batch) + row;
      if (!labels_.empty()) labels_[entry] = from.labels[source];
      if (!values_.empty()) std::copy_n(from.values.begin() + source * width, width, values_.begin() + entry * width);
    }
  }
  window.targets.labels = labels_;
  window.targets.values = values_;
}

}  // namespace throughtime

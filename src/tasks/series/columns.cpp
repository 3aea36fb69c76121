#include "tasks/series/columns.h"

#include <algorithm>
#include <utility>

#include "tasks/batches.h"
#include "throughtime/error.h"
#include "throughtime/index.h"
#include "throughtime/random.h"

namespace throughtime {

ColumnTask::ColumnTask(std::string name, std::uint64_t seed, const ColumnShape& shape)
    : name_(std::move(name)),
      seed_(seed),
      window_steps_(shape.window),
      overlap_(shape.overlap),
      evaluation_columns_(shape.evaluation_columns) {
  if (window_steps_ < 1) refuse(name_, "task.{}.length must be at least 1, got {}", name_, window_steps_);
  if (shape.longest > 0) lengths_.emplace(seed, shape.window, shape.longest);
}

std::int64_t ColumnTask::train_batches(std::int64_t epochs, int batch) const {
  return lengths_ ? lengths_->batches(epochs, row_steps(batch)) : Task::train_batches(epochs, batch);
}

RandomLengths::Place ColumnTask::place(Split split, std::uint64_t iteration, std::int64_t length) const {
  if (split == Split::train && lengths_) return lengths_->at(iteration, length);
  const std::int64_t pass = (length + window_steps_ - 1) / window_steps_;
  const std::int64_t first = static_cast<std::int64_t>(iteration) % pass * window_steps_;
  return {first, static_cast<int>(std::min<std::int64_t>(window_steps_, length - first))};
}

std::int64_t ColumnTask::batches(Split split, int batch) const {
  if (split == Split::train && lengths_) return train_batches(1, batch);
  return (std::max<std::int64_t>(0, column_steps(split, batch)) + window_steps_ - 1) / window_steps_;
}

const Window& ColumnTask::make_batch(Split split, std::uint64_t iteration, int batch) {
  require_rows(name_, batch);
  const std::int64_t length = column_steps(split, batch);
  if (length < 1)
    refuse(name_, "the {} part has {} step{}, too few to read {} rows side by side: {} are possible ({})",
           split_name(split), std::max<std::int64_t>(0, entries(split)), entries(split) == 1 ? "" : "s", batch,
           std::max<std::int64_t>(0, entries(split)) / (1 + overlap_),
           split == Split::train ? std::string("train.batch") : fmt::format("task.{}.evaluation_columns", name_));
  split_iteration(split, iteration);  // refuses what no split has
  const auto [first, steps] = place(split, iteration, length);
  const auto rows = elements(batch);
  const std::int64_t stride = entries(split) / batch;
  window_.steps = steps;
  window_.batch = batch;
  window_.sources = {&source(split), 1};
  window_.start.resize(rows);
  for (std::size_t row = 0; row < rows; ++row) window_.start[row] = static_cast<std::int64_t>(row) * stride + first;
  window_.weight.assign(elements(window_.steps, batch), 1.0f);
  fall_silent(split, window_);
  window_.mask_key = batch_mask_key(seed_, split, iteration);
  window_.mask_step = first;
  window_.continues = first > 0;
  fill_resets(split, window_);
  return window_;
}

void ColumnTask::fill_resets(Split split, Window& window) const {
  const std::span<const std::uint8_t> resets = resets_[static_cast<std::size_t>(split)];
  const auto rows = window.start.size();
  window.flags.resize(resets.empty() ? 0 : window.weight.size());
  for (std::size_t i = 0; i < window.flags.size(); ++i) {
    const auto position = elements(window.start[i % rows]) + i / rows;
    window.flags[i] = resets[position] != 0 ? StepFlag::reset : StepFlag::go_on;
  }
}

void ColumnTask::fall_silent(Split split, Window& window) const {
  const std::span<const std::uint8_t> silent = silent_[static_cast<std::size_t>(split)];
  const auto rows = window.start.size();
  for (std::size_t i = 0; !silent.empty() && i < window.weight.size(); ++i)
    if (silent[elements(window.start[i % rows]) + i / rows] != 0) window.weight[i] = 0;
}

const Window& ColumnTask::make_positions(std::uint64_t draw, int columns, int rows, int steps) {
  require_rows(name_, rows);
  const std::int64_t length = row_steps(columns);
  require_long_data(name_, steps, length);
  const Random random(seed_, Purpose::positions);
  const auto count = elements(rows);
  const std::int64_t stride = entries(Split::train) / columns;
  positions_.steps = steps;
  positions_.batch = rows;
  positions_.sources = {&source(Split::train), 1};
  positions_.start.resize(count);
  for (std::size_t row = 0; row < count; ++row) {
    const auto sequence = static_cast<std::uint32_t>(row);
    const auto column = random.below(static_cast<std::uint64_t>(columns), draw, sequence, 0);
    const auto first = random.below(static_cast<std::uint64_t>(length - steps + 1), draw, sequence, 1);
    positions_.start[row] = static_cast<std::int64_t>(column) * stride + static_cast<std::int64_t>(first);
  }
  positions_.weight.assign(elements(steps, rows), 0.0f);
  std::fill(positions_.weight.end() - rows, positions_.weight.end(), 1.0f);
  fall_silent(Split::train, positions_);
  fill_resets(Split::train, positions_);
  positions_.mask_key = positions_mask_key(seed_, draw);
  return positions_;
}

}  // namespace throughtime

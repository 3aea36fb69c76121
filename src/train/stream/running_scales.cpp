#include "train/stream/running_scales.h"

#include <algorithm>
#include <cmath>

namespace throughtime {
namespace {

constexpr double limit = 10;     // deviations from the mean that a scaled value can show; beyond them it is wild
constexpr double trusted = 5;    // of a wild value only so many are believed
constexpr double too_wide = 20;  // times the deviation of many rows: such a scale shows nothing of them
constexpr std::int64_t block_rows = 100;
constexpr std::int64_t longest_patience = 100;  // blocks

}  // namespace

void RunningScales::add(std::span<const float> values) {
  if (!options_.active || (options_.rows > 0 && rows_ >= options_.rows)) return;
  ++rows_;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    Column& column = columns_[i];
    if (options_.scaling != Scaling::all) column.scale.fade(options_.memory);
    if (options_.scaling == Scaling::robust)
      add_robust(column, values[i]);
    else
      column.scale.add(values[i]);
  }
}

void RunningScales::begin_with(std::size_t column, double mean, double deviation) {
  const std::int64_t rows = options_.memory > 0 ? options_.memory : ScaleOptions().memory;
  columns_[column].scale = {rows, mean, deviation * deviation * static_cast<double>(rows)};
}

/// One wild value among n moves the mean by 5/n deviations and adds 24/n to the variance, however wild it is. With each
/// further one in a row the trust doubles: a new level, or a storm, is believed within some ten rows.
void RunningScales::add_robust(Column& column, double value) {
  const double unit = column.scale.deviation(), distance = value - column.scale.mean;
  column.run = unit > 0 && std::abs(distance) > limit * unit ? column.run + 1 : 0;
  if (column.run > 0) {
    const double most = std::ldexp(trusted, static_cast<int>(std::min<std::int64_t>(column.run - 1, 200))) * unit;
    value = column.scale.mean + std::clamp(distance, -most, most);
  }
  column.scale.add(value);
  column.block.add(value);
  if (column.block.count == block_rows) end_block(column);
}

/// Looks whether the scale is much too wide for what has come of late, and measures it anew then: fading alone would
/// take 28 times its memory to come back from values a million times as large. Where it becomes as wide again this was
/// premature, a calm between storms, and next time it waits twice as long.
void RunningScales::end_block(Column& column) {
  const auto fits_in = [&](const Moments& rows) { return too_wide * rows.deviation() < column.scale.deviation(); };
  Moments longer = column.calm;
  longer.add(column.block);
  if (!fits_in(longer)) {
    longer = fits_in(column.block) ? column.block : Moments();
    column.calm_blocks = 0;
  }
  column.calm = longer;
  column.calm_blocks += longer.count > 0 ? 1 : 0;
  column.block = {};
  if (column.earlier > 0 && 2 * column.scale.deviation() > column.earlier) {
    column.patience = std::min(2 * column.patience, longest_patience);
    column.earlier = 0;
  }
  if (column.calm_blocks < column.patience || column.calm.squares == 0) return;
  column.earlier = column.scale.deviation();
  column.scale = column.calm;
  column.calm = {};
  column.calm_blocks = 0;
}

float RunningScales::scaled(std::size_t column, double value) const {
  if (!options_.active) return static_cast<float>(value);
  const double unit = deviation(column);
  return unit > 0 ? static_cast<float>(std::clamp((value - mean(column)) / unit, -limit, limit)) : 0.0f;
}

double RunningScales::undone(std::size_t column, double value) const {
  return options_.active ? mean(column) + value * deviation(column) : value;
}

void RunningScales::archive(Archive& archive) {
  std::vector<std::int64_t> integers;
  std::vector<double> numbers;
  for (const Column& column : columns_) {
    integers.insert(integers.end(), {column.run, column.calm_blocks, column.patience});
    numbers.push_back(column.earlier);
    for (const Moments& moments : {column.scale, column.block, column.calm}) {
      integers.push_back(moments.count);
      numbers.insert(numbers.end(), {moments.mean, moments.squares});
    }
  }
  archive.integer("rows", rows_);
  archive.integer_list("integers", integers, integers.size());
  archive.number_list("numbers", numbers, numbers.size());
  auto integer = integers.begin();
  auto number = numbers.begin();
  for (Column& column : columns_) {
    for (std::int64_t* to : {&column.run, &column.calm_blocks, &column.patience}) *to = *integer++;
    column.earlier = *number++;
    for (Moments* to : {&column.scale, &column.block, &column.calm}) {
      to->count = *integer++;
      to->mean = *number++;
      to->squares = std::max(0.0, *number++);
    }
  }
}

}  // namespace throughtime

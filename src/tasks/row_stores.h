#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/row_store.h"
#include "tasks/generated/streams.h"
#include "throughtime/index.h"

namespace throughtime {

/// The last steps of some rows as sources.
class RowStores {
 public:
  void resize(const StreamShape& shape, int rows, std::size_t capacity) {
    rows_ = rows;
    reals_ = shape.input.reals;
    target_width_ = shape.labels ? 0 : shape.head.outputs;
    values_.resize(rows, capacity, elements(reals_));
    tokens_.resize(rows, capacity, shape.input.vocabulary > 0 ? 1 : 0);
    labels_.resize(rows, capacity, shape.labels ? 1 : 0);
    targets_.resize(rows, capacity, elements(target_width_));
    sources_.resize(elements(rows));
    weight_.resize(capacity);
    flags_.resize(capacity);
  }
  /// Where to write `steps` steps of a row from index `first` on; weights and flags are of the row written last.
  StepSpan span(int row, std::size_t first, std::size_t steps) {
    std::fill_n(weight_.begin(), steps, 1.0f);
    std::fill_n(flags_.begin(), steps, StepFlag::go_on);
    StepSpan span;
    span.values = values_.part(row, first, steps);
    span.tokens = tokens_.part(row, first, steps);
    span.labels = labels_.part(row, first, steps);
    span.targets = targets_.part(row, first, steps);
    span.weight = std::span(weight_).first(steps);
    span.flags = std::span(flags_).first(steps);
    return span;
  }
  void move_to_front(std::size_t from, std::size_t count) {
    values_.move_to_front(rows_, from, count);
    tokens_.move_to_front(rows_, from, count);
    labels_.move_to_front(rows_, from, count);
    targets_.move_to_front(rows_, from, count);
  }
  /// The first `held` steps of every row as sources whose first position is `first`.
  std::span<const Source> sources(std::size_t held, std::int64_t first) {
    for (int row = 0; row < rows_; ++row) {
      Source& source = sources_[row];
      source.steps = held;
      source.first = first;
      source.reals = reals_;
      source.target_width = target_width_;
      source.values = values_.part(row, 0, held);
      source.tokens = tokens_.part(row, 0, held);
      source.labels = labels_.part(row, 0, held);
      source.target_values = targets_.part(row, 0, held);
    }
    return sources_;
  }

 private:
  int rows_ = 0, reals_ = 0, target_width_ = 0;
  RowStore<float> values_, targets_;
  RowStore<std::int32_t> tokens_, labels_;
  std::vector<Source> sources_;  // [rows]
  std::vector<float> weight_;    // [capacity]
  std::vector<StepFlag> flags_;  // [capacity]
};

}  // namespace throughtime

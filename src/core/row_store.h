#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "throughtime/index.h"

namespace throughtime {

/// An array [rows, capacity, width] of which each row keeps its last steps.
template <class Number>
class RowStore {
 public:
  void resize(int rows, std::size_t capacity, std::size_t width) {
    width_ = width;
    stride_ = capacity * width;
    numbers_.resize(elements(rows, stride_));
  }
  std::span<Number> part(int row, std::size_t first, std::size_t count) {
    if (width_ == 0) return {};
    return std::span(numbers_).subspan(elements(row, stride_) + first * width_, count * width_);
  }
  /// Moves `count` steps from index `from` on to the front of every row.
  void move_to_front(int rows, std::size_t from, std::size_t count) {
    for (int row = 0; row < rows && width_ > 0; ++row)
      std::memmove(part(row, 0, count).data(), part(row, from, count).data(), count * width_ * sizeof(Number));
  }

 private:
  std::size_t width_ = 0, stride_ = 0;
  std::vector<Number> numbers_;
};

}  // namespace throughtime

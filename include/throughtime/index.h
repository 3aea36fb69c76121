#pragma once

#include <cstddef>

namespace throughtime {

/// Counts and positions are signed: differences may be negative, and a loop may run down to 0.
using Index = std::ptrdiff_t;

/// Entries of a matrix of `rows` rows and `width` columns, as containers count them.
constexpr std::size_t elements(Index rows, Index width) {
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(width);
}
/// The same of a tensor, and of a list.
constexpr std::size_t elements(Index steps, Index rows, Index width) { return elements(steps * rows, width); }
constexpr std::size_t elements(Index count) { return static_cast<std::size_t>(count); }

}  // namespace throughtime

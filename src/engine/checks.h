#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "throughtime/engine.h"
#include "throughtime/index.h"

namespace throughtime {

// What every engine refuses before it touches a number. A buffer with one entry per step may be longer than the window
// (it was asked for once, for the longest one); all others have exactly the size of their shape.

[[noreturn]] void refuse_size(std::string_view speaker, std::string_view what, Buffer buffer, std::size_t size);
[[noreturn]] void refuse_less(std::string_view speaker, std::string_view what, Buffer buffer, std::size_t size);
inline void require_size(std::string_view speaker, std::string_view what, Buffer buffer, std::size_t size) {
  if (!buffer || buffer.size != size) [[unlikely]]
    refuse_size(speaker, what, buffer, size);
}
inline void require_at_least(std::string_view speaker, std::string_view what, Buffer buffer, std::size_t size) {
  if (!buffer || buffer.size < size) [[unlikely]]
    refuse_less(speaker, what, buffer, size);
}

/// A tape for at least one step and one row.
void check_tape_shape(const TapeShape& shape);
/// Refuse a tape or a buffer that needs more memory than the engine has left, before any of it is made.
void require_tape_memory(const Engine& engine, const TapeShape& shape);
void require_buffer_memory(const Engine& engine, std::size_t size);

/// Shapes of the call, the window and its inputs; its targets too where a loss is asked for. Of a window that its
/// caller has looked at (UnrollCall::checked) the shapes of the call alone.
void check_unroll(const Model& model, const UnrollCall& call);

/// Shapes of the call against a tape that holds `unrolled` steps (0: none yet). Returns `last`, resolved.
int check_pull_back(const Model& model, const PullBackCall& call, int unrolled);

void check_update(const UpdateCall& call);

/// Says what is wrong with sizes or indices of gather_rows, scatter_add_rows or scatter_rows.
void refuse_rows(std::string_view speaker, Buffer table, int width, std::span<const std::int64_t> indices, Buffer rows);

/// Whether `size` is a multiple of the width: without a division where that is a power of two, as most are.
inline bool divides(std::size_t width, std::size_t size) {
  return (width & (width - 1)) == 0 ? (size & (width - 1)) == 0 : size % width == 0;
}

/// Sizes and indices of gather_rows, scatter_add_rows and scatter_rows. Inline: a single row is moved in less time than
/// a call with so many arguments takes.
inline void check_rows(std::string_view speaker, Buffer table, int width, std::span<const std::int64_t> indices,
                       Buffer rows) {
  const auto columns = elements(width);
  bool good = width > 0 && table && rows && divides(columns, table.size) && rows.size >= indices.size() * columns;
  for (const std::int64_t index : indices) good = good && index >= 0 && (elements(index) + 1) * columns <= table.size;
  if (!good) [[unlikely]]
    refuse_rows(speaker, table, width, indices, rows);
}

}  // namespace throughtime

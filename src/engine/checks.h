#pragma once

#include <cstddef>
#include <string_view>

#include "throughtime/engine.h"

namespace throughtime {

// What every engine refuses before it touches a number. A buffer with one entry per step may be longer than the window
// (it was asked for once, for the longest one); all others have exactly the size of their shape.

void require_size(std::string_view speaker, std::string_view what, Buffer buffer, std::size_t size);
void require_at_least(std::string_view speaker, std::string_view what, Buffer buffer, std::size_t size);

/// A tape for at least one step and one row.
void check_tape_shape(const TapeShape& shape);

/// Shapes of the call, the window and its inputs; its targets too where a loss is asked for.
void check_unroll(const Model& model, const UnrollCall& call);

/// Shapes of the call against a tape that holds `unrolled` steps (0: none yet). Returns `last`, resolved.
int check_pull_back(const Model& model, const PullBackCall& call, int unrolled);

void check_update(const UpdateCall& call);

/// Sizes and indices of gather_rows, scatter_add_rows and scatter_rows.
void check_rows(std::string_view speaker, Buffer table, int width, std::span<const std::int64_t> indices, Buffer rows);

}  // namespace throughtime

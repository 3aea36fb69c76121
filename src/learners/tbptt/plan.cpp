#include "learners/tbptt/plan.h"

#include <algorithm>

#include "throughtime/error.h"

namespace throughtime {

void check_chunks(std::string_view speaker, const Chunks& chunks) {
  if (chunks.steps < 0) refuse(speaker, "chunk must be 0 (off) or positive, got {}", chunks.steps);
  if (chunks.stale && chunks.steps == 0) refuse(speaker, "ref_stream is about chunks; give chunk too");
}

TruncatedWindow WindowPlan::window(int begin) const {
  const int end = end_after(begin), moved = end - begin;
  const int losses = moved < lengths_.stride ? std::min(lengths_.losses, moved) : lengths_.losses;
  return {.first = static_cast<int>(first_cell(end)),
          .first_loss = std::max(static_cast<int>(chunk_of(end - 1)), end - losses),
          .end = end,
          .ahead = std::min(lengths_.ahead, steps_ - end),
          .losses = losses};
}

Starts WindowPlan::starts_after(const TruncatedWindow& window) const {
  const auto start_of = [&](std::int64_t next_end) {
    return static_cast<int>(std::min<std::int64_t>(window.end, first_cell(next_end)));
  };
  Starts starts;
  if (window.end < steps_) {
    starts.add(start_of(end_after(window.end)));
  } else {
    starts.add(earliest_start());
    const int after_a_stride = start_of(std::int64_t{window.end} + lengths_.stride);
    if (chunks_.steps == 0 && after_a_stride > earliest_start()) starts.add(after_a_stride);
  }
  if (chunks_.stale) starts.first().taken = stale_position(window, starts.first().position);
  return starts;
}

int WindowPlan::earliest_start() const {
  return chunks_.steps > 0 ? steps_ : static_cast<int>(first_cell(std::int64_t{steps_} + 1));
}

int WindowPlan::end_after(int begin) const {
  std::int64_t limit = steps_;
  if (chunks_.steps > 0) limit = std::min(limit, chunk_of(begin) + chunks_.steps);
  return static_cast<int>(std::min(limit, std::int64_t{begin} + lengths_.stride));
}

std::int64_t WindowPlan::first_cell(std::int64_t end) const {
  const std::int64_t first = std::max<std::int64_t>(-history_, end - lengths_.steps);
  return chunks_.steps > 0 ? std::max(first, chunk_of(end - 1)) : first;
}

std::int64_t WindowPlan::chunk_of(std::int64_t step) const {
  return chunks_.steps > 0 ? step / chunks_.steps * chunks_.steps : 0;
}

/// The released code: the second window of a chunk begins with the state at the end of the first, and a chunk with one
/// that is K - 1 steps old.
int WindowPlan::stale_position(const TruncatedWindow& window, int right) const {
  const bool ends_chunk = window.end == steps_ || window.end % chunks_.steps == 0;
  if (ends_chunk) return std::max(window.first, window.end - (lengths_.stride - 1));
  return window.first % chunks_.steps == 0 ? window.end : right;
}

}  // namespace throughtime

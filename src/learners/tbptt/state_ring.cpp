#include "learners/tbptt/state_ring.h"

#include <fmt/format.h>

#include <algorithm>

#include "throughtime/index.h"

namespace throughtime {

StateRing::StateRing(Engine& engine, int steps, std::size_t size) : engine_(engine) {
  slots_.resize(elements(steps / spacing) + 2);
  for (Buffer& slot : slots_) slot = engine.allocate(size);
  held_.assign(slots_.size(), -1);
}

void StateRing::clear() {
  std::fill(held_.begin(), held_.end(), -1);
  engine_.fill(slots_[0], 0);
  held_[0] = 0;
}

void StateRing::put(std::int64_t position, Buffer states, int width, std::span<const std::int64_t> rows) {
  engine_.gather_rows(states, width, rows, slots_[slot(position)]);
  held_[slot(position)] = position;
}

std::int64_t StateRing::last_until(std::int64_t position) const {
  std::int64_t last = -1;
  for (const std::int64_t held : held_)
    if (held <= position) last = std::max(last, held);
  return last;
}

void StateRing::archive(Archive& archive) {
  const Archive::Scope scope(archive, "ring");
  archive.integer_list("positions", held_, slots_.size(), between(-1, any_count().high));
  for (std::size_t i = 0; i < slots_.size(); ++i) archive.buffer(fmt::format("state_{}", i), engine_, slots_[i]);
}

}  // namespace throughtime

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "throughtime/archive.h"
#include "throughtime/engine.h"
#include "throughtime/index.h"

namespace throughtime {

/// States at every 16th step of a stream, the last ones of them: where a window may begin after the truncation has
/// changed. The steps from there to its first cell are run again. Positions count from the start of the data.
class StateRing {
 public:
  static constexpr int spacing = 16;

  /// Reaches back `steps` steps; `size` numbers per state.
  StateRing(Engine& engine, int steps, std::size_t size);

  /// A stream begins: only the zero state before its first step is known.
  void clear();
  void put(std::int64_t position, Buffer states, int width, std::span<const std::int64_t> rows);
  /// The last kept position at or before `position`; -1: none is left.
  std::int64_t last_until(std::int64_t position) const;
  Buffer at(std::int64_t position) const { return slots_[slot(position)]; }
  void archive(Archive& archive);

 private:
  std::size_t slot(std::int64_t position) const { return elements(position / spacing) % slots_.size(); }

  Engine& engine_;
  std::vector<Buffer> slots_;
  std::vector<std::int64_t> held_;  // position in each slot; -1: none
};

}  // namespace throughtime

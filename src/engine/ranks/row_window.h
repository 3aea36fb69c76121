#pragma once

#include <cstdint>
#include <vector>

#include "throughtime/communicator.h"
#include "throughtime/window.h"

namespace throughtime {

/// Some rows of a window as a window of its own: the same inputs, targets and dropout masks. Room is kept from one cut
/// to the next.
class RowWindow {
 public:
  /// Takes rows [share.first, share.first + share.count) of `whole`, at least one.
  const Window& cut(const Window& whole, RowShare share);

 private:
  void cut_targets(const Window& whole, RowShare share);

  Window window_;
  std::vector<std::int32_t> labels_;  // [L, rows], where the window has them per step
  std::vector<float> values_;         // [L, rows, width]
};

}  // namespace throughtime

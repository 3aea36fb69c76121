#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "throughtime/engine.h"

namespace throughtime {

/// Moves rows of buffers from the ranks that have them to all others. All ranks make the same calls with the same
/// lists.
class RowExchange {
 public:
  RowExchange(Engine& inner, Communicator& ranks) : inner_(inner), ranks_(ranks) {}

  /// Every rank gets the listed rows of `buffer` [.., width], each from the rank in `owners`; no other row travels.
  void share(Buffer buffer, int width, std::span<const std::int64_t> rows, std::span<const int> owners);
  /// The same for numbers that were read: all rows of `values` [owners.size(), width].
  void share(std::span<double> values, int width, std::span<const int> owners);

 private:
  Engine& inner_;
  Communicator& ranks_;
  std::map<std::pair<std::size_t, int>, Buffer> rooms_;  // for rows that travel, by how many there are and their width
  std::vector<double> values_;                           // of such a buffer
  std::vector<double> mine_, all_;                       // what is sent, and what comes
  std::vector<int> counts_, taken_;                      // [ranks]
};

}  // namespace throughtime

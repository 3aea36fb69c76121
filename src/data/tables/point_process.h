#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "data/byte_stream.h"
#include "data/text/vocabulary.h"

namespace throughtime {

/// Marked events of one or more sequences, laid end to end. A sequence has at least one.
struct EventSequences {
  std::vector<double> times;        // [events]: finite, at least 0, never falling within a sequence
  std::vector<std::int32_t> marks;  // [events]: ids of the vocabulary
  std::vector<std::size_t> begins;  // [sequences + 1]: the first event of each, and the end

  std::size_t sequences() const { return begins.empty() ? 0 : begins.size() - 1; }
};

// What is wrong in a file is refused with its line. A frozen vocabulary refuses marks it does not know, another one
// takes them up.

/// Two texts whose lines with the same number are one sequence: its times, and as many marks.
EventSequences read_event_lines(ByteStream& times, ByteStream& marks, Vocabulary& known);

/// The mark of all events of a table that has no column `mark`.
inline constexpr std::string_view unmarked = "event";

/// CSV whose header names `time`, perhaps `mark` and perhaps `sequence`; other columns are not looked at. The rows of a
/// sequence stand together; without that column all rows are one.
EventSequences read_event_table(ByteStream& stream, Vocabulary& known, char delimiter = ',');

}  // namespace throughtime

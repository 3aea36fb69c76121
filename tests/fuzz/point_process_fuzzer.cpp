#include "data/tables/point_process.h"

#include <algorithm>
#include <string_view>

#include "input.h"

using namespace throughtime;

namespace {

void check(const EventSequences& events, const Vocabulary& known) {
  require(events.sequences() > 0 && events.times.size() == events.marks.size());
  require(events.begins.front() == 0 && events.begins.back() == events.times.size());
  for (std::size_t i = 0; i + 1 < events.begins.size(); ++i) {
    require(events.begins[i] < events.begins[i + 1]);
    require(events.times[events.begins[i]] >= 0);
    for (std::size_t event = events.begins[i]; event + 1 < events.begins[i + 1]; ++event)
      require(events.times[event] <= events.times[event + 1]);
  }
  for (const std::int32_t mark : events.marks) require(mark >= 0 && static_cast<std::size_t>(mark) < known.size());
}

}  // namespace

/// The whole input as a table; and its two halves around a `|` as lines of times and of marks.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  read_input(data, size, [](ByteStream& stream) {
    Vocabulary known;
    check(read_event_table(stream, known), known);
  });
  const std::size_t cut = static_cast<std::size_t>(std::find(data, data + size, '|') - data);
  const std::size_t rest = std::min(size, cut + 1);
  return read_input(data, cut, [&](ByteStream& times) {
    const auto marks = ByteStream::over(std::as_bytes(std::span(data + rest, size - rest)), "marks");
    Vocabulary known;
    for (const std::string_view mark : {"1", "2"}) known.add(mark);
    known.freeze();
    check(read_event_lines(times, *marks, known), known);
  });
}

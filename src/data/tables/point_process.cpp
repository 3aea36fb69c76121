#include "data/tables/point_process.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "core/names.h"
#include "data/printable.h"
#include "data/tables/csv_records.h"
#include "data/tables/fields.h"
#include "data/utf8.h"

namespace throughtime {
namespace {

constexpr std::string_view speaker = "points";

/// Where something was read, for messages.
struct FileLine {
  const std::string& file;
  std::uint64_t line;
};

/// Checks events one by one and collects them.
class EventList {
 public:
  explicit EventList(Vocabulary& known) : known_(known) {}

  void begin_sequence() { events_.begins.push_back(events_.times.size()); }
  /// Events of the current sequence.
  std::size_t length() const { return events_.times.size() - events_.begins.back(); }

  void add(std::string_view time, const FileLine& time_place, std::string_view mark, const FileLine& mark_place) {
    const double value = checked_time(time, time_place);
    events_.marks.push_back(id_of(mark, mark_place));
    events_.times.push_back(value);
  }

  EventSequences finished() {
    events_.begins.push_back(events_.times.size());
    return std::move(events_);
  }

 private:
  double checked_time(std::string_view text, const FileLine& place) const {
    const std::optional<double> time = number_of(text);
    if (!time)
      refuse_line(speaker, place.file, place.line, "event {}: {} is no finite time{}", length() + 1, excerpt(text),
                  has_decimal_comma(text) ? "; numbers have a decimal point, such as 1.5" : "");
    if (*time < 0)
      refuse_line(speaker, place.file, place.line, "event {}: a time must be at least 0, got {}", length() + 1, *time);
    if (length() > 0 && *time < events_.times.back())
      refuse_line(speaker, place.file, place.line, "event {}: the times of a sequence must not fall, {} comes after {}",
                  length() + 1, *time, events_.times.back());
    return *time;
  }

  std::int32_t id_of(std::string_view mark, const FileLine& place) {
    if (mark.empty()) refuse_line(speaker, place.file, place.line, "event {}: the mark is missing", length() + 1);
    if (invalid_utf8(mark) != std::string_view::npos)
      refuse_line(speaker, place.file, place.line, "event {}: the mark {} is no UTF-8", length() + 1, excerpt(mark));
    if (!known_.frozen()) return known_.add(mark);
    const std::int32_t id = known_.find(mark);
    if (id == Vocabulary::none) refuse_mark(mark, place);
    return id;
  }

  [[noreturn]] void refuse_mark(std::string_view mark, const FileLine& place) const {
    constexpr std::size_t most = 20;
    std::vector<std::string> names;
    for (std::size_t id = 0; id < std::min(most, known_.size()); ++id)
      names.push_back(excerpt(known_.token(static_cast<std::int32_t>(id))));
    refuse_line(speaker, place.file, place.line, "event {}: unknown mark {}; known: {}{}", length() + 1, excerpt(mark),
                fmt::join(names, ", "), known_.size() > most ? ", ..." : "");
  }

  Vocabulary& known_;
  EventSequences events_;
};

/// The words of a text, line by line.
class LineWords {
 public:
  explicit LineWords(ByteStream& stream) : stream_(stream), block_(1 << 16) {}

  /// Goes to the first line, then to the next one; false at the end of the file.
  bool next_line() {
    std::string rest;
    if (line_ > 0) {
      while (next(rest)) {
      }
      if (peek() == '\n') ++at_;
    }
    if (peek() == end) return false;
    ++line_;
    return true;
  }
  /// The next word of the line; false at its end.
  bool next(std::string& word) {
    while (is_space(peek())) ++at_;
    word.clear();
    for (int letter = peek(); letter != end && letter != '\n' && !is_space(letter); letter = peek()) {
      if (word.size() == longest)
        refuse_line(speaker, stream_.name(), line_, "a word of more than {} bytes: {}", longest, excerpt(word));
      word += static_cast<char>(letter);
      ++at_;
    }
    return !word.empty();
  }
  /// Words that are left in the line.
  std::size_t count_rest() {
    std::size_t count = 0;
    for (std::string word; next(word);) ++count;
    return count;
  }
  FileLine place() const { return {stream_.name(), line_}; }

 private:
  static constexpr int end = -1;
  static constexpr std::size_t longest = 256;

  static bool is_space(int letter) { return letter == ' ' || letter == '\t' || letter == '\r'; }
  int peek() { return at_ < filled_ || refill() ? static_cast<unsigned char>(block_[at_]) : end; }
  bool refill() {
    at_ = 0;
    filled_ = stream_.read(std::as_writable_bytes(std::span(block_)));
    return filled_ > 0;
  }

  ByteStream& stream_;
  std::vector<char> block_;
  std::size_t at_ = 0, filled_ = 0;
  std::uint64_t line_ = 0;
};

/// One line of times with its line of marks.
void read_sequence(LineWords& times, LineWords& marks, EventList& events) {
  events.begin_sequence();
  std::string time, mark;
  while (true) {
    const bool has_time = times.next(time), has_mark = marks.next(mark);
    if (!has_time && !has_mark) break;
    if (has_time != has_mark) {
      const std::size_t time_count = events.length() + has_time + times.count_rest();
      const std::size_t mark_count = events.length() + has_mark + marks.count_rest();
      refuse_line(speaker, marks.place().file, marks.place().line, "the line has {} marks, but {}:{} has {} times",
                  mark_count, times.place().file, times.place().line, time_count);
    }
    events.add(time, times.place(), mark, marks.place());
  }
  if (events.length() == 0)
    refuse_line(speaker, times.place().file, times.place().line, "the line is empty; a sequence needs an event");
}

/// Which fields of a row are the time, the mark and the sequence; -1: absent.
struct EventColumns {
  int time = -1, mark = -1, sequence = -1;
};

/// What a header without a column `time` was meant to be, for the end of a refusal.
std::string header_hint(const std::vector<std::string_view>& header, char delimiter) {
  const std::string meant = header.size() == 1 ? delimiter_in(header[0], delimiter) : "";
  return meant.empty() ? "" : fmt::format("; say task.point_process.delimiter = \"{}\"", meant);
}

/// A column `Mark` would be one that nobody looks at.
void refuse_capitals(const std::vector<std::string_view>& header, std::string_view column, const std::string& file) {
  for (const std::string_view name : header)
    if (same_letters(trimmed(name), column))
      refuse_line(speaker, file, 1, "there is no column {}, but {}: capital letters count, write {}", column,
                  excerpt(name), column);
}

EventColumns find_columns(const std::vector<std::string_view>& header, const std::string& file, char delimiter) {
  EventColumns columns;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < header.size(); ++i) {
    const std::string_view name = trimmed(header[i]);
    names.push_back(excerpt(name));
    int* column = name == "time"       ? &columns.time
                  : name == "mark"     ? &columns.mark
                  : name == "sequence" ? &columns.sequence
                                       : nullptr;
    if (column == nullptr) continue;
    if (*column >= 0) refuse_line(speaker, file, 1, "two columns have the name {}", excerpt(name));
    *column = static_cast<int>(i);
  }
  for (const auto& [column, name] :
       {std::pair(columns.time, "time"), {columns.mark, "mark"}, {columns.sequence, "sequence"}})
    if (column < 0) refuse_capitals(header, name, file);
  if (columns.time < 0) {
    constexpr std::size_t most = 20;
    names.resize(std::min(most, names.size()));
    refuse_line(speaker, file, 1,
                "the first line must name the column time (and may name mark and sequence), got {}{}{}",
                fmt::join(names, ", "), header.size() > most ? ", ..." : "", header_hint(header, delimiter));
  }
  return columns;
}

}  // namespace

EventSequences read_event_lines(ByteStream& times, ByteStream& marks, Vocabulary& known) {
  LineWords time_lines(times), mark_lines(marks);
  EventList events(known);
  std::size_t sequences = 0;
  while (true) {
    const bool has_times = time_lines.next_line(), has_marks = mark_lines.next_line();
    if (!has_times && !has_marks) break;
    if (has_times != has_marks) {
      const ByteStream& shorter = has_times ? marks : times;
      const ByteStream& longer = has_times ? times : marks;
      refuse_line(speaker, longer.name(), sequences + 1, "there is no such line in {}, which has {} line{}",
                  shorter.name(), sequences, sequences == 1 ? "" : "s");
    }
    read_sequence(time_lines, mark_lines, events);
    ++sequences;
  }
  if (sequences == 0) refuse_line(speaker, times.name(), 1, "the file is empty");
  return events.finished();
}

EventSequences read_event_table(ByteStream& stream, Vocabulary& known, char delimiter) {
  CsvRecords records(stream, delimiter);
  std::vector<std::string_view> fields;
  if (!records.next(fields)) refuse_line(speaker, stream.name(), 1, "the file is empty");
  const EventColumns columns = find_columns(fields, stream.name(), delimiter);
  const std::size_t width = fields.size();
  if (columns.mark < 0 && known.frozen() && known.find(unmarked) == Vocabulary::none)
    refuse_line(speaker, stream.name(), 1, "there is no column mark, and the events of the training data have marks");
  EventList events(known);
  std::string current;
  std::unordered_set<std::string> seen;
  bool any = false;
  while (records.next(fields)) {
    const FileLine place{stream.name(), records.line()};
    if (fields.size() != width)
      refuse_line(speaker, place.file, place.line, "the row has {} field{} instead of {}", fields.size(),
                  fields.size() == 1 ? "" : "s", width);
    const auto field = [&](int column) { return column < 0 ? std::string_view() : trimmed(fields[column]); };
    if (!any || field(columns.sequence) != current) {
      current = field(columns.sequence);
      if (!seen.insert(current).second)
        refuse_line(speaker, place.file, place.line,
                    "sequence {} goes on after another one began; its rows must stand together", excerpt(current));
      events.begin_sequence();
      any = true;
    }
    events.add(field(columns.time), place, columns.mark < 0 ? unmarked : field(columns.mark), place);
  }
  if (!any) refuse_line(speaker, stream.name(), 1, "there is a header, but no event follows it");
  return events.finished();
}

}  // namespace throughtime

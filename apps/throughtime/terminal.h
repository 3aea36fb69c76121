#pragma once

#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "data/printable.h"
#include "report/text.h"

namespace throughtime {

/// What an output can show.
struct Style {
  bool terminal = false;
  bool color = false;
  bool unicode = false;
  int width = 80;  // columns
};

/// The style of a file descriptor: colour unless NO_COLOR is set, unicode unless the locale says otherwise.
Style style_of(int descriptor);

// One border: what is written below passes through printable(), so that no name in a file, key, id or header can steer
// a terminal.

/// Lines on stderr; a terminal gets them broken between words.
void tell_text(const std::string& text);
/// A line on stderr, say: texts among the arguments lose their control characters, newlines too. Where stderr is closed
/// nobody hears it, and what runs goes on (fmt::print would throw).
template <class... Args>
void tell(fmt::format_string<Args...> format, Args&&... args) {
  [[maybe_unused]] const auto shown = []<class Value>(const Value& value) {
    if constexpr (std::is_convertible_v<const Value&, std::string_view>)
      return printable(value);
    else
      return value;
  };
  tell_text(fmt::format(fmt::runtime(fmt::string_view(format)), shown(args)...));
}
/// Whole lines on stdout. Only a terminal gets them without control characters: another reader wants them as they are.
void show_text(const std::string& text);
/// The same of sentences: a terminal gets them broken between words.
void show_note(const std::string& text);
template <class... Args>
void show(fmt::format_string<Args...> format, Args&&... args) {
  show_text(fmt::format(format, std::forward<Args>(args)...));
}

/// Breaks a text at spaces into lines of at most `width` columns (a longer word keeps its own line).
std::vector<std::string> wrapped(const std::string& text, std::size_t width);

/// Breaks each line that is longer than `width`; what it goes on with begins `deeper` columns further in.
std::string folded(const std::string& text, std::size_t width, std::size_t deeper = 2);

/// 1536 -> "1.5 KiB".
std::string bytes_text(std::size_t bytes);
/// 75.2 -> "1:15"; 3700 -> "1:01:40".
std::string duration_text(double seconds);
/// The same for a table: "0.04", "12.5".
std::string seconds_text(double seconds);

/// Rows of cells under titles, each column as wide as its widest cell. Cells may be texts of any origin.
class Table {
 public:
  struct Column {
    std::string title;
    bool right = true;  // numbers are aligned at the right, texts at the left
  };

  explicit Table(std::vector<Column> columns);
  void add_row(std::vector<std::string> cells);

  /// Boxed on a unicode terminal, else plain columns. Where it is too wide for a terminal, a last column of text is
  /// broken into lines. If that is not enough the box goes, then the table is turned around, and at last it comes in
  /// parts, each with the first column.
  std::string text(const Style& style) const;
  /// Columns taken by the table of that style without breaking anything.
  std::size_t width(const Style& style) const;
  /// The first column becomes the titles, the other columns become rows.
  Table transposed() const;

 private:
  std::vector<std::size_t> column_widths() const;
  /// Perhaps with lines of text that are broken.
  bool fits(const Style& style) const;
  Table part(const std::vector<std::size_t>& chosen) const;
  std::string in_parts(const Style& style) const;
  std::string drawn(const Style& style) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// Where a run stands.
struct ProgressState {
  std::string name;
  std::int64_t iteration = 0;
  std::int64_t iterations = 0;
  double loss = 0;
  double seconds = 0;
};

/// One line: name, bar, percent, iteration, rate, loss, time left; what does not fit in `style.width` is left out.
std::string progress_text(const ProgressState& state, const Style& style);

/// Shows progress on stderr: redrawn in place at most ten times a second on a terminal, else a line now and then.
class ProgressBar {
 public:
  ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ~ProgressBar() { clear(); }
  void show(const ProgressState& state);
  /// Takes the live line away.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  void show_line(const ProgressState& state, Clock::time_point now);

  Style style_;
  Clock::time_point last_;
  std::int64_t shown_tenths_ = 0;  // of the run, in plain lines
  bool drawn_ = false;
};

}  // namespace throughtime

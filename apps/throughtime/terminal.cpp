#include "terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "throughtime/index.h"

namespace throughtime {
namespace {

constexpr std::size_t narrowest_text = 16;  // columns that a broken column of text keeps

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Without a locale a terminal is taken to be a modern one.
bool locale_has_unicode() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string locale = environment(name);
    if (!locale.empty()) return locale.find("UTF-8") != std::string::npos || locale.find("utf8") != std::string::npos;
  }
  return true;
}

int width_of(int descriptor) {
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

std::string padded(const std::string& text, std::size_t width, bool right) {
  const std::string space(width - std::min(width, text_width(text)), ' ');
  return right ? space + text : text + space;
}

std::string rule(const std::vector<std::size_t>& widths, const char* left, const char* middle, const char* right) {
  std::string text = left;
  for (std::size_t i = 0; i < widths.size(); ++i) text += (i == 0 ? "" : middle) + repeated("─", widths[i] + 2);
  return text + right + "\n";
}

}  // namespace

std::vector<std::string> wrapped(const std::string& text, std::size_t width) {
  std::vector<std::string> lines = {""};
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (!lines.back().empty() && text_width(lines.back()) + 1 + text_width(word) > width) lines.emplace_back();
    lines.back() += (lines.back().empty() ? "" : " ") + word;
    begin = end + 1;
  }
  return lines;
}

Style style_of(int descriptor) {
  Style style;
  style.terminal = isatty(descriptor) != 0 && environment("TERM") != "dumb";
  style.color = style.terminal && environment("NO_COLOR").empty();
  style.unicode = style.terminal && locale_has_unicode();
  style.width = width_of(descriptor);
  return style;
}

std::string bytes_text(std::size_t bytes) {
  static constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  while (value >= 1024 && unit < 4) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, units[unit]);
}

std::string duration_text(double seconds) {
  const std::int64_t whole = std::llround(std::clamp(seconds, 0.0, 1e9));
  const std::int64_t hours = whole / 3600, minutes = whole / 60 % 60;
  if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes, whole % 60);
  return fmt::format("{}:{:02}", minutes, whole % 60);
}

std::string seconds_text(double seconds) { return fmt::format("{:.{}f}", seconds, seconds < 10 ? 2 : 1); }

std::string folded(const std::string& text, std::size_t width, std::size_t deeper) {
  std::string result;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    if (text_width(line) <= width || indent + deeper + narrowest_text > width) {
      result += line;
    } else {
      const std::vector<std::string> parts = wrapped(line.substr(indent), width - indent - deeper);
      for (std::size_t i = 0; i < parts.size(); ++i)
        result += (i == 0 ? "" : "\n") + std::string(indent + (i == 0 ? 0 : deeper), ' ') + parts[i];
    }
    if (end < text.size()) result += '\n';
    begin = end + 1;
  }
  return result;
}

void tell_text(const std::string& text) {
  const Style style = style_of(STDERR_FILENO);
  std::fputs((style.terminal ? folded(text, elements(style.width)) : text).c_str(), stderr);
}

void show_note(const std::string& text) {
  const Style style = style_of(STDOUT_FILENO);
  show_text(style.terminal ? folded(text, elements(style.width)) : text);
}

void show_text(const std::string& text) {
  const std::string shown = isatty(STDOUT_FILENO) != 0 ? printable_lines(text) : text;
  std::fwrite(shown.data(), 1, shown.size(), stdout);
}

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {
  for (Column& column : columns_) column.title = printable(column.title);
}

void Table::add_row(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  for (std::string& cell : cells) cell = printable(cell);
  rows_.push_back(std::move(cells));
}

std::vector<std::size_t> Table::column_widths() const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    widths.push_back(text_width(columns_[i].title));
    for (const std::vector<std::string>& row : rows_) widths[i] = std::max(widths[i], text_width(row[i]));
  }
  return widths;
}

std::size_t Table::width(const Style& style) const {
  std::size_t total = style.unicode ? 1 : 0;
  for (const std::size_t width : column_widths()) total += width + (style.unicode ? 3 : 2);
  return total - (style.unicode ? 0 : 2);
}

bool Table::fits(const Style& style) const {
  const std::size_t limit = elements(style.width), whole = width(style);
  if (whole <= limit) return true;
  if (columns_.back().right) return false;
  const std::size_t last = column_widths().back();
  return whole - limit <= last - std::min(last, narrowest_text);
}

std::string Table::text(const Style& style) const {
  if (!style.terminal || fits(style)) return drawn(style);
  // A box costs columns that a narrow terminal does not have.
  const Style plain{.terminal = true, .width = style.width};
  if (fits(plain)) return drawn(plain);
  const Table turned = transposed();
  for (const Style& each : {style, plain})
    if (turned.width(each) <= elements(style.width)) return turned.drawn(each);
  return in_parts(style);
}

Table Table::part(const std::vector<std::size_t>& chosen) const {
  std::vector<Column> columns;
  for (const std::size_t i : chosen) columns.push_back(columns_[i]);
  Table table(std::move(columns));
  for (const std::vector<std::string>& row : rows_) {
    std::vector<std::string> cells;
    for (const std::size_t i : chosen) cells.push_back(row[i]);
    table.add_row(std::move(cells));
  }
  return table;
}

std::string Table::in_parts(const Style& style) const {
  std::string text;
  for (std::size_t next = 1; next < columns_.size();) {
    std::vector<std::size_t> chosen = {0, next++};
    for (; next < columns_.size(); ++next) {
      chosen.push_back(next);
      if (part(chosen).width(style) <= elements(style.width)) continue;
      chosen.pop_back();
      break;
    }
    text += part(chosen).drawn(style);
  }
  return text;
}

std::string Table::drawn(const Style& style) const {
  std::vector<std::size_t> widths = column_widths();
  const std::size_t limit = elements(style.width);
  if (style.terminal && width(style) > limit && !columns_.back().right) {
    const std::size_t spare = widths.back() - std::min(widths.back(), narrowest_text);
    widths.back() -= std::min(width(style) - limit, spare);
  }

  const auto line = [&](const std::vector<std::string>& cells) {
    std::string text = style.unicode ? "│ " : "";
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) text += style.unicode ? " │ " : "  ";
      text += padded(cells[i], widths[i], columns_[i].right);
    }
    if (style.unicode) return text + " │\n";
    return text.erase(text.find_last_not_of(' ') + 1) + "\n";
  };
  std::vector<std::string> titles, dashes;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    titles.push_back(columns_[i].title);
    dashes.push_back(std::string(widths[i], '-'));
  }
  std::string text = style.unicode ? rule(widths, "┌", "┬", "┐") : "";
  text += line(titles);
  text += style.unicode ? rule(widths, "├", "┼", "┤") : line(dashes);
  for (std::vector<std::string> row : rows_) {
    const std::vector<std::string> lines = wrapped(row.back(), widths.back());
    for (const std::string& part : lines) {
      row.back() = part;
      text += line(row);
      std::fill(row.begin(), row.end(), "");
    }
  }
  return text + (style.unicode ? rule(widths, "└", "┴", "┘") : "");
}

Table Table::transposed() const {
  std::vector<Column> columns = {{columns_.front().title, false}};
  for (const std::vector<std::string>& row : rows_) columns.push_back({row.front(), true});
  Table table(std::move(columns));
  for (std::size_t i = 1; i < columns_.size(); ++i) {
    std::vector<std::string> cells = {columns_[i].title};
    for (const std::vector<std::string>& row : rows_) cells.push_back(row[i]);
    table.add_row(std::move(cells));
  }
  return table;
}

}  // namespace throughtime

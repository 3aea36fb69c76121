#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "data/printable.h"
#include "report/charts/axis.h"
#include "report/charts/chart.h"
#include "report/charts/palette.h"
#include "report/text.h"
#include "throughtime/error.h"
#include "throughtime/index.h"

// Curves are dots of braille characters, two across and four up in each; axes are box-drawing characters.

namespace throughtime {
namespace {

constexpr int no_colour = -1, faint_colour = 244, muted_colour = 245;
constexpr const char* spot_sign = "◆";
constexpr int narrowest = 20, lowest = 6;
constexpr int fewest_plot_rows = 4;

std::string coloured(const std::string& text, int colour, bool wanted) {
  return wanted && colour != no_colour ? fmt::format("\x1b[38;5;{}m{}\x1b[0m", colour, text) : text;
}

/// One character of the area between the axes.
struct Cell {
  std::uint8_t dots = 0;  // braille: bit i is dot i + 1
  std::string other;      // what stands there where no dot does
  std::string mark;       // what stands there in any case
  int colour = no_colour;

  std::string text() const {
    if (!mark.empty()) return mark;
    if (dots == 0) return other.empty() ? " " : other;
    const int code = 0x2800 + dots;
    return {static_cast<char>(0xe0 | (code >> 12)), static_cast<char>(0x80 | ((code >> 6) & 0x3f)),
            static_cast<char>(0x80 | (code & 0x3f))};
  }
};

class Canvas {
 public:
  Canvas(int columns, int rows) : columns_(columns), rows_(rows), cells_(elements(columns, rows)) {}
  int columns() const { return columns_; }
  int rows() const { return rows_; }

  /// Row 0 is the topmost.
  Cell& cell(int column, int row) { return cells_[row * columns_ + column]; }
  /// The dot of a position on the axes.
  int dot_across(double position) const { return static_cast<int>(std::lround(position * (2 * columns_ - 1))); }
  int dot_up(double position) const { return static_cast<int>(std::lround(position * (4 * rows_ - 1))); }
  /// The row that holds a position.
  int row_of(double position) const { return rows_ - 1 - dot_up(position) / 4; }

  void dot(int across, int up, int colour) {
    static constexpr std::uint8_t bits[4][2] = {{0x40, 0x80}, {0x04, 0x20}, {0x02, 0x10}, {0x01, 0x08}};
    if (across < 0 || across >= 2 * columns_ || up < 0 || up >= 4 * rows_) return;
    Cell& where = cell(across / 2, rows_ - 1 - up / 4);
    where.dots |= bits[up % 4][across % 2];
    where.colour = colour;
  }
  void line(int across, int up, int to_across, int to_up, int colour) {
    const int steps = std::max({std::abs(to_across - across), std::abs(to_up - up), 1});
    for (int i = 0; i <= steps; ++i) {
      const double share = static_cast<double>(i) / steps;
      dot(static_cast<int>(std::lround(across + share * (to_across - across))),
          static_cast<int>(std::lround(up + share * (to_up - up))), colour);
    }
  }

  std::string row_text(int row, bool colour) {
    std::string text;
    for (int begin = 0; begin < columns_;) {
      int end = begin;
      std::string run;
      for (; end < columns_ && cell(end, row).colour == cell(begin, row).colour; ++end) run += cell(end, row).text();
      text += coloured(run, cell(begin, row).colour, colour);
      begin = end;
    }
    return text;
  }

 private:
  int columns_, rows_;
  std::vector<Cell> cells_;
};

/// How a curve is told from the others: by colour, by a letter on it, or by both.
struct Look {
  int colour = no_colour;
  std::string mark;
};

std::vector<Look> looks_of(const Chart& chart, bool colour) {
  static constexpr std::string_view marks = "123456789abcdefghijklmnopqrstuvwxyz";
  const auto count = elements(std::count_if(chart.curves.begin(), chart.curves.end(),
                                            [](const Curve& curve) { return !curve.faint && !curve.dashed; }));
  const bool marked = count > 1 && (!colour || count > palette.size());
  std::vector<Look> looks;
  std::size_t next = 0;
  for (const Curve& curve : chart.curves) {
    if (curve.faint) {
      looks.push_back({colour ? faint_colour : no_colour, ""});
      continue;
    }
    if (curve.dashed) {
      looks.push_back({colour ? muted_colour : no_colour, ""});
      continue;
    }
    looks.push_back({colour ? palette[next % palette.size()].terminal : no_colour,
                     marked ? std::string(1, marks[next % marks.size()]) : ""});
    ++next;
  }
  return looks;
}

void draw_band(Canvas& canvas, const Stretch& stretch, int colour) {
  for (std::size_t i = 0; i + 1 < stretch.x.size() && !stretch.low.empty(); ++i) {
    const int first = canvas.dot_across(stretch.x[i]) / 2, last = canvas.dot_across(stretch.x[i + 1]) / 2;
    for (int column = std::min(first, last); column <= std::max(first, last); ++column)
      for (int row = canvas.row_of(stretch.high[i]); row <= canvas.row_of(stretch.low[i]); ++row) {
        Cell& cell = canvas.cell(column, row);
        const double middle = 1 - (row + 0.5) / canvas.rows();
        if (cell.colour != no_colour || middle < stretch.low[i] || middle > stretch.high[i]) continue;
        cell.other = "░";
        cell.colour = colour;
      }
  }
}

void draw_curve(Canvas& canvas, const Curve& curve, const std::vector<Stretch>& stretches, int colour) {
  for (const Stretch& stretch : stretches)
    for (std::size_t i = 0; i < stretch.x.size(); ++i) {
      const int across = canvas.dot_across(stretch.x[i]), up = canvas.dot_up(stretch.y[i]);
      if (curve.points || curve.dashed || i == 0)
        canvas.dot(across, up, colour);
      else
        canvas.line(canvas.dot_across(stretch.x[i - 1]), canvas.dot_up(stretch.y[i - 1]), across, up, colour);
    }
}

void draw_spots(Canvas& canvas, const Curve& curve, const Axis& x, const Axis& y, int colour) {
  for (const Spot& spot : curve.chosen) {
    const double across = x.position(spot.x), up = y.position(spot.y);
    if (!(across >= 0 && across <= 1 && up >= 0 && up <= 1)) continue;
    Cell& cell = canvas.cell(canvas.dot_across(across) / 2, canvas.row_of(up));
    cell.mark = spot_sign;
    cell.colour = colour;
  }
}

/// Puts the curve's letter on it at three places; those of other curves are elsewhere.
void draw_marks(Canvas& canvas, const std::vector<Stretch>& stretches, const Look& look, double offset) {
  for (int i = 0; i < 3 && !look.mark.empty(); ++i) {
    const double target = (i + offset) / 3;
    for (const Stretch& stretch : stretches) {
      const auto found = std::lower_bound(stretch.x.begin(), stretch.x.end(), target);
      if (found == stretch.x.end() || (found == stretch.x.begin() && *found > target)) continue;
      const auto after = elements(found - stretch.x.begin());
      const std::size_t before = after == 0 ? 0 : after - 1;
      const double span = stretch.x[after] - stretch.x[before];
      const double share = span > 0 ? (target - stretch.x[before]) / span : 0;
      const double height = stretch.y[before] + share * (stretch.y[after] - stretch.y[before]);
      Cell& cell = canvas.cell(canvas.dot_across(target) / 2, canvas.row_of(height));
      cell.mark = look.mark;
      cell.colour = look.colour;
      break;
    }
  }
}

void draw(Canvas& canvas, const Chart& chart, const Axis& x, const Axis& y, bool colour) {
  const std::vector<Look> looks = looks_of(chart, colour);
  std::vector<std::vector<Stretch>> stretches;
  for (const Curve& curve : chart.curves) stretches.push_back(stretches_of(curve, x, y, 2 * canvas.columns()));
  for (const bool faint : {true, false})
    for (std::size_t i = 0; i < looks.size(); ++i)
      if (chart.curves[i].faint == faint) draw_curve(canvas, chart.curves[i], stretches[i], looks[i].colour);
  for (std::size_t i = 0; i < looks.size(); ++i) {
    draw_marks(canvas, stretches[i], looks[i], (static_cast<double>(i) + 0.5) / static_cast<double>(looks.size()));
    // Without colours a shade could not be told from another curve's.
    if (colour && !chart.curves[i].faint)
      for (const Stretch& stretch : stretches[i]) draw_band(canvas, stretch, looks[i].colour);
  }
  for (const ReferenceLine& reference : chart.references) {
    const double position = y.position(reference.y);
    for (int column = 0; column < canvas.columns() && std::isfinite(position); ++column) {
      Cell& cell = canvas.cell(column, canvas.row_of(position));
      if (cell.dots != 0 || !cell.mark.empty()) continue;
      cell.other = "╌";
      cell.colour = colour ? muted_colour : no_colour;
    }
  }
  for (std::size_t i = 0; i < looks.size(); ++i) draw_spots(canvas, chart.curves[i], x, y, looks[i].colour);
}

/// Names of curves and reference lines in lines of at most `columns`.
std::vector<std::string> legend_lines(const Chart& chart, int columns, bool colour) {
  struct Entry {
    std::string sign, label;
    int colour;
  };
  std::vector<Entry> entries;
  const std::vector<Look> looks = looks_of(chart, colour);
  for (std::size_t i = 0; i < looks.size(); ++i)
    if (!chart.curves[i].faint && !chart.curves[i].label.empty())
      entries.push_back({!looks[i].mark.empty()   ? looks[i].mark
                         : chart.curves[i].dashed ? "··"
                                                  : "━━",
                         chart.curves[i].label, looks[i].colour});
  if (has_chosen(chart)) entries.push_back({spot_sign, chosen_label, muted_colour});
  for (const ReferenceLine& reference : chart.references)
    entries.push_back({"╌╌", fmt::format("{} ({})", reference.label, short_number(reference.y)), muted_colour});

  const std::size_t room = elements(columns);
  std::vector<std::string> lines;
  std::size_t used = room + 1;
  for (const Entry& entry : entries) {
    const std::size_t sign = text_width(entry.sign) + 1;
    const std::string label = cut_to(printable(entry.label), room - sign);
    const std::size_t needs = sign + text_width(label);
    if (used + 2 + needs > room) {
      lines.emplace_back();
      used = 0;
    } else {
      lines.back() += "  ";
      used += 2;
    }
    lines.back() += coloured(entry.sign, entry.colour, colour) + " " + label;
    used += needs;
  }
  return lines;
}

/// Numbers under the axis, each centred at its tick; those that would touch the one before are left out.
struct Scale {
  std::string rule, labels;
};
Scale scale_of(const std::vector<Tick>& ticks, const Canvas& canvas, int left, int columns) {
  std::vector<std::string> rule(elements(canvas.columns()), "─");
  std::string labels;
  for (const Tick& tick : ticks) {
    const int column = canvas.dot_across(tick.position) / 2, width = static_cast<int>(tick.label.size());
    const int begin = std::clamp(left + column - width / 2, 0, std::max(columns - width, 0));
    if (begin < static_cast<int>(labels.size()) + (labels.empty() ? 0 : 1)) continue;
    labels += std::string(elements(begin) - labels.size(), ' ') + tick.label;
    rule[column] = "┬";
  }
  Scale scale{"", labels};
  for (const std::string& piece : rule) scale.rule += piece;
  return scale;
}

std::string without_trailing_spaces(std::string line) { return line.erase(line.find_last_not_of(' ') + 1); }

/// The lines around the area between the axes that there is room for.
struct Surroundings {
  std::vector<std::string> above, below;
  int rows = 0;  // that are left for the area
};
Surroundings surroundings_of(const Chart& chart, int columns, int rows, bool colour) {
  const std::size_t width = elements(columns);
  Surroundings result;
  result.rows = rows - 2;  // the axis and its numbers
  const auto fits = [&](std::size_t lines) { return result.rows - static_cast<int>(lines) >= fewest_plot_rows; };
  const auto take = [&](std::vector<std::string>& lines, const std::string& line) {
    lines.push_back(line);
    --result.rows;
  };
  const std::vector<std::string> legend = legend_lines(chart, columns, colour);
  if (!chart.title.empty() && fits(1)) take(result.above, cut_to(printable(chart.title), width));
  if (fits(legend.size()))
    for (const std::string& line : legend) take(result.above, line);
  if (!chart.y_label.empty() && fits(1)) take(result.above, cut_to(printable(noted_y_label(chart)), width));
  if (!chart.x_label.empty() && fits(1)) {
    const std::string label = cut_to(printable(chart.x_label), width);
    take(result.below, std::string(width - text_width(label), ' ') + label);
  }
  return result;
}

}  // namespace

std::string terminal_text_of(const Chart& chart, int columns, int rows, bool colour) {
  require_range("chart", "columns of a terminal picture", columns, narrowest, 10000);
  require_range("chart", "rows of a terminal picture", rows, lowest, 10000);
  const Axis x = x_axis_of(chart), y = y_axis_of(chart);
  const Surroundings around = surroundings_of(chart, columns, rows, colour);

  std::vector<Tick> y_ticks = y.ticks(std::max(around.rows / 3, 2));
  std::size_t margin = 0;
  for (const Tick& tick : y_ticks) margin = std::max(margin, tick.label.size());
  const int left = static_cast<int>(margin) + 2;
  Canvas canvas(columns - left, around.rows);
  draw(canvas, chart, x, y, colour);

  std::vector<std::string> numbers(elements(around.rows));
  for (const Tick& tick : y_ticks) numbers[canvas.row_of(tick.position)] = tick.label;
  std::string text;
  for (const std::string& line : around.above) text += line + "\n";
  for (int row = 0; row < around.rows; ++row) {
    const std::string& number = numbers[row];
    text += without_trailing_spaces(
                fmt::format("{:>{}} {}{}", number, margin, number.empty() ? "│" : "┤", canvas.row_text(row, colour))) +
            "\n";
  }
  const Scale scale = scale_of(x.ticks(std::max(canvas.columns() / 10, 2)), canvas, left, columns);
  text += std::string(margin + 1, ' ') + "└" + scale.rule + "\n" + scale.labels + "\n";
  for (const std::string& line : around.below) text += line + "\n";
  return text;
}

}  // namespace throughtime

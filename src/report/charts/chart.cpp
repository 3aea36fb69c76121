#include "report/charts/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/files.h"
#include "data/printable.h"
#include "report/charts/axis.h"
#include "report/charts/gnuplot.h"
#include "report/charts/palette.h"
#include "report/text.h"
#include "throughtime/error.h"
#include "throughtime/index.h"

// A picture is laid out here, in pixels of a 96 dpi screen; gnuplot only draws. Every value is handed to it as a
// position on the unit square between the axes, so that both kinds of axis, the ticks and the reader's cursor agree
// with us.

namespace throughtime {
namespace {

/// The colours of everything that is no curve.
struct Inks {
  const char* text;   // title, ticks
  const char* muted;  // labels, reference lines
  const char* hair;   // grid
  const char* faint;  // faint curves
};
constexpr Inks paper_inks = {"#1F2328", "#59636E", "#DDE1E5", "#BFC5CB"};
// Colours that nothing else has: in an SVG they become the reader's own text colour, weaker or stronger.
constexpr Inks svg_inks = {"#010203", "#040506", "#070809", "#0A0B0C"};

constexpr double letter_width = 7;  // pixels of an average letter of the text size
constexpr double text_size = 12, title_size = 15;
constexpr double legend_row = 19, swatch = 22;
constexpr const char* spot_mark = "pt 6 ps 1.1";  // a ring
constexpr double right_margin = 22, bottom_margin = 52;

enum class Sample { line, mark, spot };

struct LegendEntry {
  std::string label;
  Sample sample = Sample::line;
  std::string style = {};
  double x = 0, y = 0;  // pixels from the left and from the top
};

struct Layout {
  int width, height;
  double left = 0, top = 0;  // of the area between the axes
  std::vector<LegendEntry> legend;
  int legend_rows = 1;
  double right() const { return width - right_margin; }
  double bottom() const { return height - bottom_margin; }
};

/// What gnuplot draws as one plot; an SVG names its group after it.
struct Piece {
  const char* kind;
  std::string label;
};

struct Drawing {
  std::string data;      // data blocks
  std::string settings;  // axes and texts
  std::vector<std::string> plots;
  std::vector<Piece> pieces;  // one for each of the plots
};

/// Colours are given to the curves that have a place in the legend, in their order.
std::vector<std::size_t> colour_places(const Chart& chart) {
  std::vector<std::size_t> places;
  std::size_t next = 0;
  for (const Curve& curve : chart.curves) places.push_back(curve.faint || curve.dashed ? 0 : next++);
  return places;
}

/// Lines that the curves are measured against differ in their dashes alone.
std::string measure_style(std::size_t place, const Inks& inks) {
  static constexpr const char* dashes[] = {"dt (8,5)", "dt (3,4)", "dt (12,4,3,4)", "dt (2,8)"};
  return fmt::format("lc rgb '{}' lw 1.2 {}", inks.muted, dashes[place % std::size(dashes)]);
}

std::string line_style(const Chart& chart, std::size_t curve, const Inks& inks) {
  if (chart.curves[curve].dashed) return measure_style(0, inks);
  if (chart.curves[curve].faint) return fmt::format("lc rgb '{}' lw 0.8", inks.faint);
  static constexpr const char* dashes[] = {"", " dt (12,5)", " dt (3,4)"};
  const std::size_t place = colour_places(chart)[curve];
  return fmt::format("lc rgb '{}' lw 1.8{}", palette[place % palette.size()].hex,
                     dashes[place / palette.size() % std::size(dashes)]);
}

/// What the legend names: curves, reference lines with their numbers, and the mark of what was chosen.
std::vector<LegendEntry> legend_of(const Chart& chart, const Inks& inks) {
  std::vector<LegendEntry> entries;
  for (std::size_t i = 0; i < chart.curves.size(); ++i) {
    const Curve& curve = chart.curves[i];
    if (!curve.faint && !curve.label.empty())
      entries.push_back({curve.label, curve.points ? Sample::mark : Sample::line, line_style(chart, i, inks)});
  }
  for (std::size_t i = 0; i < chart.references.size(); ++i)
    entries.push_back({fmt::format("{} ({})", chart.references[i].label, short_number(chart.references[i].y)),
                       Sample::line, measure_style(i, inks)});
  if (has_chosen(chart)) entries.push_back({chosen_label, Sample::spot, fmt::format("lc rgb '{}'", inks.muted)});
  return entries;
}

Layout layout_of(const Chart& chart, const Axis& y, int width, int height, const Inks& inks) {
  Layout layout{.width = width, .height = height};
  std::size_t widest = 1;
  for (const Tick& tick : y.ticks(6)) widest = std::max(widest, text_width(tick.label));
  layout.left = 24 + letter_width * static_cast<double>(widest);

  double across = layout.left, down = chart.title.empty() ? 14 : 46;
  const double end = layout.right();
  for (LegendEntry& entry : legend_of(chart, inks)) {
    const double room = std::max(end - layout.left - swatch - 6, letter_width);
    entry.label = cut_to(printable(entry.label), elements(room / letter_width));
    const double needs = swatch + 6 + letter_width * static_cast<double>(text_width(entry.label));
    if (across > layout.left && across + needs > end) {
      across = layout.left;
      down += legend_row;
      ++layout.legend_rows;
    }
    entry.x = across;
    entry.y = down;
    layout.legend.push_back(std::move(entry));
    across += needs + 16;
  }
  layout.top = (layout.legend.empty() ? down - 14 : down) + (chart.y_label.empty() ? 18 : 40);
  return layout;
}

void require_room(const Layout& layout) {
  if (layout.bottom() - layout.top < 40)
    refuse("chart", "a picture of {} x {} pixels has no room for its texts; make it larger", layout.width,
           layout.height);
}

class Script {
 public:
  Script(const Chart& chart, const Layout& layout, const Inks& inks, const Axis& x, const Axis& y)
      : chart_(chart), layout_(layout), inks_(inks), x_(x), y_(y) {}

  Drawing drawing() {
    frame();
    texts();
    legend();
    for (std::size_t i = 0; i < chart_.curves.size(); ++i)
      if (chart_.curves[i].faint) curve(i);
    for (std::size_t i = 0; i < chart_.curves.size(); ++i)
      if (!chart_.curves[i].faint) band(i);
    references();
    for (const bool dashed : {true, false})
      for (std::size_t i = 0; i < chart_.curves.size(); ++i)
        if (!chart_.curves[i].faint && chart_.curves[i].dashed == dashed) curve(i);
    for (std::size_t i = 0; i < chart_.curves.size(); ++i) spots(i);
    // gnuplot draws nothing at all, not even the axes, without a plot.
    if (result_.plots.empty()) add_plot("NaN", "nothing", "");
    return std::move(result_);
  }

 private:
  std::string at(double pixel_x, double pixel_y) const {
    return fmt::format("screen {:.5f}, screen {:.5f}", pixel_x / layout_.width, 1 - pixel_y / layout_.height);
  }
  void set(const std::string& line) { result_.settings += "set " + line + "\n"; }
  void add_plot(const std::string& what, const char* kind, const std::string& label) {
    result_.plots.push_back(what + " notitle");
    result_.pieces.push_back({kind, label});
  }
  void write(const std::string& text, double pixel_x, double pixel_y, const char* side, const char* ink, double size,
             bool bold = false) {
    set(fmt::format("label {} at {} {} noenhanced front font '{}{},{}' textcolor rgb '{}'", gnuplot_quoted(text),
                    at(pixel_x, pixel_y), side, font(), bold ? ":Bold" : "", size, ink));
  }
  static const char* font() { return "sans-serif"; }
  std::string add_block(const std::string& rows) {
    const std::string name = fmt::format("$block{}", blocks_++);
    result_.data += fmt::format("{} << end_of_block\n{}end_of_block\n", name, rows);
    return name;
  }

  void frame() {
    set(fmt::format("lmargin at screen {:.5f}", layout_.left / layout_.width));
    set(fmt::format("rmargin at screen {:.5f}", layout_.right() / layout_.width));
    set(fmt::format("tmargin at screen {:.5f}", 1 - layout_.top / layout_.height));
    set(fmt::format("bmargin at screen {:.5f}", 1 - layout_.bottom() / layout_.height));
    set("xrange [0:1]\nset yrange [0:1]\nunset key");
    set(fmt::format("border 1 lc rgb '{}' lw 1", inks_.muted));
    set(fmt::format("grid ytics back lt 1 lc rgb '{}' lw 1", inks_.hair));
    const int across = std::clamp(static_cast<int>((layout_.right() - layout_.left) / 80), 2, 10);
    const int up = std::clamp(static_cast<int>((layout_.bottom() - layout_.top) / 32), 2, 8);
    tics("x", x_.ticks(across), "out scale 0.5");
    tics("y", y_.ticks(up), "scale 0");
  }
  void tics(const char* axis, const std::vector<Tick>& ticks, const char* style) {
    std::string list;
    for (const Tick& tick : ticks)
      list += fmt::format("{}{} {:.6f}", list.empty() ? "" : ", ", gnuplot_quoted(tick.label), tick.position);
    set(fmt::format("{}tics nomirror {} ({}) font '{},{}' textcolor rgb '{}'", axis, style, list, font(), text_size,
                    inks_.muted));
  }

  void texts() {
    const double across = layout_.right() - layout_.left;
    const auto letters = [&](double size) { return elements(across / letter_width * text_size / size); };
    if (!chart_.title.empty())
      write(cut_to(printable(chart_.title), letters(title_size)), layout_.left, 22, "left", inks_.text, title_size,
            true);
    if (!chart_.y_label.empty())
      write(cut_to(printable(noted_y_label(chart_)), letters(text_size)), layout_.left, layout_.top - 16, "left",
            inks_.muted, text_size);
    if (!chart_.x_label.empty())
      write(cut_to(printable(chart_.x_label), letters(text_size)), (layout_.left + layout_.right()) / 2,
            layout_.bottom() + 40, "center", inks_.muted, text_size);
    if (!x_.any() && chart_.references.empty())
      write("nothing to draw yet", (layout_.left + layout_.right()) / 2, (layout_.top + layout_.bottom()) / 2, "center",
            inks_.muted, text_size);
  }

  void legend() {
    for (const LegendEntry& entry : layout_.legend) {
      if (entry.sample == Sample::line)
        set(fmt::format("arrow from {} to {} nohead {}", at(entry.x, entry.y), at(entry.x + swatch, entry.y),
                        entry.style));
      else
        set(fmt::format("label '' at {} point {} {}", at(entry.x + swatch / 2, entry.y),
                        entry.sample == Sample::spot ? spot_mark : "pt 7 ps 0.6", entry.style));
      write(entry.label, entry.x + swatch + 6, entry.y, "left", inks_.text, text_size);
    }
  }

  void references() {
    for (std::size_t i = 0; i < chart_.references.size(); ++i) {
      const ReferenceLine& reference = chart_.references[i];
      const double position = y_.position(reference.y);
      if (!std::isfinite(position)) continue;
      add_plot(fmt::format("{} using 1:2 with lines {}", add_block(fmt::format("0 {0:.6f}\n1 {0:.6f}\n", position)),
                           measure_style(i, inks_)),
               "reference", reference.label);
    }
  }

  /// A ring around what was chosen.
  void spots(std::size_t index) {
    std::string rows;
    for (const Spot& spot : chart_.curves[index].chosen) {
      const double across = x_.position(spot.x), up = y_.position(spot.y);
      if (std::isfinite(across) && std::isfinite(up)) rows += fmt::format("{:.6f} {:.6f}\n", across, up);
    }
    if (rows.empty()) return;
    add_plot(
        fmt::format("{} using 1:2 with points {} {}", add_block(rows), spot_mark, line_style(chart_, index, inks_)),
        "chosen", chart_.curves[index].label);
  }

  void band(std::size_t index) {
    const Curve& curve = chart_.curves[index];
    if (curve.low.empty()) return;
    for (const Stretch& stretch : stretches_of(curve, x_, y_, pixels())) {
      std::string rows;
      for (std::size_t i = 0; i < stretch.x.size(); ++i)
        rows += fmt::format("{:.6f} {:.6f} {:.6f}\n", stretch.x[i], stretch.low[i], stretch.high[i]);
      add_plot(fmt::format("{} using 1:2:3 with filledcurves fs transparent solid 0.18 noborder {}", add_block(rows),
                           line_style(chart_, index, inks_)),
               "band", curve.label);
    }
  }

  void curve(std::size_t index) {
    const Curve& curve = chart_.curves[index];
    std::string lines, marks;
    for (const Stretch& stretch : stretches_of(curve, x_, y_, pixels())) {
      // A lone point has no line to be seen by.
      std::string& rows = curve.points || stretch.x.size() == 1 ? marks : lines;
      for (std::size_t i = 0; i < stretch.x.size(); ++i)
        rows += fmt::format("{:.6f} {:.6f}\n", stretch.x[i], stretch.y[i]);
      rows += "\n";
    }
    const std::string style = line_style(chart_, index, inks_);
    const char* kind = curve.faint ? "faint" : "curve";
    if (!lines.empty()) add_plot(fmt::format("{} using 1:2 with lines {}", add_block(lines), style), kind, curve.label);
    if (!marks.empty())
      add_plot(fmt::format("{} using 1:2 with points pt 7 ps 0.45 {}", add_block(marks), style), kind, curve.label);
  }

  int pixels() const { return static_cast<int>(layout_.right() - layout_.left); }

  const Chart& chart_;
  const Layout& layout_;
  const Inks& inks_;
  const Axis& x_;
  const Axis& y_;
  Drawing result_;
  int blocks_ = 0;
};

std::string script_text(const Drawing& drawing) {
  std::string text = drawing.data + drawing.settings + "plot ";
  for (std::size_t i = 0; i < drawing.plots.size(); ++i) text += (i == 0 ? "" : ", \\\n  ") + drawing.plots[i];
  return text + "\n";
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  std::string result;
  std::size_t at = 0;
  for (std::size_t found; (found = text.find(from, at)) != std::string::npos; at = found + from.size()) {
    result.append(text, at, found - at);
    result += to;
  }
  text = result.append(text, at);
}

/// gnuplot writes colours of lines with padding and those of texts without.
void give_ink(std::string& svg, int first, double opacity) {
  const std::string line = fmt::format("rgb({:3}, {:3}, {:3})", first, first + 1, first + 2);
  const std::string text = fmt::format("rgb({},{},{})", first, first + 1, first + 2);
  replace_all(svg, fmt::format("stroke='{}'", line), fmt::format("stroke='currentColor' stroke-opacity='{}'", opacity));
  replace_all(svg, fmt::format("fill=\"{}\"", text), fmt::format("fill=\"currentColor\" fill-opacity=\"{}\"", opacity));
  replace_all(svg, line, "currentColor");
}

/// The reader's colours, our names, and where the axes are for whoever wants to read coordinates off the picture.
std::string finished_svg(std::string svg, const Chart& chart, const Layout& layout, const std::vector<Piece>& pieces,
                         const Axis& x, const Axis& y) {
  // Groups that only change the pen are most of gnuplot's text.
  for (const char* colour : {"white", "black", "gray"}) replace_all(svg, fmt::format(" color=\"{}\"", colour), "");
  const std::string_view open = "<g fill=\"none\"", close = ">\n</g>\n";
  for (std::size_t at = 0; (at = svg.find(open, at)) != std::string::npos;) {
    const std::size_t end = svg.find('>', at);
    if (svg.compare(end, close.size(), close) == 0)
      svg.erase(at, end + close.size() - at);
    else
      at = end;
  }
  give_ink(svg, 1, 1);
  give_ink(svg, 4, 0.72);
  give_ink(svg, 7, 0.14);
  give_ink(svg, 10, 0.3);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::string name = fmt::format("gnuplot_plot_{}", i + 1);
    replace_all(
        svg, fmt::format("<g id=\"{0}\" ><title>{0}</title>", name),
        fmt::format("<g class=\"{}\" data-label=\"{}\">", pieces[i].kind, html_escaped(printable(pieces[i].label))));
  }
  const std::string head = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" "
      "class=\"throughtime-chart\" "
      "role=\"img\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" data-area=\"{2:.2f} {3:.2f} {4:.2f} {5:.2f}\" "
      "data-x=\"{6:.9g} {7:.9g} {8}\" data-y=\"{9:.9g} {10:.9g} {11}\">\n<title>{12}</title>\n"
      "<style>.throughtime-chart{{color:#1f2328}}.throughtime-chart .paper{{fill:#ffffff}}"
      ".throughtime-chart text{{font-family:system-ui,'Segoe UI',Helvetica,Arial,sans-serif}}"
      ".throughtime-chart [font-size='15.00']{{font-weight:600}}"
      "@media(prefers-color-scheme:dark){{.throughtime-chart{{color:#e6edf3}}.throughtime-chart "
      ".paper{{fill:#15191e}}"
      "}}"
      "</style>\n<rect class=\"paper\" width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n",
      layout.width, layout.height, layout.left, layout.top, layout.right(), layout.bottom(), x.low(), x.high(),
      x.logarithmic() ? "log" : "linear", y.low(), y.high(), y.logarithmic() ? "log" : "linear",
      html_escaped(printable(chart.title)));
  const std::size_t canvas = svg.find("<g id=\"gnuplot_canvas\">");
  if (canvas == std::string::npos) fail("chart", "gnuplot wrote an SVG of an unknown kind");
  return head + "<g>" + svg.substr(canvas + std::string_view("<g id=\"gnuplot_canvas\">").size());
}

}  // namespace

bool has_chosen(const Chart& chart) {
  return std::any_of(chart.curves.begin(), chart.curves.end(),
                     [](const Curve& curve) { return !curve.chosen.empty(); });
}

std::string noted_y_label(const Chart& chart) {
  return chart.note.empty() ? chart.y_label : fmt::format("{} ({})", chart.y_label, chart.note);
}

int height_for(const Chart& chart, int width, int height_without_legend) {
  const Layout layout = layout_of(chart, y_axis_of(chart), width, height_without_legend, svg_inks);
  return height_without_legend + static_cast<int>(legend_row) * layout.legend_rows;
}

std::string svg_of(const Chart& chart, int width, int height) {
  const Axis x = x_axis_of(chart), y = y_axis_of(chart);
  const Layout layout = layout_of(chart, y, width, height, svg_inks);
  require_room(layout);
  const Drawing drawing = Script(chart, layout, svg_inks, x, y).drawing();
  const std::string terminal =
      fmt::format("svg size {},{} noenhanced rounded font 'sans-serif,{}'", width, height, text_size);
  return finished_svg(run_gnuplot(terminal, script_text(drawing)), chart, layout, drawing.pieces, x, y);
}

void write_png(const Chart& chart, const std::string& path, int width, int height) {
  // The layout of the SVG, enlarged: 1440 pixels are a picture of 720 for a screen or a page of twice the density.
  const double scale = std::max(width / 720.0, 0.5);
  const Axis x = x_axis_of(chart), y = y_axis_of(chart);
  const Layout layout = layout_of(chart, y, static_cast<int>(std::lround(width / scale)),
                                  static_cast<int>(std::lround(height / scale)), paper_inks);
  require_room(layout);
  const Drawing drawing = Script(chart, layout, paper_inks, x, y).drawing();
  const std::string terminal = fmt::format(
      "pngcairo size {},{} noenhanced rounded background rgb '#ffffff' font 'sans-serif,{}' fontscale {:.3f} "
      "linewidth {:.3f} pointscale {:.3f}",
      width, height, text_size, 0.78 * scale, scale, scale);
  write_output(path, run_gnuplot(terminal, script_text(drawing)));
}

}  // namespace throughtime

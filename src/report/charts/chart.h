#pragma once

#include <string>
#include <vector>

namespace throughtime {

/// A place on a chart that stands out: the weights that validation chose.
struct Spot {
  double x = 0, y = 0;
};

/// One curve: x and y of equal length; low and high, where given, are the edges of a band around y.
struct Curve {
  std::string label;
  std::vector<double> x;
  std::vector<double> y;
  std::vector<double> low = {};
  std::vector<double> high = {};
  bool faint = false;   // thin and grey, without a place in the legend: single draws behind their mean
  bool points = false;  // marks instead of a line
  bool dashed = false;  // in no colour of its own: what the others are measured against
  std::vector<Spot> chosen = {};
};

/// A horizontal line with a name: a baseline, a paper's value, a tolerance.
struct ReferenceLine {
  std::string label;
  double y = 0;
};

/// A picture of curves over one pair of axes. Points that are not finite are gaps, and so are those that are not
/// positive on a logarithmic axis.
struct Chart {
  std::string title;
  std::string x_label;    // with its unit
  std::string y_label;    // with its unit
  std::string note = {};  // how the curves came about; pictures have it behind y_label, pages below
  bool log_x = false;
  bool log_y = false;
  bool never_negative = false;  // values of y are not: a band that reaches below zero is cut there
  std::vector<Curve> curves;
  std::vector<ReferenceLine> references = {};
  std::string caption = {};  // sentences below it on a page
};

/// Whether gnuplot is there to draw pictures; drawing in the terminal does not need it.
bool gnuplot_found();
/// The picture as an SVG document of its own; fails with what to install where gnuplot is missing.
std::string svg_of(const Chart& chart, int width = 720, int height = 420);
/// The height of a picture of that width that leaves so many pixels for all but the rows of its legend.
int height_for(const Chart& chart, int width, int height_without_legend);
/// The same as a PNG file, written whole or not at all.
void write_png(const Chart& chart, const std::string& path, int width = 1440, int height = 840);
/// What the legend calls spots, and the y axis with its note.
inline constexpr const char* chosen_label = "chosen on validation";
bool has_chosen(const Chart& chart);
std::string noted_y_label(const Chart& chart);
/// The picture in `columns` x `rows` characters of text, legend included; colour with ANSI codes if asked for.
std::string terminal_text_of(const Chart& chart, int columns, int rows, bool colour);

}  // namespace throughtime

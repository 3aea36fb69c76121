#pragma once

#include <string>
#include <vector>

#include "report/charts/curves.h"

namespace throughtime {

/// A table of texts under titles; numbers are aligned at the right.
struct ReportTable {
  std::string title;
  std::string note;  // how to read it
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
  std::size_t text_columns = 1;  // the first ones hold texts
};

/// A text that is folded away until someone asks for it; lines that begin with a key of `marked` are highlighted.
struct ReportAppendix {
  std::string title;
  Entries entries;
  std::vector<std::string> marked = {};
};

/// A picture that is drawn already, as SVG.
struct ReportPicture {
  std::string title;
  std::string caption;
  std::string svg;
};

/// The forecasts of the first run of a group: a picture and its residuals for each target, and how each one scores
/// beside simple forecasts.
struct GroupForecast {
  std::string group;
  std::vector<Chart> charts;
  ReportTable targets = {};
};

/// What is to be said about runs that can be compared: those of one question (report/questions.h).
struct ReportSection {
  std::string title;
  std::string finding = {};  // what came out, in a sentence
  std::vector<ReportTable> tables = {};
  std::size_t first_tables = 1;  // so many of them come before the pictures
  std::string csv = {};          // the results as a file
  std::vector<ReportPicture> confusions = {};
  std::vector<Chart> forecasts = {};
  std::vector<Chart> figures = {};
  std::string not_drawn = {};  // which curves are left out, and why
};

/// All that is to be said about some runs, in no format yet.
struct Report {
  std::string title;
  std::string made_by;  // version and commit of the program
  std::vector<std::string> troubles = {};
  std::vector<ReportSection> sections = {};
  std::vector<ReportTable> tables = {};  // about all of them
  std::vector<ReportAppendix> appendices = {};
};

struct ReportOptions {
  std::string title = "throughtime report";
  std::vector<std::string> metrics = {};  // empty: all that change
  int smooth = 1;                         // values of a curve that are averaged into one
  XAxis x = XAxis::iteration;             // what the curves are drawn over
  bool log = false;                       // logarithmic axes for all figures, not only for those that need one
  bool figures = true;
  std::vector<GroupForecast> forecasts = {};
  std::vector<std::string> troubles = {};
};

/// Curves of more groups than this cannot be told apart in one picture; a report then has several.
inline constexpr std::size_t most_groups_of_a_figure = 12;

Report make_report(const std::vector<RunGroup>& groups, const ReportOptions& options);
/// One picture of each metric, with all groups; refuses a metric that no run has, and an axis that none can tell.
std::vector<Chart> make_figures(const std::vector<RunGroup>& groups, const ReportOptions& options);

/// One page without anything outside of it, with the numbers of its tables and pictures as files to save. Without
/// gnuplot it has everything but its pictures and says what to install.
std::string html_of(const Report& report);
/// The tables of a report; it has no pictures.
std::string markdown_of(const Report& report);
}  // namespace throughtime

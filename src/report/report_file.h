#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "report/report.h"
#include "throughtime/choice.h"

namespace throughtime {

/// What a report is written as: a page, its tables, its numbers, or one picture.
enum class ReportFormat { html, md, csv, svg, png };
constexpr auto names_of(ReportFormat) { return choice_names("html", "md", "csv", "svg", "png"); }

/// The format of a name; without one that of the path's ending, html where it has none. Refuses others.
ReportFormat report_format(const std::string& name, const std::filesystem::path& path);
/// Writes the file, whole or not at all.
void write_report(const std::vector<RunGroup>& groups, const ReportOptions& options, ReportFormat format,
                  const std::filesystem::path& path);

/// One picture of each metric that is asked for, or of all that change; refuses runs without any.
std::vector<Chart> require_figures(const std::vector<RunGroup>& groups, const ReportOptions& options);
/// The one picture that a picture file can hold: of the metric that was asked for, or the first worth drawing.
Chart single_figure(const std::vector<RunGroup>& groups, const ReportOptions& options);

}  // namespace throughtime

#include "report/report_file.h"

#include "core/files.h"
#include "report/downloads.h"
#include "throughtime/error.h"

namespace throughtime {

ReportFormat report_format(const std::string& name, const std::filesystem::path& path) {
  const std::string ending = path.extension().string();
  if (name.empty() && ending.empty()) return ReportFormat::html;
  return choice_of<ReportFormat>(name.empty() ? ending.substr(1) : name, "report", "format (--format)");
}

void write_report(const std::vector<RunGroup>& groups, const ReportOptions& options, ReportFormat format,
                  const std::filesystem::path& path) {
  switch (format) {
    case ReportFormat::html:
      return write_output(path, html_of(make_report(groups, options)));
    case ReportFormat::md:
      return write_output(path, markdown_of(make_report(groups, options)));
    case ReportFormat::csv:
      return write_output(path, csv_of(groups));
    case ReportFormat::svg:
      return write_output(path, svg_of(single_figure(groups, options)));
    case ReportFormat::png:
      return write_png(single_figure(groups, options), path.string());
  }
}

std::vector<Chart> require_figures(const std::vector<RunGroup>& groups, const ReportOptions& options) {
  std::vector<Chart> figures = make_figures(groups, options);
  if (figures.empty()) refuse("plot", "the runs have written no metric that changes; nothing to draw");
  return figures;
}

Chart single_figure(const std::vector<RunGroup>& groups, const ReportOptions& options) {
  if (options.metrics.size() > 1) refuse("plot", "a picture file holds one metric, got {}", options.metrics.size());
  return require_figures(groups, options).front();
}

}  // namespace throughtime

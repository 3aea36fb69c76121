#include "report/report.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "terminal.h"
#include "throughtime/error.h"
#include "train/run/files.h"

namespace throughtime {
namespace {

constexpr int plot_rows = 24;

struct ReportArguments {
  std::vector<std::string> runs;
  ReportOptions options;
  std::string svg, png;             // of plot
  std::string output, format = "";  // of report
};

/// What both commands ask for: runs, and how their curves are drawn.
void add_curve_options(CLI::App& command, ReportArguments& arguments) {
  command
      .add_option("runs", arguments.runs,
                  "Run directories, or directories of runs; equal runs with several seeds are one curve")
      ->required();
  command
      .add_option("--metric", arguments.options.metrics, "Only this metric, as metrics.jsonl names it; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command.add_flag("--log", arguments.options.log, "Logarithmic axes also where the values do not ask for them");
  command.add_option("--smooth", arguments.options.smooth, "Draw the mean of the last N values")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
}

void say_troubles(const std::vector<RunGroup>& groups) {
  for (const RunGroup& group : groups)
    for (const RunRecord& run : group.runs)
      for (const std::string& trouble : run.troubles)
        fmt::print(stderr, "{}: {}\n", run.directory.string(), one_line(trouble));
}

/// The one picture that a picture file can hold: of the metric that was asked for, or the first worth drawing.
Chart single_figure(const std::vector<RunGroup>& groups, const ReportOptions& options) {
  const std::vector<Chart> figures = make_figures(groups, options);
  if (options.metrics.size() > 1) refuse("plot", "a picture file holds one metric, got {}", options.metrics.size());
  if (figures.empty()) refuse("plot", "the runs have written no metric that changes; nothing to draw");
  return figures.front();
}

void plot(ReportArguments arguments) {
  const std::vector<RunGroup> groups = group_runs(read_runs(arguments.runs));
  say_troubles(groups);
  if (!arguments.svg.empty()) replace_file(arguments.svg, svg_of(single_figure(groups, arguments.options)));
  if (!arguments.png.empty()) write_png(single_figure(groups, arguments.options), arguments.png);
  if (!arguments.svg.empty() || !arguments.png.empty()) return;
  const Style style = style_of(STDOUT_FILENO);
  std::vector<Chart> figures = make_figures(groups, arguments.options);
  if (arguments.options.metrics.empty() && !figures.empty()) figures.resize(1);
  if (figures.empty()) refuse("plot", "the runs have written no metric that changes; nothing to draw");
  for (const Chart& figure : figures)
    fmt::print("{}", terminal_text_of(figure, std::max(style.width, 20), plot_rows, style.color));
}

void report(const ReportArguments& arguments) {
  const std::filesystem::path output = arguments.output;
  std::string format = arguments.format;
  if (format.empty()) format = output.extension().empty() ? "html" : output.extension().string().substr(1);
  const std::vector<RunGroup> groups = group_runs(read_runs(arguments.runs));
  say_troubles(groups);
  if (format == "html")
    replace_file(output, html_of(make_report(groups, arguments.options)));
  else if (format == "md")
    replace_file(output, markdown_of(make_report(groups, arguments.options)));
  else if (format == "csv")
    replace_file(output, csv_of(groups));
  else if (format == "svg")
    replace_file(output, svg_of(single_figure(groups, arguments.options)));
  else if (format == "png")
    write_png(single_figure(groups, arguments.options), output.string());
  else
    refuse("report", "format must be html, md, csv, svg or png, got '{}'; name it with --format", format);
  fmt::print(stderr, "wrote {}\n", output.string());
}

}  // namespace

void add_plot_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("plot", "Draw the curves of runs in the terminal, or into a picture file");
  const auto arguments = std::make_shared<ReportArguments>();
  add_curve_options(*command, *arguments);
  command->add_option("--svg", arguments->svg, "Write the picture here instead")->type_name("FILE");
  command->add_option("--png", arguments->png, "Write the picture here instead")->type_name("FILE");
  command->callback([arguments] { plot(*arguments); });
}

void add_report_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("report", "Write one self-contained page about runs: results, curves, costs");
  const auto arguments = std::make_shared<ReportArguments>();
  add_curve_options(*command, *arguments);
  command->add_option("-o,--output", arguments->output, "The file to write")->type_name("FILE")->required();
  command->add_option("--format", arguments->format, "html, md, csv, svg or png; without it the file's ending decides")
      ->type_name("NAME");
  command->add_option("--title", arguments->options.title, "The page's title")->capture_default_str();
  command->callback([arguments] { report(*arguments); });
}

}  // namespace throughtime

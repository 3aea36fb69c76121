#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "data/printable.h"
#include "report/report_file.h"
#include "terminal.h"

namespace throughtime {
namespace {

constexpr int plot_rows = 24;

struct ReportArguments {
  std::vector<std::string> runs;
  ReportOptions options;
  std::string x{name_of(XAxis::iteration)};
  std::string svg, png;        // of plot
  std::string output, format;  // of report
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
  command.add_option("--x", arguments.x, "What curves are drawn over; seconds are those of training")
      ->check(CLI::IsMember(all_names<XAxis>()))
      ->capture_default_str();
  command.add_flag("--log", arguments.options.log, "Logarithmic axes also where the values do not ask for them");
  command.add_option("--smooth", arguments.options.smooth, "Draw the mean of the last N values")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
}

ReportOptions options_of(const ReportArguments& arguments) {
  ReportOptions options = arguments.options;
  options.x = choice_of<XAxis>(arguments.x, "report", "axis (--x)");
  return options;
}

void say_troubles(const std::vector<RunGroup>& groups) {
  for (const RunGroup& group : groups)
    for (const RunRecord& run : group.runs)
      for (const std::string& trouble : run.troubles) tell("{}: {}\n", run.directory.string(), printable(trouble));
}

void plot(const ReportArguments& arguments) {
  const std::vector<RunGroup> groups = group_runs(read_runs(arguments.runs));
  say_troubles(groups);
  const ReportOptions options = options_of(arguments);
  if (!arguments.svg.empty()) write_report(groups, options, ReportFormat::svg, arguments.svg);
  if (!arguments.png.empty()) write_report(groups, options, ReportFormat::png, arguments.png);
  if (!arguments.svg.empty() || !arguments.png.empty()) return;
  const Style style = style_of(STDOUT_FILENO);
  std::vector<Chart> figures = require_figures(groups, options);
  if (options.metrics.empty()) figures.resize(1);
  for (const Chart& figure : figures)
    fmt::print("{}", terminal_text_of(figure, std::max(style.width, 20), plot_rows, style.color));
}

void report(const ReportArguments& arguments) {
  const std::filesystem::path output = arguments.output;
  const ReportFormat format = report_format(arguments.format, output);
  const std::vector<RunGroup> groups = group_runs(read_runs(arguments.runs));
  say_troubles(groups);
  write_report(groups, options_of(arguments), format, output);
  tell("wrote {}\n", output.string());
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
  command
      ->add_option("--format", arguments->format,
                   fmt::format("{}; without it the file's ending decides", fmt::join(all_names<ReportFormat>(), ", ")))
      ->type_name("NAME");
  command->add_option("--title", arguments->options.title, "The page's title")->capture_default_str();
  command->callback([arguments] { report(*arguments); });
}

}  // namespace throughtime

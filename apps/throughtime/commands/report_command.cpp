#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "core/files.h"
#include "data/printable.h"
#include "report/charts/forecast_chart.h"
#include "report/report_file.h"
#include "terminal.h"
#include "throughtime/error.h"
#include "train/run/session.h"
#include "weight_choice.h"

namespace throughtime {
namespace {

constexpr int plot_rows = 24;

struct ReportArguments {
  std::vector<std::string> runs;
  ReportOptions options;
  std::string x{name_of(XAxis::iteration)};
  std::string svg, png;        // of plot
  std::string output, format;  // of report
  bool forecast = false;       // of plot, and the next three
  WeightChoice weights;
  std::string split{split_name(Split::test)};
  std::int64_t rows = 500;
  bool rows_given = false;  // of report
};

/// Forecasts on a page are drawn of as many steps where nobody says how many: more would be one on top of the other.
constexpr std::int64_t report_rows = 200;

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

void write_pngs(const RunForecast& forecast, const std::string& name, const std::string& path) {
  for (std::size_t target = 0; target < forecast.targets.size(); ++target) {
    const ForecastCurve& curve = forecast.targets[target];
    write_png(forecast_chart(forecast, curve, name), picture_path(path, target, false).string());
    write_png(residual_chart(forecast, curve, name), picture_path(path, target, true).string());
    tell("wrote {} and {}\n", picture_path(path, target, false).string(), picture_path(path, target, true).string());
  }
}

/// A chart's own texts are printable, and its colours must reach the terminal as they are.
void show_chart(const Chart& chart) {
  const Style style = style_of(STDOUT_FILENO);
  fmt::print("{}", terminal_text_of(chart, std::max(style.width, 20), plot_rows, style.color));
}

void plot_forecast(const ReportArguments& arguments) {
  if (arguments.runs.size() != 1) refuse("plot", "--forecast draws one run, got {}", arguments.runs.size());
  const Split split = choice_of<Split>(arguments.split, "plot", "split (--split)");
  const std::string& run = arguments.runs.front();
  const bool best = choose_weights(run, arguments.weights);
  const std::unique_ptr<Trainer> trainer = open_run(run, best);
  const RunForecast forecast = forecast_of(*trainer, split, arguments.rows);
  say_weights(run, best);
  const std::string name = trainer->plan().name;
  const std::vector<Chart> charts = forecast_charts(forecast, name);
  if (!arguments.svg.empty()) write_output(arguments.svg, stacked_svg(charts));
  if (!arguments.png.empty()) write_pngs(forecast, name, arguments.png);
  if (!arguments.svg.empty() || !arguments.png.empty()) return;
  for (const Chart& chart : charts) show_chart(chart);
}

void plot(const ReportArguments& arguments) {
  if (arguments.forecast) return plot_forecast(arguments);
  const std::vector<RunGroup> groups = group_runs(read_runs(arguments.runs));
  say_troubles(groups);
  const ReportOptions options = options_of(arguments);
  if (!arguments.svg.empty()) write_report(groups, options, ReportFormat::svg, arguments.svg);
  if (!arguments.png.empty()) write_report(groups, options, ReportFormat::png, arguments.png);
  if (!arguments.svg.empty() || !arguments.png.empty()) return;
  std::vector<Chart> figures = require_figures(groups, options);
  if (options.metrics.empty()) figures.resize(1);
  for (const Chart& figure : figures) show_chart(figure);
}

void report(const ReportArguments& arguments) {
  const std::filesystem::path output = arguments.output;
  const ReportFormat format = report_format(arguments.format, output);
  if (arguments.rows_given && format != ReportFormat::html)
    refuse("report", "--rows says how much of a forecast is drawn on a page of html, but {} draws no forecasts",
           name_of(format));
  const std::vector<RunGroup> groups = group_runs(read_runs(arguments.runs));
  say_troubles(groups);
  ReportOptions options = options_of(arguments);
  if (format == ReportFormat::html || format == ReportFormat::md)
    options.forecasts = report_forecasts(groups, arguments.rows, options.troubles);
  write_report(groups, options, format, output);
  tell("wrote {}\n", output.string());
}

}  // namespace

void add_plot_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("plot", "Draw the curves of runs in the terminal, or into a picture file");
  const auto arguments = std::make_shared<ReportArguments>();
  add_curve_options(*command, *arguments);
  CLI::Option* forecast =
      command->add_flag("--forecast", arguments->forecast,
                        "Draw what one run of a series forecasts: truth, forecast, band and residuals");
  command->add_option("--split", arguments->split, "With --forecast: train, validation or test")
      ->needs(forecast)
      ->capture_default_str();
  command->add_option("--rows", arguments->rows, "With --forecast: the last N steps of the split; 0: all")
      ->needs(forecast)
      ->check(CLI::Range(0, 1000000000))
      ->type_name("N")
      ->capture_default_str();
  add_weight_options(*command, arguments->weights, forecast);
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
  arguments->rows = report_rows;
  command->add_option("--rows", arguments->rows, "Draw forecasts of the last N steps of the test split; 0: all")
      ->check(CLI::Range(0, 1000000000))
      ->type_name("N")
      ->capture_default_str();
  command->add_option("--title", arguments->options.title, "The page's title")->capture_default_str();
  command->callback([arguments, command] {
    arguments->rows_given = command->count("--rows") > 0;
    report(*arguments);
  });
}

}  // namespace throughtime

#include "report/charts/forecast_chart.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "report/charts/axis.h"
#include "report/text.h"
#include "tasks/series/forecast_scores.h"
#include "tasks/series/forecast_view.h"
#include "throughtime/error.h"
#include "train/run/session.h"

namespace throughtime {
namespace {

std::string ahead_text(int horizon) {
  return horizon == 0 ? "at the same step" : fmt::format("{} step{} ahead", horizon, horizon == 1 ? "" : "s");
}

std::string title_of(const RunForecast& forecast, const ForecastCurve& curve, const std::string& name,
                     const std::string& what) {
  return fmt::format("{}: {} of {}, {}, {} split", name, what, curve.target.column, ahead_text(curve.target.horizon),
                     forecast.split);
}

/// How each target of an evaluation that was just made scores beside forecasts that need no net.
ReportTable targets_table(Trainer& trainer, Split split, const std::string& name) {
  const Metric metric = trainer.task().metrics().front();
  const std::vector<Rival> rivals = trainer.task().rivals(split);
  ReportTable table{
      .title = "Each target beside simple forecasts",
      .note = fmt::format("{} of the first seed on the {} split; ", metric_name(metric), split_name(split)),
      .columns = {"target", "run", metric_name(metric)},
      .rows = {},
      .text_columns = 2};
  std::vector<std::string> texts;
  for (std::size_t k = 0; k < rivals.size(); ++k) {
    table.columns.push_back(rivals[k].name);
    if (k == 0) table.columns.push_back("x naive");
    texts.push_back(fmt::format("{}: {}", rivals[k].name, rivals[k].text));
  }
  table.note += fmt::format("{}.", fmt::join(texts, "; "));
  const std::vector<ForecastTarget>& targets = trainer.task().forecast()->targets();
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const double own = trainer.evaluator().forecast_scores()->score(metric, i);
    table.rows.push_back({targets[i].name, name, short_number(own)});
    for (std::size_t k = 0; k < rivals.size(); ++k) {
      const double rival = rivals[k].first_scores[i];
      table.rows.back().push_back(short_number(rival));
      if (k == 0) table.rows.back().push_back(rival > 0 ? short_number(own / rival, 3) : "–");
    }
  }
  return table;
}

}  // namespace

Chart forecast_chart(const RunForecast& forecast, const ForecastCurve& curve, const std::string& name) {
  Chart chart{.title = title_of(forecast, curve, name, "forecast"),
              .x_label = "row of the recording",
              .y_label = curve.target.column + ", units of the file",
              .curves = {}};
  std::string label = "forecast";
  if (!forecast.levels.empty())
    label += fmt::format(", band from {:g} % to {:g} %", 100 * forecast.levels.front(), 100 * forecast.levels.back());
  chart.curves.push_back({.label = "truth", .x = curve.row, .y = curve.truth});
  chart.curves.push_back({.label = label, .x = curve.row, .y = curve.forecast, .low = curve.low, .high = curve.high});
  if (!curve.naive.empty())
    chart.curves.push_back({.label = "naive forecast", .x = curve.row, .y = curve.naive, .dashed = true});
  return chart;
}

Chart residual_chart(const RunForecast& forecast, const ForecastCurve& curve, const std::string& name) {
  Chart chart{.title = title_of(forecast, curve, name, "residuals"),
              .x_label = "row of the recording",
              .y_label = fmt::format("forecast - truth, {}, units of the file", curve.target.column),
              .curves = {}};
  Curve residuals{.label = "forecast - truth", .x = curve.row, .y = {}};
  for (std::size_t i = 0; i < curve.row.size(); ++i) residuals.y.push_back(curve.forecast[i] - curve.truth[i]);
  chart.curves.push_back(std::move(residuals));
  chart.references.push_back({"no error", 0});
  return chart;
}

std::vector<Chart> forecast_charts(const RunForecast& forecast, const std::string& name) {
  std::vector<Chart> charts;
  for (const ForecastCurve& curve : forecast.targets) {
    charts.push_back(forecast_chart(forecast, curve, name));
    charts.push_back(residual_chart(forecast, curve, name));
  }
  return charts;
}

std::string stacked_svg(const std::vector<Chart>& charts) {
  constexpr int width = 720, height = 420;
  std::string parts;
  for (std::size_t i = 0; i < charts.size(); ++i) {
    std::string part = svg_of(charts[i], width, height);
    part.insert(part.find("<svg") + 4, fmt::format(" y=\"{}\"", height * static_cast<int>(i)));
    parts += part;
  }
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\">\n{2}</svg>\n",
      width, height * static_cast<int>(charts.size()), parts);
}

std::filesystem::path picture_path(const std::filesystem::path& path, std::size_t target, bool residuals) {
  const std::string number = target == 0 ? "" : fmt::format("-{}", target + 1);
  return path.parent_path() /
         (path.stem().string() + number + (residuals ? "-residuals" : "") + path.extension().string());
}

std::vector<GroupForecast> report_forecasts(const std::vector<RunGroup>& groups, std::int64_t rows,
                                            std::vector<std::string>& troubles) {
  std::vector<GroupForecast> forecasts;
  for (const RunGroup& group : groups) {
    const RunRecord& run = group.runs.front();
    if (run.option("task.name") != "series" || !run.finished || RunDirectory(run.directory).is_stream()) continue;
    try {
      const bool best = run.result.text("best.iteration") != "";
      const std::unique_ptr<Trainer> trainer = open_run(run.directory, best);
      GroupForecast one{.group = group.name, .charts = {}};
      const Split split = trainer->task().judged_split();
      const RunForecast forecast = forecast_of(*trainer, split, rows);
      one.charts = forecast_charts(forecast, group.name);
      for (Chart& chart : one.charts)
        chart.caption = fmt::format("Seed {}, the weights that were {}, the last {} rows", run.seed,
                                    best ? "best on validation" : "last", chart.curves.front().x.size());
      one.targets = targets_table(*trainer, split, group.name);
      forecasts.push_back(std::move(one));
    } catch (const std::exception& error) {
      troubles.push_back(fmt::format("no forecast of {} is drawn: {}", run.directory.string(), error.what()));
    }
  }
  return forecasts;
}

}  // namespace throughtime

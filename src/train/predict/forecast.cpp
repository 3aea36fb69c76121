#include "train/predict/forecast.h"

#include <algorithm>
#include <limits>
#include <span>

#include "tasks/series/forecast_band.h"
#include "throughtime/error.h"
#include "throughtime/index.h"

namespace throughtime {
namespace {

/// One step of a split: [targets, 1 + levels] numbers, the point and the quantiles, in levels.
struct Said {
  std::int64_t step = 0;
  std::vector<double> numbers;
};

std::vector<Said> all_said(Trainer& trainer, Split split, const ForecastBand& band) {
  const ForecastView& view = *trainer.task().forecast();
  std::vector<Said> said;
  const std::size_t each = band.numbers();
  trainer.evaluator().listen([&](std::int64_t step, const double* predictions) {
    Said one{step, std::vector<double>(view.targets().size() * each)};
    for (std::size_t i = 0; i < view.targets().size(); ++i)
      write_levels(view, band, split, step, i, predictions, std::span(one.numbers).subspan(i * each, each));
    said.push_back(std::move(one));
  });
  trainer.evaluate(split);
  trainer.evaluator().listen({});
  std::ranges::sort(said, {}, &Said::step);  // an evaluation may read several rows side by side
  return said;
}

}  // namespace

RunForecast forecast_of(Trainer& trainer, Split split, std::int64_t rows) {
  const ForecastView* view = trainer.task().forecast();
  if (view == nullptr)
    refuse("forecast", "the task {} predicts no numbers of a recording; a forecast is of task.name = \"series\"",
           trainer.plan().task);
  if (!trainer.task().has(split)) refuse("forecast", "the recording has no {} split", split_name(split));
  const ForecastBand band(trainer.engine().model());
  const std::vector<Said> said = all_said(trainer, split, band);
  const std::size_t first = rows > 0 ? said.size() - std::min(said.size(), elements(rows)) : 0;
  const std::size_t each = band.numbers();
  RunForecast result{.split = split_name(split), .targets = {}, .levels = {}};
  if (band.any()) result.levels = band.levels();
  for (std::size_t i = 0; i < view->targets().size(); ++i) {
    ForecastCurve curve{
        .target = view->targets()[i], .row = {}, .truth = {}, .forecast = {}, .naive = {}, .low = {}, .high = {}};
    for (std::size_t k = first; k < said.size(); ++k) {
      const std::int64_t step = said[k].step;
      curve.row.push_back(static_cast<double>(view->row(split, step) + curve.target.horizon));
      curve.truth.push_back(view->level(split, step, i));
      if (curve.target.horizon > 0)
        curve.naive.push_back(step < curve.target.horizon ? std::numeric_limits<double>::quiet_NaN()
                                                          : view->level(split, step - curve.target.horizon, i));
      curve.forecast.push_back(said[k].numbers[i * each]);
      if (!band.any()) continue;
      curve.low.push_back(said[k].numbers[i * each + 1]);
      curve.high.push_back(said[k].numbers[i * each + each - 1]);
    }
    result.targets.push_back(std::move(curve));
  }
  return result;
}

}  // namespace throughtime
